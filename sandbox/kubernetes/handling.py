"""One understood call to its answer: which function does what is asked of a resource."""

from collections.abc import Callable

from sandbox.kubernetes import deletion, discovery, eviction, listing, openapi, patching, reviews, subresources, writing
from sandbox.kubernetes.cluster import Call, Reply
from sandbox.kubernetes.statuses import (
    PlainNotFoundError,
    method_not_allowed,
    not_found,
    unknown_resource,
)
from sandbox.kubernetes.views import full_bytes

HEALTH = ("/healthz", "/livez", "/readyz")

SPECIAL: dict[tuple[str, str], Callable[[Call], Reply]] = {
    ("pods", "eviction"): eviction.evict,
    ("pods", "binding"): subresources.bind,
    ("pods", "log"): subresources.log,
    ("namespaces", "finalize"): subresources.finalize,
    ("serviceaccounts", "token"): subresources.service_account_token,
}
WHOLE = frozenset({"", "status", "ephemeralcontainers", "resize"})


async def handle(call: Call, host: str) -> Reply:
    """The answer to a call whose caller may ask. Watches are none of its business. Raises ApiError."""
    if not call.plural:
        return _without_resource(call, host)
    resource = call.resource
    if resource is None or (call.subresource and call.subresource not in resource.subresources):
        raise _unknown(call)
    row = resource.row(call.subresource) or {}
    if call.verb not in row.get("verbs", ()):
        raise method_not_allowed()
    _check_scope(call)
    if resource.plural in reviews.REVIEWS:
        return reviews.answer(call)
    if call.subresource == "scale":
        return subresources.scale(call)
    special = SPECIAL.get((resource.plural, call.subresource))
    if special is not None and not resource.custom:
        return special(call)
    if call.subresource not in WHOLE:
        raise method_not_allowed()
    if call.namespace and not resource.namespaced:
        call.namespace = ""
    return await _plain(call)


def _check_scope(call: Call) -> None:
    """Namespaced objects live below a namespace, others do not. Raises ApiError 404 or 405."""
    if call.kind.namespaced and not call.namespace:
        if call.name:
            raise unknown_resource()
        if call.verb not in ("list", "watch"):
            raise method_not_allowed()
    if not call.kind.namespaced and call.namespace and call.plural != "namespaces":
        raise unknown_resource()


def _unknown(call: Call) -> Exception:
    if call.group in call.cluster.registry.builtin_groups:
        return unknown_resource()
    return PlainNotFoundError()


async def _plain(call: Call) -> Reply:
    match call.verb:
        case "list":
            return await listing.list_objects(call)
        case "get":
            return _get(call)
        case "create":
            if call.name:
                raise method_not_allowed()
            return writing.create(call)
        case "update":
            return writing.replace(call)
        case "patch":
            return patching.patch(call)
        case "delete":
            return deletion.delete(call)
        case "deletecollection":
            return deletion.delete_collection(call)
        case _:
            raise method_not_allowed()


def _get(call: Call) -> Reply:
    record = call.cluster.store.get(call.kind.key, call.place)
    if record is None:
        raise not_found(call.kind.plural, call.kind.group, call.name)
    return Reply(raw=full_bytes(record, call.kind))


def _without_resource(call: Call, host: str) -> Reply:
    path = call.path.rstrip("/") or "/"
    if path == "/version":
        return Reply(discovery.version(call.cluster))
    if path.startswith(HEALTH):
        return Reply(raw=b"ok", content_type="text/plain; charset=utf-8")
    if path.startswith("/openapi/"):
        return openapi.answer(call)
    if path == "/api" or path.startswith(("/api/", "/apis")):
        return discovery.answer(call, host)
    if path == "/":
        return Reply({"paths": ["/api", "/apis", "/healthz", "/livez", "/openapi/v3", "/readyz", "/version"]})
    raise PlainNotFoundError
