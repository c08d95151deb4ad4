"""Taints against tolerations: of workloads, and of what the chart deploys when its values say nothing else.

The value counts: operands tolerate `nvidia.com/gpu` whatever its value, the bundled NFD worker only `present` (B009), and
without it no label, no operand and no word.
"""

from collections.abc import Iterable

from state.snapshot import Node, Taint

Toleration = tuple[str, str, str, str]  # key, operator, value, effect

OPERANDS: tuple[Toleration, ...] = (("nvidia.com/gpu", "Exists", "", "NoSchedule"),)
NFD_WORKER: tuple[Toleration, ...] = (
    ("node-role.kubernetes.io/control-plane", "Equal", "", "NoSchedule"),
    ("nvidia.com/gpu", "Equal", "present", "NoSchedule"),
)
_PASSING = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")  # set and lifted by Kubernetes itself


def repelled(taints: Iterable[Taint], tolerations: Iterable[Toleration]) -> tuple[Taint, ...]:
    """Taints that keep a pod with these tolerations away."""
    given = tuple(tolerations)
    hard = (t for t in taints if t.effect in ("NoSchedule", "NoExecute"))
    return tuple(t for t in hard if not any(_tolerates(toleration, t) for toleration in given))


def lasting(node: Node, tolerations: Iterable[Toleration]) -> tuple[str, ...]:
    """Taints as text that keep a DaemonSet's pods off a node for good."""
    found = repelled(node.taints, tolerations)
    return tuple(f"{t.key}={t.value}:{t.effect}" for t in found if not t.key.startswith(_PASSING))


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    key, operator, value, effect = toleration
    if effect and effect != taint.effect:
        return False
    if operator == "Exists":
        return key in ("", taint.key)
    return key == taint.key and value == taint.value
