"""What kubectl's columns show of the built-in kinds. A None among them stands for the age."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sandbox.kubernetes.selectors import selector_text

Obj = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `priority` 1 means only with -o wide."""

    name: str
    read: Callable[[Obj], Any]
    kind: str = ""
    priority: int = 0
    type: str = "string"

    def definition(self) -> Obj:
        return {
            "name": self.name,
            "type": self.type,
            "format": self.kind,
            "description": self.name,
            "priority": self.priority,
        }


def _at(obj: Obj, *path: str, otherwise: Any = "") -> Any:
    value: Any = obj
    for part in path:
        value = value.get(part) if isinstance(value, dict) else None
    return otherwise if value is None else value


def _statuses(pod: Obj) -> list[Obj]:
    return list(_at(pod, "status", "containerStatuses", otherwise=[]))


def _pod_ready(pod: Obj) -> str:
    return f"{sum(bool(s.get('ready')) for s in _statuses(pod))}/{len(pod['spec'].get('containers', ()))}"


def _pod_status(pod: Obj) -> str:
    reason = _at(pod, "status", "reason") or _at(pod, "status", "phase")
    for condition in _at(pod, "status", "conditions", otherwise=[]):
        if condition.get("type") == "PodScheduled" and condition.get("reason") == "SchedulingGated":
            reason = "SchedulingGated"
    for status in _statuses(pod):
        state = status.get("state") or {}
        reason = _at(state, "waiting", "reason") or _at(state, "terminated", "reason") or reason
    if pod["metadata"].get("deletionTimestamp"):
        return "Terminating" if reason not in ("Succeeded", "Failed", "Completed") else str(reason)
    return str(reason)


def _pod_restarts(pod: Obj) -> str:
    return str(sum(int(s.get("restartCount", 0)) for s in _statuses(pod)))


def _none(*path: str) -> Callable[[Obj], Any]:
    return lambda obj: _at(obj, *path) or "<none>"


def _unknown(*path: str) -> Callable[[Obj], Any]:
    return lambda obj: _at(obj, *path) or "<unknown>"


def _node_status(node: Obj) -> str:
    words = [
        "Ready" if c.get("status") == "True" else "NotReady"
        for c in _at(node, "status", "conditions", otherwise=[])
        if c.get("type") == "Ready"
    ] or ["Unknown"]
    if node["spec"].get("unschedulable"):
        words.append("SchedulingDisabled")
    return ",".join(words)


def _roles(node: Obj) -> str:
    prefix = "node-role.kubernetes.io/"
    labels = node["metadata"].get("labels") or {}
    return ",".join(sorted(k.removeprefix(prefix) for k in labels if k.startswith(prefix))) or "<none>"


def _node_address(kind: str) -> Callable[[Obj], str]:
    def read(node: Obj) -> str:
        rows = _at(node, "status", "addresses", otherwise=[])
        return next((str(row["address"]) for row in rows if row.get("type") == kind), "<none>")

    return read


def _count(*path: str) -> Callable[[Obj], int]:
    return lambda obj: int(_at(obj, *path, otherwise=0))


def _ready_of(ready: str) -> Callable[[Obj], str]:
    return lambda obj: f"{_at(obj, 'status', ready, otherwise=0)}/{_at(obj, 'spec', 'replicas', otherwise=0)}"


def _containers(field: str) -> Callable[[Obj], str]:
    return lambda obj: ",".join(
        str(c.get(field, "")) for c in _at(obj, "spec", "template", "spec", "containers", otherwise=[])
    )


def _selector(obj: Obj) -> str:
    return selector_text(_at(obj, "spec", "selector", otherwise={})) or "<none>"


def _pairs(*path: str) -> Callable[[Obj], str]:
    return lambda obj: ",".join(f"{k}={v}" for k, v in sorted(_at(obj, *path, otherwise={}).items())) or "<none>"


def _job_status(job: Obj) -> str:
    for condition in _at(job, "status", "conditions", otherwise=[]):
        if condition.get("status") == "True" and condition.get("type") in ("Complete", "Failed", "Suspended"):
            return str(condition["type"])
    return "Suspended" if job["spec"].get("suspend") else "Running"


def _ports(service: Obj) -> str:
    return ",".join(f"{p['port']}/{p.get('protocol', 'TCP')}" for p in service["spec"].get("ports", ())) or "<none>"


def _last_seen(event: Obj) -> str:
    from sandbox.kubernetes.table import age

    return age(event.get("lastTimestamp") or event.get("eventTime") or event.get("firstTimestamp"))


def _regarding(event: Obj) -> str:
    about = event.get("involvedObject") or {}
    return f"{str(about.get('kind', '')).lower()}/{about.get('name', '')}"


