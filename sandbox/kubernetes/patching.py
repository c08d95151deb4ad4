"""PATCH: merge, JSON, strategic merge and server-side apply, on objects and their status."""

import json
from typing import Any

from sandbox.kubernetes import bodies, writing
from sandbox.kubernetes.cluster import Call, Reply
from sandbox.kubernetes.decoding import Decoded, TypeFaultError, decode
from sandbox.kubernetes.loading import load_yaml
from sandbox.kubernetes.options import check_write
from sandbox.kubernetes.ownership import merge_applied
from sandbox.kubernetes.patches import json_patch, merge_patch
from sandbox.kubernetes.statuses import (
    bad_request,
    bad_value,
    internal,
    invalid,
    not_found,
    unsupported_media,
)
from sandbox.kubernetes.strategic import strategic_patch
from sandbox.kubernetes.views import present

Obj = dict[str, Any]

JSON_PATCH = "application/json-patch+json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
META_ORDER = (
    "name",
    "generateName",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "labels",
)


def patch(call: Call) -> Reply:
    """PATCH of an object or of its status."""
    _check_type(call)
    check_write(call, "PatchOptions")
    if call.content_type == APPLY:
        return _apply(call)
    record = call.cluster.store.get(call.kind.key, call.place)
    if record is None:
        raise not_found(call.kind.plural, call.kind.group, call.name)
    old = record.copy()
    patched, decoded = _patched(call, record.copy())
    if patched["metadata"].get("name") != call.name:
        name = patched["metadata"].get("name", "")
        raise bad_request(f"the name of the object ({name}) does not match the name on the URL ({call.name})")
    _report(call, decoded, patched)
    return writing.save(call, old, decoded.obj)


def _check_type(call: Call) -> None:
    known = (JSON_PATCH, MERGE, STRATEGIC, APPLY)
    if call.content_type not in known:
        raise unsupported_media()
    if call.kind.custom and call.content_type == STRATEGIC:
        listed = f"{JSON_PATCH}, {MERGE}, {APPLY}"
        raise unsupported_media(
            f"the body of the request was in an unknown format - accepted media types include: {listed}", bare=True
        )


def _patched(call: Call, target: Obj) -> tuple[Obj, Decoded]:
    """The object after the patch, raw and fitted to its shape."""
    body = _body(call)
    target = present(target, call.kind)
    if call.content_type == JSON_PATCH:
        patched = json_patch(target, body)
    elif call.content_type == MERGE:
        patched = merge_patch(target, body)
    else:
        patched = strategic_patch(target, body, call.kind.shape)
    if not isinstance(patched, dict) or not isinstance(patched.get("metadata"), dict):
        raise bad_request("the patched object is none")
    version = patched["metadata"].get("resourceVersion")
    if version is not None and not isinstance(version, str):
        raise bad_request("metadata.resourceVersion has to be a string")
    return patched, bodies.fit(json.loads(json.dumps(patched)), call.kind)


def _body(call: Call) -> Any:
    try:
        return json.loads(call.body)
    except (ValueError, RecursionError) as error:
        raise bad_request(f"error decoding patch: {error}") from error


def _report(call: Call, decoded: Decoded, patched: Obj) -> None:
    faults = decoded.strict_faults()
    validation = call.query.get("fieldValidation") or "Warn"
    if faults and validation == "Strict":
        shown = json.dumps(json.dumps(_ordered(patched), separators=(",", ":"), ensure_ascii=False), ensure_ascii=False)
        cause = bad_value("patch", shown, f"strict decoding error: {', '.join(faults)}")
        raise invalid("", "", "", [cause])
    if validation == "Warn":
        call.warnings += faults


def _ordered(obj: Obj) -> Obj:
    """The object as Go prints it."""
    meta = obj["metadata"]
    first = [name for name in META_ORDER if name in meta]
    ordered = {name: meta[name] for name in (*first, *(n for n in meta if n not in first))}
    return {key: ordered if key == "metadata" else obj[key] for key in sorted(obj)}


def _apply(call: Call) -> Reply:
    resource, store = call.kind, call.cluster.store
    applied = load_yaml(call.body)
    _check_applied(call, applied)
    record = store.get(resource.key, call.place)
    live = record.copy() if record else None
    fitted = _typed(call, applied)
    if resource.namespaced:
        fitted["metadata"].setdefault("namespace", call.namespace)
    force = call.query.get("force") in ("true", "1")
    writer = writing.writer_of(call)
    if live is None:
        if call.subresource:
            raise not_found(resource.plural, resource.group, call.name)
        merged = merge_applied(None, fitted, resource.shape, writer, force=force)
        managed = merged["metadata"].pop("managedFields", [])
        return writing.store_new(call, bodies.fit(merged, resource).obj, managed)
    old = json.loads(json.dumps(live))
    fitted["metadata"].pop("resourceVersion", None)
    merged = merge_applied(live, fitted, resource.shape, writer, force=force)
    managed = merged["metadata"].pop("managedFields", [])
    asked = applied["metadata"].get("resourceVersion")
    if asked:
        merged["metadata"]["resourceVersion"] = asked
    return writing.save(call, old, bodies.fit(merged, resource).obj, managed)


def _check_applied(call: Call, applied: Any) -> None:
    if not isinstance(applied, dict):
        raise bad_request("error decoding YAML: the body is no object")
    version, kind = applied.get("apiVersion", ""), applied.get("kind", "")
    if (version, kind) != (call.kind.group_version, call.kind.kind):
        group, _, number = str(version).rpartition("/")
        if not kind:
            raise bad_request(f"invalid object type: {group}/{number}, Kind={kind}")
        raise bad_request(
            f"invalid object type: {group}/{number}, Kind={kind}, expected {call.kind.group_version}, Kind={call.kind.kind}"
        )
    meta = applied.setdefault("metadata", {})
    if not isinstance(meta, dict):
        raise bad_request("metadata has to be an object")
    name = meta.setdefault("name", call.name)
    if name != call.name:
        raise bad_request(f"the name of the object ({name}) does not match the name on the URL ({call.name})")
    if meta.get("namespace", call.namespace) != call.namespace and call.kind.namespaced:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    if meta.get("managedFields"):
        raise bad_request("metadata.managedFields must be nil")


def _typed(call: Call, applied: Obj) -> Obj:
    """The applied configuration, fitted to the schema but without defaults. Raises ApiError 500."""
    resource = call.kind
    prefix = (
        f"failed to create typed patch object ({applied['metadata'].get('namespace', '')}/{call.name}; "
        f"{resource.group}/{resource.version}, Kind={resource.kind})"
    )
    try:
        decoded = decode(applied, resource.shape, custom=resource.custom, keep=True)
    except TypeFaultError as error:
        raise internal(f"{prefix}: {error}") from error
    if decoded.unknown and not resource.custom:
        raise internal(f"{prefix}: .{decoded.unknown[0]}: field not declared in schema")
    if decoded.unknown:
        _report(call, decoded, applied)
    return decoded.obj
