"""Custom resource definitions: which resources they add, what their schemas allow, default and refuse."""

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

from jsonschema import Draft4Validator, ValidationError

from sandbox.kubernetes.resources import Resource
from sandbox.kubernetes.shapes import custom_shape
from sandbox.kubernetes.statuses import Cause, bad_value, required, unsupported

Obj = dict[str, Any]

VERBS = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"]
STATUS_VERBS = ["get", "patch", "update"]
CLEANUP = "customresourcecleanup.apiextensions.k8s.io"


def resources(definition: Obj) -> Iterator[Resource]:
    """The resources a definition serves, one per version."""
    spec = definition["spec"]
    names, group = spec["names"], spec["group"]
    for version in spec.get("versions") or ():
        if not version.get("served"):
            continue
        subresources = version.get("subresources") or {}
        schema = (version.get("schema") or {}).get("openAPIV3Schema") or {}
        yield Resource(
            group=group,
            version=version["name"],
            plural=names["plural"],
            kind=names["kind"],
            list_kind=names.get("listKind") or names["kind"] + "List",
            namespaced=spec.get("scope") == "Namespaced",
            key=(group, names["plural"]),
            rows=tuple(_rows(names, subresources, group, namespaced=spec.get("scope") == "Namespaced")),
            shape=custom_shape(schema),
            custom=True,
            columns=tuple(version.get("additionalPrinterColumns") or ()),
            selectable=tuple(row["jsonPath"].lstrip(".") for row in version.get("selectableFields") or ()),
            subresources=frozenset(subresources),
        )


def _rows(names: Obj, subresources: Obj, group: str, *, namespaced: bool) -> Iterator[Obj]:
    marked = hashlib.sha256(f"{group}/{names['kind']}".encode()).digest()[:8]
    row = {
        "name": names["plural"],
        "singularName": names.get("singular") or names["kind"].lower(),
        "namespaced": namespaced,
        "kind": names["kind"],
        "verbs": VERBS,
        "storageVersionHash": base64.b64encode(marked).decode(),
    }
    if names.get("shortNames"):
        row["shortNames"] = names["shortNames"]
    if names.get("categories"):
        row["categories"] = names["categories"]
    yield row
    common = {"singularName": "", "namespaced": namespaced, "verbs": STATUS_VERBS}
    if "status" in subresources:
        yield {"name": f"{names['plural']}/status", "kind": names["kind"], **common}
    if "scale" in subresources:
        name = f"{names['plural']}/scale"
        yield {"name": name, "group": "autoscaling", "version": "v1", "kind": "Scale", **common}


def storage_version(definition: Obj) -> str:
    """The version in which objects are stored."""
    versions = definition["spec"].get("versions") or ()
    return str(next((v.get("name", "") for v in versions if v.get("storage")), ""))


def established(definition: Obj, now: str) -> Obj:
    """The status of a definition that is served."""
    names = definition["spec"]["names"]
    kept = ("plural", "singular", "shortNames", "kind", "listKind", "categories")
    return {
        "acceptedNames": {name: names[name] for name in kept if name in names},
        "conditions": [
            _condition("NamesAccepted", "NoConflicts", "no conflicts found", now),
            _condition("Established", "InitialNamesAccepted", "the initial names have been accepted", now),
        ],
        "storedVersions": [storage_version(definition)],
    }


def young(definition: Obj) -> Obj:
    """The status of a definition nobody has looked at yet."""
    names = {"kind": "", "plural": ""}
    return {"acceptedNames": names, "conditions": None, "storedVersions": [storage_version(definition)]}


def terminating(now: str) -> Obj:
    text = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"
    return _condition("Terminating", "InstanceDeletionPending", text, now)


def _condition(kind: str, reason: str, message: str, now: str) -> Obj:
    return {"type": kind, "status": "True", "reason": reason, "message": message, "lastTransitionTime": now}


# ------------------------------------------------------------------ schemas


def fill_defaults(value: Any, schema: Obj) -> None:
    """Set the schema's defaults inside `value`, in place."""
    if isinstance(value, dict):
        for name, part in (schema.get("properties") or {}).items():
            if name not in value and "default" in part:
                value[name] = json.loads(json.dumps(part["default"]))
            if name in value:
                fill_defaults(value[name], part)
        more = schema.get("additionalProperties")
        if isinstance(more, dict):
            for part in value.values():
                fill_defaults(part, more)
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        for item in value:
            fill_defaults(item, schema["items"])


_validators: dict[int, tuple[Obj, Draft4Validator]] = {}


def faults(obj: Obj, schema: Obj) -> list[Cause]:
    """Causes of a 422, sorted by field, for an object that does not fit its schema."""
    cached = _validators.get(id(schema))
    if cached is None or cached[0] is not schema:
        cached = _validators[id(schema)] = (schema, Draft4Validator(_plain(schema)))
    causes = [cause for error in cached[1].iter_errors(obj) for cause in _causes(error)]
    return sorted(causes, key=lambda cause: (cause.field, cause.message))


def _plain(schema: Any) -> Any:
    """The schema in JSON Schema's words: Kubernetes' own extensions spelled out or left out."""
    if isinstance(schema, list):
        return [_plain(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if not key.startswith("x-kubernetes-")}
    kept.pop("format", None)
    if isinstance(kept.get("pattern"), str) and not _compiles(kept["pattern"]):
        del kept["pattern"]  # Go's expressions and Python's differ in rare corners
    kept = {k: (v if k in ("enum", "default", "required", "example") else _plain(v)) for k, v in kept.items()}
    if schema.get("x-kubernetes-int-or-string"):
        kept.pop("type", None)
        kept = {**kept, "type": ["integer", "string"]}
    if schema.get("nullable") and isinstance(kept.get("type"), str):
        kept["type"] = [kept["type"], "null"]
    if isinstance(kept.get("properties"), dict):
        kept["properties"] = {name: part for name, part in kept["properties"].items() if isinstance(part, dict)}
    return kept


def _compiles(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True


def _field(error: ValidationError) -> str:
    text = ""
    for part in error.absolute_path:
        text += f"[{part}]" if isinstance(part, int) else (f".{part}" if text else str(part))
    return text


GO_TYPES = {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer", float: "number"}


def _causes(error: ValidationError) -> Iterator[Cause]:
    at, value, wanted = _field(error), error.instance, error.validator_value
    shown = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    match error.validator:
        case "required":
            for name in wanted:
                if name not in value:
                    yield required(f"{at}.{name}" if at else name)
        case "enum":
            yield unsupported(at, shown, [str(word) for word in wanted])
        case "type":
            found = GO_TYPES.get(type(value), "null")
            text = f"Invalid value: {json.dumps(found)}: {at} in body must be of type {wanted}: {json.dumps(found)}"
            yield Cause(at, "FieldValueTypeInvalid", text)
        case "minimum":
            yield bad_value(at, shown, f"{at} in body should be greater than or equal to {wanted}")
        case "maximum":
            yield bad_value(at, shown, f"{at} in body should be less than or equal to {wanted}")
        case "pattern":
            yield bad_value(at, shown, f"{at} in body should match '{wanted}'")
        case "maxLength":
            yield Cause(at, "FieldValueTooLong", f"Too long: may not be more than {wanted} bytes")
        case _:
            yield bad_value(at, shown, f"{at} in body is not as its schema demands: {error.message}")
