"""Judge the GPU workers of a run as a group: who is new, who is well, who else is away.

Shared by the steps that take a machine away, so that the rule "never two GPU workers away at once" is written once.
"""

from datetime import datetime

from state.expecting import expected_of
from state.gpu_workers import gpu_workers, running_version
from state.readiness import judge
from state.reasons import Code, Reason, reason
from state.run import Run, StepKind, StepPhase
from state.snapshot import Node, Snapshot, Worker
from state.versions import runs_minor


def new_workers(snapshot: Snapshot, run: Run, pool_id: str) -> tuple[Worker, ...]:
    """Workers of a pool that were not there at plan time."""
    assert run.baseline is not None
    known = run.baseline.pool_workers.get(pool_id, ())
    return tuple(w for w in snapshot.workers_in(pool_id) if w.id not in known)


def ordered_replacements(run: Run, pool_id: str) -> int:
    """Replacements in a pool that were ordered or found under way: as many new ids are ours."""
    return sum(
        1
        for s in run.steps
        if s.kind is StepKind.REPLACE_WORKER
        and s.pool_id == pool_id
        and (s.ordered_at is not None or s.phase in (StepPhase.DONE, StepPhase.VERIFYING))
    )


def unwell(snapshot: Snapshot, run: Run, worker: Worker) -> Reason | None:
    """Why a worker does not count as a place for GPU workloads; None when it does."""
    node = snapshot.node_of(worker.id)
    if not worker.normal:
        return reason(Code.WAIT_WORKER, worker=worker.id, state=worker.state, message=worker.message)
    if node is None or not node.ready:
        return reason(Code.WAIT_NODE_READY, worker=worker.id, node=node.name if node else "")
    assert run.baseline is not None
    if not runs_minor(running_version(worker, node), run.policy.target_minor):
        return None
    verdict = judge(snapshot, worker, expected_of(worker, run.baseline))
    if not verdict.healthy:
        return verdict.reason
    return _unstable(snapshot, run, worker, node)


def _unstable(snapshot: Snapshot, run: Run, worker: Worker, node: Node) -> Reason | None:
    """Good for too short a time, by our own looks and by the node's word: it may have been away while nobody looked."""
    since = run.healthy_since.get(worker.id)
    stable = run.policy.durations.stable
    if since is not None and snapshot.at - max(since, node.ready_since or since) >= stable:
        return None
    return reason(Code.WAIT_STABLE, node=node.name, seconds=int(stable.total_seconds()))


def overdue(snapshot: Snapshot, run: Run, worker: Worker, since: datetime | None) -> Reason | None:
    """Ready for longer than GPUs may take, and still none usable: a phase with its own deadline (B095).

    `since`: when its step was given its time, so that a retry gives it to the GPUs too.
    """
    node = snapshot.node_of(worker.id)
    if node is None or not node.ready or node.ready_since is None or worker.id in run.healthy_since:
        return None
    age = snapshot.at - max(node.ready_since, since or node.ready_since)
    if age <= run.policy.durations.gpus or run.baseline is None:
        return None
    verdict = judge(snapshot, worker, expected_of(worker, run.baseline))
    if verdict.healthy:
        return None
    return reason(Code.DEADLINE, verdict.reason, step=worker.id, seconds=int(age.total_seconds()))


def others_unwell(snapshot: Snapshot, run: Run, worker_id: str) -> tuple[Reason, ...]:
    """Why no further GPU worker may go now: another one is away, leaving or not healthy."""
    found = [unwell(snapshot, run, w) for w in gpu_workers(snapshot) if w.id != worker_id]
    return tuple(r for r in found if r is not None)


def others_unready(snapshot: Snapshot, run: Run, worker_id: str) -> tuple[Reason, ...]:
    """The same in one reason: which nodes are waited for, and why the first of them."""
    away = [(w, why) for w in gpu_workers(snapshot) if w.id != worker_id and (why := unwell(snapshot, run, w))]
    if not away:
        return ()
    nodes = tuple(node.name if (node := snapshot.node_of(worker.id)) else worker.id for worker, _ in away)
    return (reason(Code.OTHERS_UNREADY, away[0][1], nodes=nodes),)


def missing_from_pools(snapshot: Snapshot, run: Run) -> tuple[Reason, ...]:
    """POOL_SHORT for each pool of the run that has fewer workers than it wants."""
    assert run.baseline is not None
    found = []
    for pool_id in run.baseline.pool_sizes:
        pool = snapshot.pool(pool_id)
        have = sum(1 for w in snapshot.workers_in(pool_id) if not w.leaving)
        if pool is not None and have < pool.size:
            found.append(reason(Code.POOL_SHORT, pool=pool.name, have=have, want=pool.size))
    return tuple(found)
