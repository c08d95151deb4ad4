"""What admission plugins of a stock server add or refuse on create: namespaces, taints, tolerations, priorities."""

from typing import Any

from sandbox.kubernetes.quantities import parse
from sandbox.kubernetes.resources import Resource
from sandbox.kubernetes.statuses import ApiError, details_of, not_found
from sandbox.kubernetes.store import Store

Obj = dict[str, Any]

CRITICAL = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
NOT_READY = "node.kubernetes.io/not-ready"


def check_namespace(store: Store, resource: Resource, namespace: str, name: str) -> None:
    """A namespace has to exist and not be on its way out. Raises ApiError 404 or 403."""
    found = store.get(("", "namespaces"), ("", namespace))
    if found is None:
        raise not_found("namespaces", "", namespace)
    if found.obj["metadata"].get("deletionTimestamp"):
        text = f"unable to create new content in namespace {namespace} because it is being terminated"
        details = {
            **details_of(resource.plural, name, resource.group),
            "causes": [
                {
                    "reason": "NamespaceTerminating",
                    "message": f"namespace {namespace} is being terminated",
                    "field": "metadata.namespace",
                }
            ],
        }
        raise ApiError(403, "Forbidden", f'{resource.qualified} "{name}" is forbidden: {text}', details)


def admit_pod(store: Store, obj: Obj) -> None:
    """Tolerations, priority and quality of service of a new pod. Raises ApiError 403 for an unknown priority class."""
    spec = obj["spec"]
    tolerations = spec.setdefault("tolerations", [])
    for key in (NOT_READY, "node.kubernetes.io/unreachable"):
        if not any(_tolerates(toleration, key) for toleration in tolerations):
            tolerations.append({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300})
    _prioritise(store, obj)
    _set_runtime_class(store, obj)


def _tolerates(toleration: Obj, key: str) -> bool:
    return bool(toleration.get("key", key) == key and toleration.get("effect", "NoExecute") == "NoExecute")


def _prioritise(store: Store, obj: Obj) -> None:
    spec = obj["spec"]
    name, value, policy = spec.get("priorityClassName"), 0, "PreemptLowerPriority"
    if name:
        found = store.get(("scheduling.k8s.io", "priorityclasses"), ("", name))
        if found is None and name not in CRITICAL:
            pod = obj["metadata"].get("name", "")
            text = f'pods "{pod}" is forbidden: no PriorityClass with name {name} was found'
            raise ApiError(403, "Forbidden", text, details_of("pods", pod))
        value = found.obj["value"] if found else CRITICAL[name]
        policy = found.obj.get("preemptionPolicy", policy) if found else policy
    spec["priority"] = value
    spec["preemptionPolicy"] = policy


def _set_runtime_class(store: Store, obj: Obj) -> None:
    """A pod that names a RuntimeClass needs it to exist, as the plugin RuntimeClass demands."""
    name = obj["spec"].get("runtimeClassName")
    if not name:
        return
    found = store.get(("node.k8s.io", "runtimeclasses"), ("", name))
    if found is None:
        pod = obj["metadata"].get("name", "")
        text = f'pod rejected: RuntimeClass "{name}" not found'
        raise ApiError(403, "Forbidden", f'pods "{pod}" is forbidden: {text}', details_of("pods", pod))


def quality_of_service(spec: Obj) -> str:
    """BestEffort, Burstable or Guaranteed, from cpu and memory of all containers."""
    containers = (*spec.get("containers", ()), *spec.get("initContainers", ()))
    requests: list[Obj] = [c.get("resources", {}).get("requests") or {} for c in containers]
    limits: list[Obj] = [c.get("resources", {}).get("limits") or {} for c in containers]
    counted = [{k: v for k, v in row.items() if k in ("cpu", "memory") and parse(v)[0]} for row in (*requests, *limits)]
    if not any(counted):
        return "BestEffort"
    full = all(set(row) >= {"cpu", "memory"} for row in limits)
    same = all(row.get(k, limit[k]) == limit[k] for row, limit in zip(requests, limits, strict=True) for k in limit)
    return "Guaranteed" if full and same else "Burstable"


def admit_node(obj: Obj) -> None:
    """A new node is tainted until its controller has seen it Ready."""
    taints = obj["spec"].setdefault("taints", [])
    if not any(taint.get("key") == NOT_READY for taint in taints):
        taints.append({"key": NOT_READY, "effect": "NoSchedule"})