WORKLOAD = (
    Column("Containers", _containers("name"), priority=1),
    Column("Images", _containers("image"), priority=1),
    Column("Selector", _selector, kind="", priority=1),
)
COLUMNS: dict[str, tuple[Any, ...]] = {
    "Pod": (
        Column("Ready", _pod_ready),
        Column("Status", _pod_status),
        Column("Restarts", _pod_restarts),
        None,
        Column("IP", _none("status", "podIP"), priority=1),
        Column("Node", _none("spec", "nodeName"), priority=1),
        Column("Nominated Node", _none("status", "nominatedNodeName"), priority=1),
        Column("Readiness Gates", lambda _: "<none>", priority=1),
    ),
    "Node": (
        Column("Status", _node_status),
        Column("Roles", _roles),
        None,
        Column("Version", lambda node: _at(node, "status", "nodeInfo", "kubeletVersion")),
        Column("Internal-IP", _node_address("InternalIP"), priority=1),
        Column("External-IP", _node_address("ExternalIP"), priority=1),
        Column("OS-Image", _unknown("status", "nodeInfo", "osImage"), priority=1),
        Column("Kernel-Version", _unknown("status", "nodeInfo", "kernelVersion"), priority=1),
        Column("Container-Runtime", _unknown("status", "nodeInfo", "containerRuntimeVersion"), priority=1),
    ),
    "ConfigMap": (Column("Data", lambda obj: len(obj.get("data") or {}) + len(obj.get("binaryData") or {})), None),
    "Secret": (
        Column("Type", lambda obj: obj.get("type", "")),
        Column("Data", lambda obj: len(obj.get("data") or {})),
        None,
    ),
    "Namespace": (Column("Status", lambda obj: _at(obj, "status", "phase")), None),
    "Deployment": (
        Column("Ready", _ready_of("readyReplicas")),
        Column("Up-to-date", _count("status", "updatedReplicas"), type="integer"),
        Column("Available", _count("status", "availableReplicas"), type="integer"),
        None,
        *WORKLOAD,
    ),
    "DaemonSet": (
        Column("Desired", _count("status", "desiredNumberScheduled"), type="integer"),
        Column("Current", _count("status", "currentNumberScheduled"), type="integer"),
        Column("Ready", _count("status", "numberReady"), type="integer"),
        Column("Up-to-date", _count("status", "updatedNumberScheduled"), type="integer"),
        Column("Available", _count("status", "numberAvailable"), type="integer"),
        Column("Node Selector", _pairs("spec", "template", "spec", "nodeSelector")),
        None,
        *WORKLOAD,
    ),
    "ReplicaSet": (
        Column("Desired", _count("spec", "replicas"), type="integer"),
        Column("Current", _count("status", "replicas"), type="integer"),
        Column("Ready", _count("status", "readyReplicas"), type="integer"),
        None,
        *WORKLOAD,
    ),
    "StatefulSet": (Column("Ready", _ready_of("readyReplicas")), None, *WORKLOAD[:2]),
    "Job": (
        Column("Status", _job_status),
        Column(
            "Completions",
            lambda j: f"{_at(j, 'status', 'succeeded', otherwise=0)}/{_at(j, 'spec', 'completions', otherwise=1)}",
        ),
        None,
        *WORKLOAD,
    ),
    "Service": (
        Column("Type", lambda obj: _at(obj, "spec", "type")),
        Column("Cluster-IP", _none("spec", "clusterIP")),
        Column("External-IP", lambda _: "<none>"),
        Column("Port(s)", _ports),
        None,
        Column("Selector", _pairs("spec", "selector"), priority=1),
    ),
    "PodDisruptionBudget": (
        Column("Min Available", lambda obj: str(_at(obj, "spec", "minAvailable", otherwise="N/A"))),
        Column("Max Unavailable", lambda obj: str(_at(obj, "spec", "maxUnavailable", otherwise="N/A"))),
        Column("Allowed Disruptions", _count("status", "disruptionsAllowed"), type="integer"),
        None,
    ),
    "CustomResourceDefinition": (Column("Created At", lambda obj: obj["metadata"].get("creationTimestamp", "")),),
    "Lease": (Column("Holder", lambda obj: _at(obj, "spec", "holderIdentity")), None),
    "RuntimeClass": (Column("Handler", lambda obj: obj.get("handler", "")), None),
    "Event": (
        Column("Last Seen", _last_seen),
        Column("Type", lambda e: e.get("type", "")),
        Column("Reason", lambda e: e.get("reason", "")),
        Column("Object", _regarding),
        Column("Message", lambda e: e.get("message", e.get("note", ""))),
    ),
}
