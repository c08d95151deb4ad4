"""What a young cluster holds before anybody touches it: namespaces, priority classes, the usual cluster roles."""

from typing import Any

from sandbox.kubernetes.cluster import Cluster, now
from sandbox.kubernetes.strategies import fresh_uid

Obj = dict[str, Any]

RBAC = "rbac.authorization.k8s.io"
NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
CRITICAL = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
READ = ["get", "list", "watch"]
WRITE = ["create", "delete", "deletecollection", "patch", "update"]
ROLES: dict[str, list[Obj]] = {
    "cluster-admin": [
        {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
        {"nonResourceURLs": ["*"], "verbs": ["*"]},
    ],
    "admin": [{"apiGroups": ["", "apps", "batch", "policy", RBAC], "resources": ["*"], "verbs": READ + WRITE}],
    "edit": [{"apiGroups": ["", "apps", "batch", "policy"], "resources": ["*"], "verbs": READ + WRITE}],
    "view": [{"apiGroups": ["", "apps", "batch", "policy"], "resources": ["*"], "verbs": READ}],
}


def plant(cluster: Cluster) -> None:
    """Put the first objects into an empty store."""
    for name in NAMESPACES:
        labels = {"kubernetes.io/metadata.name": name}
        body = {"spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}}
        _put(cluster, ("", "namespaces"), "v1", "Namespace", ({"name": name, "labels": labels}, body))
    for name, value in CRITICAL.items():
        body = {"value": value, "preemptionPolicy": "PreemptLowerPriority"}
        key = ("scheduling.k8s.io", "priorityclasses")
        _put(cluster, key, "scheduling.k8s.io/v1", "PriorityClass", ({"name": name, "generation": 1}, body))
    for name, rules in ROLES.items():
        _put(cluster, (RBAC, "clusterroles"), f"{RBAC}/v1", "ClusterRole", ({"name": name}, {"rules": rules}))
    binding = {
        "subjects": [{"kind": "Group", "apiGroup": RBAC, "name": "system:masters"}],
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "cluster-admin"},
    }
    key = (RBAC, "clusterrolebindings")
    _put(cluster, key, f"{RBAC}/v1", "ClusterRoleBinding", ({"name": "cluster-admin"}, binding))


def _put(cluster: Cluster, key: tuple[str, str], version: str, kind: str, parts: tuple[Obj, Obj]) -> None:
    meta = {**parts[0], "uid": fresh_uid(), "creationTimestamp": now()}
    cluster.store.put(key, ("", meta["name"]), {"kind": kind, "apiVersion": version, "metadata": meta, **parts[1]})
