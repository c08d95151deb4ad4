"""From a path to what is asked: resource, namespace, name, subresource and verb, as the real server reads them."""

from sandbox.kubernetes.cluster import Call

VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete", "GET": "get", "HEAD": "get"}
NAMESPACE_PARTS = frozenset({"status", "finalize"})


def understand(call: Call) -> None:
    """Fill in the call's fields from its path and query, in place. A path that is no resource leaves `plural` empty."""
    call.verb = call.method.lower()
    parts = [part for part in call.path.split("/") if part]
    if len(parts) >= 3 and parts[0] == "api":
        call.version, parts = parts[1], parts[2:]
    elif len(parts) >= 4 and parts[0] == "apis":
        call.group, call.version, parts = parts[1], parts[2], parts[3:]
    else:
        return
    if parts[0] == "watch" and len(parts) > 1:
        call.prefixed, parts = True, parts[1:]
    _place(call, parts)
    call.resource = call.cluster.registry.find(call.group, call.version, call.plural)
    call.verb = _verb(call)


def _place(call: Call, parts: list[str]) -> None:
    if parts[0] == "namespaces" and len(parts) >= 3 and not (len(parts) == 3 and parts[2] in NAMESPACE_PARTS):
        call.namespace, parts = parts[1], parts[2:]
    call.plural = parts[0]
    call.name = parts[1] if len(parts) > 1 else ""
    call.subresource = "/".join(parts[2:])
    if call.plural == "namespaces" and call.name and not call.group:
        call.namespace = call.name


def _verb(call: Call) -> str:
    verb = VERBS.get(call.method, call.method.lower())
    if verb == "get" and call.prefixed:
        return "watch"
    if verb == "get" and not call.name:
        return "watch" if call.query.get("watch") in ("true", "1") else "list"
    if verb == "delete" and not call.name:
        return "deletecollection"
    return verb
