"""What makes a custom resource definition invalid."""

import json
from collections.abc import Iterator
from typing import Any

from sandbox.kubernetes.statuses import Cause, bad_value, required, unsupported

Obj = dict[str, Any]


def faults(obj: Obj) -> Iterator[Cause]:
    """Causes of a 422 for a definition."""
    spec = obj["spec"]
    names, group, versions = spec.get("names") or {}, spec.get("group", ""), spec.get("versions") or ()
    if obj["metadata"].get("name") != f"{names.get('plural')}.{group}":
        shown = _quoted(obj["metadata"].get("name"))
        yield bad_value("metadata.name", shown, 'must be spec.names.plural+"."+spec.group')
    if not group:
        yield required("spec.group")
    elif "." not in group:
        yield bad_value("spec.group", _quoted(group), "should be a domain with at least one dot")
    if spec.get("scope") not in ("Cluster", "Namespaced"):
        yield unsupported("spec.scope", _quoted(spec.get("scope", "")), ("Cluster", "Namespaced"))
    for name in ("plural", "kind"):
        if not names.get(name):
            yield required(f"spec.names.{name}")
    if sum(bool(version.get("storage")) for version in versions) != 1:
        shown = _quoted([version.get("name", "") for version in versions])
        yield bad_value("spec.versions", shown, "must have exactly one version marked as storage version")
    for number, version in enumerate(versions):
        yield from _version(version, f"spec.versions[{number}]")


def _version(version: Obj, at: str) -> Iterator[Cause]:
    if not version.get("name"):
        yield required(f"{at}.name")
    schema = (version.get("schema") or {}).get("openAPIV3Schema")
    if not schema:
        yield required(f"{at}.schema.openAPIV3Schema")
    elif schema.get("type") != "object":
        text = "must be object at the root"
        yield bad_value(f"{at}.schema.openAPIV3Schema.type", _quoted(schema.get("type", "")), text)


def _quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
