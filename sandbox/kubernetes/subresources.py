"""Subresources that are more than a part of their object: binding, scale, log, finalize, token."""

import secrets
from typing import Any

from sandbox.kubernetes import writing
from sandbox.kubernetes.cluster import Call, Reply, now
from sandbox.kubernetes.eviction import SUCCESS
from sandbox.kubernetes.loading import load, load_typed
from sandbox.kubernetes.patches import json_patch, merge_patch
from sandbox.kubernetes.selectors import selector_text
from sandbox.kubernetes.shapes import ANY, Shape, builtin_shape
from sandbox.kubernetes.statuses import bad_request, conflict, method_not_allowed, not_found, unsupported_media
from sandbox.kubernetes.store import Record

Obj = dict[str, Any]

TOKEN_LIFE = 3600.0
BINDING, SCALE = builtin_shape("v1/Binding"), builtin_shape("autoscaling/v1/Scale")
TOKEN_SPEC = Shape(
    "struct", fields={"expirationSeconds": Shape("scalar", "integer"), "audiences": ANY, "boundObjectRef": ANY}
)
TOKEN_REQUEST = Shape("struct", fields={"spec": TOKEN_SPEC}, open=True)


def _record(call: Call) -> Record:
    record = call.cluster.store.get(call.kind.key, call.place)
    if record is None:
        raise not_found(call.kind.plural, call.kind.group, call.name)
    return record


def bind(call: Call) -> Reply:
    """POST pods/NAME/binding: the scheduler's decision. Raises ApiError 404 or 409."""
    target = load_typed(call.body, call.content_type, "Binding", BINDING).get("target") or {}
    pod = _record(call).copy()
    if pod["metadata"].get("deletionTimestamp"):
        raise conflict("pods/binding", "", call.name, f"pod {call.name} is being deleted, cannot be assigned to a host")
    if pod["spec"].get("nodeName"):
        text = f'pod binding is already assigned to node "{pod["spec"]["nodeName"]}"'
        raise conflict("pods/binding", "", call.name, text)
    if pod["spec"].get("schedulingGates"):
        text = f"pod {call.name} has non-empty .spec.schedulingGates"
        raise conflict("pods/binding", "", call.name, text)
    pod["spec"]["nodeName"] = target.get("name", "")
    conditions = pod["status"].setdefault("conditions", [])
    conditions[:] = [c for c in conditions if c.get("type") != "PodScheduled"]
    conditions.append({"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": now()})
    call.effect = {"node": target.get("name", "")}
    if not call.dry_run:
        call.cluster.store.put(call.kind.key, call.place, pod)
    return Reply(dict(SUCCESS), 201)


def log(call: Call) -> Reply:
    """GET pods/NAME/log: nobody keeps output here."""
    pod = _record(call).obj
    if not pod["spec"].get("nodeName"):
        return Reply(status=204, raw=b"", content_type="")
    return Reply(raw=b"", content_type="text/plain")


def scale(call: Call) -> Reply:
    """GET, PUT or PATCH of NAME/scale: replicas alone."""
    record = _record(call)
    if call.method == "GET":
        return Reply(_scale(record.obj))
    shown = _scale(record.obj)
    wanted = load_typed(call.body, call.content_type, "Scale", SCALE) if call.method == "PUT" else _patched(call, shown)
    replicas = (wanted.get("spec") or {}).get("replicas", 0)
    if not isinstance(replicas, int) or isinstance(replicas, bool) or replicas < 0:
        raise bad_request("spec.replicas has to be a whole number that is not negative")
    new = record.copy()
    new["spec"]["replicas"] = replicas
    version = (wanted.get("metadata") or {}).get("resourceVersion")
    if version:
        new["metadata"]["resourceVersion"] = version
    saved = writing.save(call, record.copy(), new)
    assert saved.obj is not None
    return Reply(_scale(saved.obj))


def _patched(call: Call, shown: Obj) -> Obj:
    body, _ = load(call.body, "application/json", "Scale")
    match call.content_type:
        case "application/json-patch+json":
            patched = json_patch(shown, body)
        case "application/merge-patch+json" | "application/strategic-merge-patch+json":
            patched = merge_patch(shown, body)
        case _:
            raise unsupported_media()
    if not isinstance(patched, dict) or not isinstance(patched.get("spec") or {}, dict):
        raise bad_request("the patched object is none")
    return patched


def _scale(obj: Obj) -> Obj:
    meta, replicas = obj["metadata"], obj["spec"].get("replicas", 0)
    kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    status: Obj = {"replicas": (obj.get("status") or {}).get("replicas", 0)}
    if obj["spec"].get("selector"):
        status["selector"] = selector_text(obj["spec"]["selector"])
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {key: meta[key] for key in kept if key in meta},
        "spec": {"replicas": replicas} if replicas else {},
        "status": status,
    }


def service_account_token(call: Call) -> Reply:
    """POST serviceaccounts/NAME/token: a token for the account, an hour long unless asked otherwise."""
    _record(call)
    asked = load_typed(call.body, call.content_type, "TokenRequest", TOKEN_REQUEST).get("spec") or {}
    life = float(asked.get("expirationSeconds") or TOKEN_LIFE)
    user = f"system:serviceaccount:{call.namespace}:{call.name}"
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{call.namespace}")
    token = call.cluster.tokens.issue(user, groups, life, secrets.token_urlsafe(32))
    return Reply(
        {
            "kind": "TokenRequest",
            "apiVersion": "authentication.k8s.io/v1",
            "metadata": {"name": call.name, "namespace": call.namespace, "creationTimestamp": now()},
            "spec": {**asked, "expirationSeconds": int(life)},
            "status": {"token": token, "expirationTimestamp": now()},
        },
        201,
    )


def finalize(call: Call) -> Reply:
    """PUT namespaces/NAME/finalize: the namespace controller's last word."""
    if call.method != "PUT":
        raise method_not_allowed()
    return writing.replace(call)
