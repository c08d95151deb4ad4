"""Raw Node → Node. Missing fields read as absent; only a node without a name or uid is refused, by its holder."""

from bot.adapters.kubernetes.fields import EPOCH, Json, condition, flag, moment, rows, strings, table, text
from bot.adapters.kubernetes.gpus import GpuNames
from state.snapshot import Node, Taint

WORKER_ID = "ibm-cloud.kubernetes.io/worker-id"
OURS = "gpu-migrate/"
GPU_ENABLED = "ibm-cloud.kubernetes.io/gpu-enabled"
FLAVORS = ("node.kubernetes.io/instance-type", "ibm-cloud.kubernetes.io/machine-type")
GPU_FLAVOR = "gx"
PCI = ("pci-10de", "pci-0302_10de", "pci-0300_10de")
PCI_LABELS = tuple(f"feature.node.kubernetes.io/{device}.present" for device in PCI)
CORDON = "f:unschedulable"


def project_node(raw: Json, names: GpuNames) -> Node:
    metadata, spec, status = table(raw, "metadata"), table(raw, "spec"), table(raw, "status")
    ready = condition(status, "Ready")
    labels = strings(metadata, "labels")
    cordoned = flag(spec, "unschedulable")
    return Node(
        name=text(metadata, "name"),
        uid=text(metadata, "uid"),
        worker_id=labels.get(WORKER_ID, ""),
        labels=labels,
        ready=ready.get("status") == "True",
        unschedulable=cordoned,
        created_at=moment(metadata, "creationTimestamp") or EPOCH,
        allocatable=names.of(table(status, "allocatable")),
        capacity=names.of(table(status, "capacity")),
        taints=tuple(Taint(text(row, "key"), text(row, "value"), text(row, "effect")) for row in rows(spec, "taints")),
        annotations={name: value for name, value in strings(metadata, "annotations").items() if name.startswith(OURS)},
        kubelet_version=text(table(status, "nodeInfo"), "kubeletVersion"),
        resource_version=text(metadata, "resourceVersion"),
        cordoned_by=_cordoned_by(metadata) if cordoned else "",
        ready_since=moment(ready, "lastTransitionTime"),
    )


def has_gpus(node: Node) -> bool:
    """Whether any sign says so; whether the signs contradict each other is judged elsewhere (B022)."""
    return (
        bool(node.allocatable or node.capacity)
        or node.labels.get(GPU_ENABLED) == "true"
        or any(node.labels.get(key, "").startswith(GPU_FLAVOR) for key in FLAVORS)
        or any(node.labels.get(key) == "true" for key in PCI_LABELS)
    )


def _cordoned_by(metadata: Json) -> str:
    """Name the field manager of spec.unschedulable, "" when the server does not tell."""
    for entry in rows(metadata, "managedFields"):
        if CORDON in table(table(entry, "fieldsV1"), "f:spec"):
            return text(entry, "manager")
    return ""
