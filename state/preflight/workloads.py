"""What will the workloads feel?"""

from state.foresight import held_up
from state.gpu_workers import gpu_workers
from state.policy import Policy
from state.reasons import Code, Reason, reason
from state.snapshot import Pod, Snapshot


def _gpu_pods(snapshot: Snapshot) -> tuple[Pod, ...]:
    return tuple(p for p in snapshot.kubernetes.pods if p.gpus and p.node_name and not p.finished)


def budgets(snapshot: Snapshot, _policy: Policy) -> tuple[Reason, ...]:
    """Budgets that allow nothing now would hold the drain up (B025)."""
    return held_up(snapshot, _gpu_pods(snapshot))


def single_replicas(snapshot: Snapshot, _policy: Policy) -> tuple[Reason, ...]:
    """One replica, and no other GPU worker to go to first: down until the successor is ready (B038)."""
    if len(gpu_workers(snapshot)) > 1:
        return ()
    found = {p.owner: p for p in _gpu_pods(snapshot) if p.owner is not None}
    single = {w.owner for w in snapshot.kubernetes.workloads if w.desired == 1}
    return tuple(reason(Code.SINGLE_REPLICA, workload=str(owner)) for owner in found if owner in single)
