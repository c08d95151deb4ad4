"""Query parameters that writes share: dryRun, fieldValidation, fieldManager, force, and the options of a delete."""

import json
from typing import Any

from sandbox.kubernetes.cluster import Call
from sandbox.kubernetes.loading import load_typed
from sandbox.kubernetes.shapes import DELETE_OPTIONS
from sandbox.kubernetes.statuses import (
    Cause,
    bad_request,
    bad_value,
    forbidden_field,
    invalid_options,
    required,
    unsupported,
)

Obj = dict[str, Any]

VALIDATIONS = ("", "Ignore", "Strict", "Warn")
POLICIES = ("Foreground", "Background", "Orphan")


def check_write(call: Call, kind: str) -> None:
    """Refuse bad options of a create, update or patch; `kind` is CreateOptions … Raises ApiError 422."""
    causes = _dry_run(call.query.get("dryRun", ""))
    validation = call.query.get("fieldValidation", "")
    if validation not in VALIDATIONS:
        causes.append(unsupported("fieldValidation", json.dumps(validation), VALIDATIONS))
    if kind == "PatchOptions":
        causes += _apply_options(call)
    if causes:
        raise invalid_options(kind, causes)


def _apply_options(call: Call) -> list[Cause]:
    if call.content_type == "application/apply-patch+yaml":
        missing = not call.query.get("fieldManager")
        return [required("fieldManager", "is required for apply patch")] if missing else []
    if "force" in call.query:
        return [forbidden_field("force", "may not be specified for non-apply patch")]
    return []


def _dry_run(value: Any) -> list[Cause]:
    values = value if isinstance(value, list) else [value] if value else []
    if all(word == "All" for word in values):
        return []
    return [unsupported("dryRun", json.dumps(values), ("All",))]


def delete_options(call: Call) -> Obj:
    """Options of a delete, from the body or the query. Raises ApiError 400 or 422."""
    options: Obj = {}
    if call.body.strip():
        options = load_typed(call.body, call.content_type, "DeleteOptions", DELETE_OPTIONS)
    for name in ("propagationPolicy", "dryRun"):
        if call.query.get(name):
            options[name] = call.query[name]
    if "gracePeriodSeconds" in call.query:
        options["gracePeriodSeconds"] = integer(call.query["gracePeriodSeconds"])
    if "orphanDependents" in call.query:
        options["orphanDependents"] = call.query["orphanDependents"] == "true"
    check_delete(options)
    return options


def check_delete(options: Obj) -> None:
    """Refuse contradictory delete options. Raises ApiError 422."""
    causes = _dry_run(options.get("dryRun"))
    policy = options.get("propagationPolicy")
    if policy is not None and policy not in POLICIES:
        causes.append(unsupported("propagationPolicy", json.dumps(policy), (*POLICIES, "nil")))
    elif policy is not None and options.get("orphanDependents") is not None:
        text = "orphanDependents and deletionPropagation cannot be both set"
        causes.append(bad_value("propagationPolicy", json.dumps(policy), text))
    if causes:
        raise invalid_options("DeleteOptions", causes)


def integer(text: str) -> int:
    """A whole number of a query parameter. Raises ApiError 400 in Go's words."""
    try:
        return int(text)
    except ValueError as error:
        raise bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax') from error
