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
    found: list[Reason] = []
    for pool in _gpu_pools(snapshot):
        have = sum(1 for w in snapshot.workers_in(pool.id) if not w.leaving)
        off = _no_refill(pool)
        short = (reason(Code.POOL_SHORT, pool=pool.name, have=have, want=pool.size),) if have < pool.size else ()
        found.extend(off or short)
    return tuple(found)


def opt_out_labels(snapshot: Snapshot, _policy: Policy) -> tuple[Reason, ...]:
    """Opt-out labels on a pool come back on each new worker: no driver would ever come (B055)."""
    return tuple(found for pool in _gpu_pools(snapshot) for found in _opted_out(pool))


def pool_blockers(pool: Pool) -> tuple[Reason, ...]:
    """What makes a replacement in this pool lose a machine: no refill, an autoscaler, inherited opt-out labels."""
    scaled = (reason(Code.AUTOSCALER, pools=(pool.name,)),) if pool.autoscaled else ()
    return (*_no_refill(pool), *scaled, *_opted_out(pool))


def _no_refill(pool: Pool) -> tuple[Reason, ...]:
    return (reason(Code.REBALANCE_OFF, pool=pool.name),) if pool.autobalanced is False else ()


def _opted_out(pool: Pool) -> tuple[Reason, ...]:
    opted = opting_out(pool.labels)
    return (reason(Code.POOL_LABELS, pool=pool.name, labels=opted),) if opted else ()
