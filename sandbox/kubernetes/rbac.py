"""Who may do what: roles and bindings in the store, and the rights every stock server gives to everyone."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sandbox.kubernetes.cluster import Call, Cluster
from sandbox.kubernetes.statuses import ApiError, details_of, qualified
from sandbox.tokens import AUTHENTICATED, MASTERS, Identity

Obj = dict[str, Any]

GROUP = "rbac.authorization.k8s.io"
EVERYONE_URLS = ("/healthz", "/livez", "/readyz", "/version", "/version/")
DISCOVERY_URLS = (
    *("/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi", "/openapi/*", "/readyz"),
    *("/version", "/version/"),
)
BASIC_RULES: tuple[Obj, ...] = (
    {"verbs": ["create"], "apiGroups": ["authentication.k8s.io"], "resources": ["selfsubjectreviews"]},
    {
        "verbs": ["create"],
        "apiGroups": ["authorization.k8s.io"],
        "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
    },
)
DISCOVERY_RULES: tuple[Obj, ...] = (
    {"verbs": ["get"], "nonResourceURLs": list(DISCOVERY_URLS)},
    {"verbs": ["get"], "nonResourceURLs": list(EVERYONE_URLS)},
)


@dataclass(frozen=True, slots=True)
class Wish:
    """One action somebody wants to do; `path` for things that are no resource."""

    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""

    @property
    def full_resource(self) -> str:
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource


def allowed(cluster: Cluster, identity: Identity, wish: Wish) -> bool:
    """Whether some rule allows it."""
    if MASTERS in identity.groups:
        return True
    return any(_rule_allows(rule, wish) for rule in rules(cluster, identity, wish.namespace))


def rules(cluster: Cluster, identity: Identity, namespace: str) -> Iterator[Obj]:
    """All rules that hold for somebody, in one namespace ("": cluster-wide only)."""
    if MASTERS in identity.groups:
        yield {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
        yield {"verbs": ["*"], "nonResourceURLs": ["*"]}
    if AUTHENTICATED in identity.groups:
        yield from BASIC_RULES
        yield from DISCOVERY_RULES
    else:
        yield DISCOVERY_RULES[1]
    for _, binding in cluster.store.items((GROUP, "clusterrolebindings")):
        if _binds(binding.obj, identity, ""):
            yield from _role_rules(cluster, binding.obj["roleRef"], "")
    if namespace:
        for _, binding in cluster.store.items((GROUP, "rolebindings"), namespace):
            if _binds(binding.obj, identity, namespace):
                yield from _role_rules(cluster, binding.obj["roleRef"], namespace)


def _binds(binding: Obj, identity: Identity, namespace: str) -> bool:
    for subject in binding.get("subjects") or ():
        name = subject.get("name", "")
        match subject.get("kind"):
            case "User" if name == identity.user:
                return True
            case "Group" if name in identity.groups:
                return True
            case "ServiceAccount":
                if f"system:serviceaccount:{subject.get('namespace', namespace)}:{name}" == identity.user:
                    return True
    return False


def _role_rules(cluster: Cluster, reference: Obj, namespace: str) -> Iterator[Obj]:
    of_cluster = reference.get("kind") == "ClusterRole"
    key = (GROUP, "clusterroles" if of_cluster else "roles")
    role = cluster.store.get(key, ("" if of_cluster else namespace, reference.get("name", "")))
    if role is not None:
        yield from role.obj.get("rules") or ()


def _rule_allows(rule: Obj, wish: Wish) -> bool:
    verbs = rule.get("verbs") or ()
    if "*" not in verbs and wish.verb not in verbs:
        return False
    if wish.path:
        return any(_url_fits(pattern, wish.path) for pattern in rule.get("nonResourceURLs") or ())
    groups, resources = rule.get("apiGroups") or (), rule.get("resources") or ()
    if "*" not in groups and wish.group not in groups:
        return False
    fits = {"*", wish.full_resource, f"*/{wish.subresource}" if wish.subresource else "*"}
    if not fits & set(resources):
        return False
    names = rule.get("resourceNames")
    return not names or wish.name in names


def _url_fits(pattern: str, path: str) -> bool:
    return pattern in ("*", path) or (pattern.endswith("*") and path.startswith(pattern[:-1]))


def wish_of(call: Call) -> Wish:
    """What a request wants, as the authorizer sees it."""
    if not call.plural:
        return Wish(call.verb, path=call.path)
    return Wish(call.verb, call.group, call.plural, call.subresource, call.namespace, call.name)


def authorize(call: Call) -> None:
    """Refuse what the caller may not do. Raises ApiError 403."""
    wish = wish_of(call)
    if allowed(call.cluster, call.identity, wish):
        return
    user = call.identity.user
    if wish.path:
        raise ApiError(403, "Forbidden", f'forbidden: User "{user}" cannot {wish.verb} path "{wish.path}"', {})
    where = f'in the namespace "{wish.namespace}"' if wish.namespace else "at the cluster scope"
    what = qualified(wish.resource, wish.group)
    named = f'{what} "{wish.name}"' if wish.name else what
    text = (
        f'{named} is forbidden: User "{user}" cannot {wish.verb} resource "{wish.full_resource}" '
        f'in API group "{wish.group}" {where}'
    )
    raise ApiError(403, "Forbidden", text, details_of(wish.resource, wish.name, wish.group))
