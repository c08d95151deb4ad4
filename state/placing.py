"""Which pods a node has to give up, what they would lose, and whether there is room for them elsewhere.

The classes are computed independently of each other (the sheet on moving workloads, 6.2); the fit looks at what the
scheduler looks at first: cordon, readiness, node selector, taints, free GPUs.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from state.reasons import Code, Reason, reason
from state.snapshot import Budget, Node, Pod, Snapshot
from state.tolerating import repelled


def movable(snapshot: Snapshot, node: Node) -> tuple[Pod, ...]:
    """Pods to be evicted from a node: all but DaemonSet pods, mirrors and finished ones."""
    return tuple(
        p
        for p in snapshot.pods_on(node)
        if not p.finished and not p.mirror and not (p.owner is not None and p.owner.kind == "DaemonSet")
    )


@dataclass(frozen=True, slots=True)
class Losses:
    """Pods that need somebody's consent, by why."""

    bare: tuple[str, ...]
    empty_dir: tuple[str, ...]
    jobs: tuple[str, ...]
    host_local: tuple[str, ...]

    def reasons(self) -> tuple[Reason, ...]:
        rows = (
            (Code.BARE_PODS, self.bare),
            (Code.EMPTY_DIR, self.empty_dir),
            (Code.JOBS_RUNNING, self.jobs),
            (Code.HOST_LOCAL, self.host_local),
        )
        return tuple(reason(code, pods=pods) for code, pods in rows if pods)


def losses(pods: Iterable[Pod], operator_namespaces: frozenset[str]) -> Losses:
    """What moving `pods` could lose. The operator's own pods keep only scratch data in their emptyDirs."""
    own = [p for p in pods if p.namespace not in operator_namespaces]
    return Losses(
        bare=tuple(p.key for p in own if p.owner is None),
        empty_dir=tuple(p.key for p in own if p.empty_dir),
        jobs=tuple(p.key for p in own if p.owner is not None and p.owner.kind in ("Job", "CronJob")),
        host_local=tuple(p.key for p in own if p.host_local),
    )


def blocked_by_budget(snapshot: Snapshot, pods: Iterable[Pod]) -> tuple[Reason, ...]:
    """PDB_BLOCKS for each pod whose budget allows no disruption now (a prediction; the eviction API decides)."""
    found = []
    for pod in pods:
        for budget in snapshot.kubernetes.budgets:
            if pod.uid in budget.pods and not _may_go(pod, budget):
                name = f"{budget.namespace}/{budget.name}"
                found.append(reason(Code.PDB_BLOCKS, pod=pod.key, budget=name, allowed=budget.allowed))
    return tuple(found)


def _may_go(pod: Pod, budget: Budget) -> bool:
    if budget.allowed > 0:
        return True
    return not pod.ready and (budget.always_allow or budget.healthy >= budget.wanted > 0)


def free_gpus(snapshot: Snapshot, node: Node) -> dict[str, int]:
    """GPUs of a node that no living pod has asked for; never below zero (B019)."""
    free = dict(node.allocatable)
    for pod in snapshot.kubernetes.pods:
        if pod.node_name == node.name and not pod.finished:
            for name, count in pod.gpus.items():
                free[name] = max(free.get(name, 0) - count, 0)
    return free


def without_room(snapshot: Snapshot, pods: Iterable[Pod], closed: frozenset[str]) -> tuple[Pod, ...]:
    """GPU pods of `pods` that would wait: no node outside `closed` (names) has room for them now."""
    rooms = [
        (node, free_gpus(snapshot, node))
        for node in snapshot.kubernetes.nodes
        if node.name not in closed and node.ready and not node.unschedulable and node.allocatable
    ]
    waiting = []
    for pod in sorted((p for p in pods if p.gpus), key=lambda p: -sum(p.gpus.values())):
        for node, free in rooms:
            if _fits(pod, node, free):
                for name, count in pod.gpus.items():
                    free[name] -= count
                break
        else:
            waiting.append(pod)
    return tuple(waiting)


def _fits(pod: Pod, node: Node, free: Mapping[str, int]) -> bool:
    if any(node.labels.get(key) != value for key, value in pod.selector.items()):
        return False
    return not repelled(node.taints, pod.tolerations) and all(
        free.get(name, 0) >= count for name, count in pod.gpus.items()
    )
