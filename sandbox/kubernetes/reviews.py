"""Questions about identity and rights that are posted as objects and stored nowhere."""

from typing import Any

from sandbox.kubernetes import bodies, rbac
from sandbox.kubernetes.cluster import Call, Reply, now
from sandbox.kubernetes.ownership import Writer, after_update
from sandbox.tokens import Identity

Obj = dict[str, Any]

REVIEWS = frozenset(
    {
        "selfsubjectaccessreviews", "subjectaccessreviews", "localsubjectaccessreviews", "selfsubjectrulesreviews",
        "selfsubjectreviews", "tokenreviews",
    }
)  # fmt: skip


def answer(call: Call) -> Reply:
    """POST of a review: the review with its status."""
    obj = bodies.read(call)
    spec = obj.setdefault("spec", {})
    writer = Writer(call.manager, call.kind.group_version, "", now())
    managed = after_update(None, {key: value for key, value in obj.items() if key != "status"}, call.kind.shape, writer)
    match call.kind.plural:
        case "selfsubjectaccessreviews":
            obj["status"] = {"allowed": _may(call, call.identity, spec)}
        case "subjectaccessreviews" | "localsubjectaccessreviews":
            asked = Identity(spec.get("user", ""), tuple(spec.get("groups") or ()))
            obj["status"] = {"allowed": _may(call, asked, spec)}
        case "selfsubjectrulesreviews":
            obj["status"], obj["spec"], managed = _rules(call, spec.get("namespace", "")), {}, []
        case "selfsubjectreviews":
            del obj["spec"]
            obj["status"] = {"userInfo": _info(call.identity)}
        case "tokenreviews":
            obj["status"] = _token(call, spec.get("token", ""))
    if managed:
        obj["metadata"]["managedFields"] = managed
    return Reply(obj, 201)


def _may(call: Call, identity: Identity, spec: Obj) -> bool:
    path = spec.get("nonResourceAttributes")
    if path:
        wish = rbac.Wish(path.get("verb", ""), path=path.get("path", ""))
    else:
        asked = spec.get("resourceAttributes") or {}
        wish = rbac.Wish(
            asked.get("verb", ""),
            asked.get("group", ""),
            asked.get("resource", ""),
            asked.get("subresource", ""),
            asked.get("namespace", ""),
            asked.get("name", ""),
        )
    return rbac.allowed(call.cluster, identity, wish)


def _rules(call: Call, namespace: str) -> Obj:
    found = list(rbac.rules(call.cluster, call.identity, namespace))
    return {
        "resourceRules": [rule for rule in found if "resources" in rule],
        "nonResourceRules": [rule for rule in found if "nonResourceURLs" in rule],
        "incomplete": False,
    }


def _info(identity: Identity) -> Obj:
    return {"username": identity.user, "groups": list(identity.groups)}


def _token(call: Call, token: str) -> Obj:
    found = call.cluster.tokens.who(token)
    if found is None:
        return {"user": {}, "error": "[invalid bearer token, token lookup failed]"}
    return {"authenticated": True, "user": _info(found)}
