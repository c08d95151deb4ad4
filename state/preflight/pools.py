"""Would a replacement in these pools come back, and come back usable?"""

from state.gpu_workers import gpu_workers
from state.opt_out import opting_out
from state.policy import Policy
from state.reasons import Code, Reason, reason
from state.snapshot import Pool, Snapshot


def _gpu_pools(snapshot: Snapshot) -> tuple[Pool, ...]:
    ours = {w.pool_id for w in gpu_workers(snapshot)}
    return tuple(p for p in snapshot.iks.pools if p.id in ours)


def refill(snapshot: Snapshot, _policy: Policy) -> tuple[Reason, ...]:
    """With rebalancing off a replacement only deletes (IKS sheet 0.3); a short pool hints at the same."""
    found = []
    for pool in _gpu_pools(snapshot):
        have = sum(1 for w in snapshot.workers_in(pool.id) if not w.leaving)
        if pool.autobalanced is False:
            found.append(reason(Code.REBALANCE_OFF, pool=pool.name))
        elif have < pool.size:
            found.append(reason(Code.POOL_SHORT, pool=pool.name, have=have, want=pool.size))
    return tuple(found)


def opt_out_labels(snapshot: Snapshot, _policy: Policy) -> tuple[Reason, ...]:
    """Opt-out labels on a pool come back on each new worker: no driver would ever come (B055)."""
    return tuple(
        reason(Code.POOL_LABELS, pool=p.name, labels=opting_out(p.labels))
        for p in _gpu_pools(snapshot)
        if opting_out(p.labels)
    )


def pool_blockers(pool: Pool) -> tuple[Reason, ...]:
    """What makes a replacement in this pool lose a machine: no refill, an autoscaler, inherited opt-out labels."""
    found = []
    if pool.autobalanced is False:
        found.append(reason(Code.REBALANCE_OFF, pool=pool.name))
    if pool.autoscaled:
        found.append(reason(Code.AUTOSCALER, pools=(pool.name,)))
    if opted := opting_out(pool.labels):
        found.append(reason(Code.POOL_LABELS, pool=pool.name, labels=opted))
    return tuple(found)
