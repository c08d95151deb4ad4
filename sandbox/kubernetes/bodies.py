"""From the body of a create or update to an object of the resource: decoded, checked for kind, with its defaults."""

from typing import Any

from sandbox.kubernetes import crds, events
from sandbox.kubernetes.cluster import Call
from sandbox.kubernetes.decoding import Decoded, TypeFaultError, check_base64, decode
from sandbox.kubernetes.defaults import apply_defaults
from sandbox.kubernetes.loading import load
from sandbox.kubernetes.resources import Resource
from sandbox.kubernetes.statuses import bad_request, unsupported_media

Obj = dict[str, Any]

BODY_TYPES = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
SCHEME = 'in scheme "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"'


def read(call: Call) -> Obj:
    """The object in the body of a create or update. Raises ApiError 400 or 415."""
    resource = call.kind
    if call.content_type not in BODY_TYPES[:2]:
        raise unsupported_media(
            f"the body of the request was in an unknown format - accepted media types include: {', '.join(BODY_TYPES)}",
            bare=True,
        )
    value, doubled = load(call.body, call.content_type, resource.kind)
    if not isinstance(value, dict):
        raise bad_request(f"the object provided is unrecognized (must be of type {resource.kind})")
    _check_kind(value, resource)
    decoded = fit(value, resource)
    decoded.duplicates = doubled
    report(call, decoded)
    return decoded.obj


def _check_kind(value: Obj, resource: Resource) -> None:
    kind, version = value.get("kind") or resource.kind, value.get("apiVersion") or resource.group_version
    if version != resource.group_version:
        if resource.custom:
            raise bad_request(
                f"the API version in the data ({version}) does not match the expected API version ({resource.group_version})"
            )
        raise _unhandled(resource, f'no kind "{kind}" is registered for version "{version}" {SCHEME}', kind)
    if kind != resource.kind:
        package = resource.group or "core"
        text = f"converting ({resource.version}.{kind}) to ({package}.{resource.kind}): unknown conversion"
        raise _unhandled(resource, text, kind)


def _unhandled(resource: Resource, why: str, kind: str = "") -> Exception:
    version = resource.version
    return bad_request(f'{kind or resource.kind} in version "{version}" cannot be handled as a {resource.kind}: {why}')


def fit(value: Obj, resource: Resource) -> Decoded:
    """Fit a JSON object to the resource's shape and fill in defaults. Raises ApiError 400."""
    try:
        decoded = decode(value, resource.shape, custom=resource.custom)
        if resource.kind == "Secret" and resource.group == "":
            check_base64(decoded.obj.get("data") or {})
    except TypeFaultError as error:
        raise _unhandled(resource, str(error)) from error
    obj = decoded.obj
    obj["kind"], obj["apiVersion"] = resource.kind, resource.group_version
    if not isinstance(obj.get("metadata"), dict):
        obj["metadata"] = {}
    obj["metadata"].pop("managedFields", None)
    decoded.obj = complete(obj, resource)
    return decoded


def complete(obj: Obj, resource: Resource) -> Obj:
    """The object with its defaults, as it is stored."""
    if resource.custom:
        crds.fill_defaults(obj, resource.shape.schema or {})
        return obj
    if resource.group == "events.k8s.io":
        obj = events.to_core(obj)
    apply_defaults("" if obj["kind"] == "Event" else resource.group, resource.kind, obj)
    return obj


def report(call: Call, decoded: Decoded) -> None:
    """Refuse or warn about unknown and doubled fields, as fieldValidation asks. Raises ApiError 400."""
    faults = decoded.strict_faults()
    validation = call.query.get("fieldValidation") or "Warn"
    if faults and validation == "Strict":
        raise _unhandled(call.kind, f"strict decoding error: {', '.join(faults)}")
    if validation == "Warn":
        call.warnings += faults
