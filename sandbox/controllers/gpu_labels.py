"""Which labels the GPU Operator gives a node and takes from it: the decision table of v26.7.0, pure.

Rows N1 to N12 of the recorded experiments. The opt-out key is a person's alone; only the exact value "false" counts.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sandbox.controllers.operands import facts
from sandbox.kubernetes_client import Json

PCI_LABELS = tuple(f"feature.node.kubernetes.io/pci-{form}.present" for form in ("10de", "0302_10de", "0300_10de"))
PRESENT = "nvidia.com/gpu.present"
OPT_OUT = "nvidia.com/gpu.deploy.operands"
MIG_MANAGER = "nvidia.com/gpu.deploy.mig-manager"
MIG_CONFIG, MIG_CAPABLE = "nvidia.com/mig.config", "nvidia.com/mig.capable"
PRODUCT = "nvidia.com/gpu.product"
UPGRADE_ENABLED = "nvidia.com/gpu-driver-upgrade-enabled"
MIG_PRODUCTS = ("a100", "h100", "a30")

Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Change:
    """A merge patch of a node's labels and annotations; None takes a key away."""

    labels: dict[str, str | None]
    annotations: dict[str, str | None]

    def __bool__(self) -> bool:
        return bool(self.labels or self.annotations)


def watched(node: Json) -> tuple[bool, str, bool, bool]:
    """What the operator looks at: only when this changes on some node does it judge labels at all."""
    labels = node["metadata"].get("labels") or {}
    return _has_gpu(labels), labels.get(PRESENT, ""), labels.get(OPT_OUT) == "false", _mig_capable(labels)


def relabel(node: Json, policy: Json) -> Change:
    """The change that the operator makes to a node when it judges it."""
    labels = node["metadata"].get("labels") or {}
    change: dict[str, str | None] = {}
    if _has_gpu(labels) and labels.get(PRESENT) != "true":
        change[PRESENT] = "true"
    elif not _has_gpu(labels) and labels.get(PRESENT) == "true":
        change[PRESENT] = "false"
    present = change.get(PRESENT, labels.get(PRESENT)) == "true"
    managed = facts().managed_keys
    if not present or labels.get(OPT_OUT) == "false":
        change |= dict.fromkeys(key for key in managed if key in labels)
    else:
        wanted = (*facts().deploy_keys, *((MIG_MANAGER,) if _mig_capable(labels) else ()))
        change |= {key: "true" for key in wanted if not labels.get(key)}
        change |= dict.fromkeys(key for key in managed if key in labels and key not in wanted)
    if present and _mig_capable(labels) and not labels.get(MIG_CONFIG) and _enabled(policy, "migManager"):
        change[MIG_CONFIG] = "all-disabled"
    return Change(change, _annotations(node, policy, present=present))


def opted_out(node: Json) -> bool:
    return bool((node["metadata"].get("labels") or {}).get(OPT_OUT) == "false")


def is_gpu_node(node: Json) -> bool:
    return bool((node["metadata"].get("labels") or {}).get(PRESENT) == "true")


def _annotations(node: Json, policy: Json, *, present: bool) -> dict[str, str | None]:
    known = (node["metadata"].get("annotations") or {}).get(UPGRADE_ENABLED)
    upgrade = (policy["spec"].get("driver") or {}).get("upgradePolicy") or {}
    if present and _enabled(policy, "driver") and upgrade.get("autoUpgrade", True):
        return {} if known == "true" else {UPGRADE_ENABLED: "true"}
    return {UPGRADE_ENABLED: None} if present and known is not None else {}


def _has_gpu(labels: Labels) -> bool:
    return any(labels.get(key) == "true" for key in PCI_LABELS)


def _mig_capable(labels: Labels) -> bool:
    if MIG_CAPABLE in labels:
        return labels[MIG_CAPABLE] == "true"
    product = labels.get(PRODUCT, "").lower()
    return any(model in product for model in MIG_PRODUCTS)


def _enabled(policy: Json, component: str) -> bool:
    return bool((policy["spec"].get(component) or {}).get("enabled", True))
