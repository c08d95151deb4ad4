"""The two labels that keep the GPU Operator off a worker with IBM's driver, and what counts as safe.

Before an operator exists both labels must read "false". Once a release or ClusterPolicy exists the operator itself
deletes `gpu.deploy.driver`; then safe means `operands == "false"`, no `gpu.deploy.* == "true"`, no operand pod on the
node, and the missing `driver=false` is normal (architecture, Labels; GPU Operator sheet 0.1, 1.3; B005).
"""

from collections.abc import Mapping

from state.snapshot import Node, Pod, Snapshot

OPERANDS = "nvidia.com/gpu.deploy.operands"
DRIVER = "nvidia.com/gpu.deploy.driver"
DEPLOY_PREFIX = "nvidia.com/gpu.deploy."
OPERAND_APPS = frozenset(
    {
        "nvidia-driver-daemonset",
        "nvidia-vgpu-manager-daemonset",
        "nvidia-container-toolkit-daemonset",
        "nvidia-operator-validator",
        "nvidia-device-plugin-daemonset",
        "nvidia-device-plugin-mps-control-daemon",
        "gpu-feature-discovery",
        "nvidia-dcgm-exporter",
        "nvidia-dcgm",
        "nvidia-mig-manager",
        "nvidia-node-status-exporter",
        "nvidia-cuda-validator",
    }
)


def operator_present(snapshot: Snapshot) -> bool:
    """Whether a GPU Operator is, or was, at work here."""
    return bool(snapshot.kubernetes.releases or snapshot.kubernetes.cluster_policies)


def is_operand(pod: Pod) -> bool:
    """Whether a pod is one that the operator deploys on GPU nodes."""
    return pod.app in OPERAND_APPS or pod.component == "nvidia-driver"


def missing_labels(node: Node, *, operator: bool) -> Mapping[str, str]:
    """The labels still to be written on an old GPU node; empty when it is opted out."""
    wanted = (OPERANDS,) if operator else (OPERANDS, DRIVER)
    if all(node.labels.get(name) == "false" for name in wanted):
        return {}
    return dict.fromkeys((OPERANDS, DRIVER), "false")


def traces(snapshot: Snapshot, node: Node) -> tuple[str, ...]:
    """What of the operator is still on an opted-out node: deploy labels that read true, operand pods."""
    labels = tuple(
        f"{name}=true"
        for name, value in sorted(node.labels.items())
        if name.startswith(DEPLOY_PREFIX) and value == "true"
    )
    pods = tuple(p.key for p in snapshot.pods_on(node) if is_operand(p) and not p.finished)
    return labels + pods


def opting_out(labels: Mapping[str, str]) -> tuple[str, ...]:
    """Opt-out labels among `labels`, as key=value (of a pool, or of a successor that must not have them)."""
    return tuple(f"{k}={labels[k]}" for k in (OPERANDS, DRIVER) if labels.get(k) == "false")


def without_opt_out(labels: Mapping[str, str]) -> Mapping[str, str]:
    """Labels for a new pool: those of the model without anything that opts out."""
    return {
        k: v
        for k, v in labels.items()
        if not k.startswith(DEPLOY_PREFIX) and not k.startswith("ibm-cloud.kubernetes.io/")
    }
