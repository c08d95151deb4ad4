"""Empty the temporary pool, then remove it: only the pool whose id this run recorded, never one by a typed name.

Source: guide, example 1 step 6. Pods go back through the eviction API first; what would find no GPU elsewhere is named and
blocks the removal. A refusal such as "operations pending" parks the step, the migration itself stays done (B046).
"""

from state.fleet import others_unwell
from state.gpu_workers import gpu_workers
from state.orders import CordonNode, EvictPod, Order, RemovePool
from state.placing import losses, movable, without_room
from state.reasons import Code, Reason, reason
from state.recovery import still_away, unrecovered
from state.run import RunPhase, StepKind
from state.snapshot import Node, Pod, Pool, Snapshot
from state.steps.move_card import operator_namespaces, unasked
from state.steps.step import Broken, Done, Scope, Step, Verdict, Waiting
from state.steps.temporary import find


def _nodes(snapshot: Snapshot, pool: Pool) -> tuple[Node, ...]:
    found = (snapshot.node_of(w.id) for w in snapshot.workers_in(pool.id))
    return tuple(n for n in found if n is not None)


def _pods(snapshot: Snapshot, pool: Pool) -> tuple[Pod, ...]:
    return tuple(p for n in _nodes(snapshot, pool) for p in movable(snapshot, n))


def check(snapshot: Snapshot, scope: Scope) -> tuple[Reason, ...]:
    pool = find(snapshot, scope)
    if pool is None:
        return ()
    found: list[Reason] = [*unasked(snapshot, scope, _nodes(snapshot, pool))]
    temporary = {w.id for w in snapshot.workers_in(pool.id)}
    if scope.run.phase is not RunPhase.ABORTING:
        unwell = [r for r in others_unwell(snapshot, scope.run, "") if r.text("worker") not in temporary]
        found.extend(r for r in unwell if r.text("node") not in {n.name for n in _nodes(snapshot, pool)})
    if not any(w.id not in temporary and w.normal for w in gpu_workers(snapshot)):
        found.append(reason(Code.LAST_GPU_WORKER, worker=", ".join(sorted(temporary))))
    closed = frozenset(n.name for n in _nodes(snapshot, pool))
    stranded = without_room(snapshot, _pods(snapshot, pool), closed)
    if stranded:
        found.append(reason(Code.PODS_WOULD_NOT_FIT, pods=tuple(p.key for p in stranded)))
    return tuple(found)


def act(snapshot: Snapshot, scope: Scope) -> tuple[Order, ...]:
    pool = find(snapshot, scope)
    if pool is None or pool.state == "deleting":
        return ()
    nodes = _nodes(snapshot, pool)
    orders: list[Order] = [CordonNode(n.name, n.uid, n.worker_id) for n in nodes if not n.unschedulable]
    pods = [(n, p) for n in nodes for p in movable(snapshot, n)]
    orders += [EvictPod(p.namespace, p.name, p.uid, n.name) for n, p in pods if p.deleting_since is None]
    if orders or pods or unrecovered(snapshot, scope.run):
        return tuple(orders)
    if all(w.leaving for w in snapshot.workers_in(pool.id)) and snapshot.workers_in(pool.id):
        return ()
    return (RemovePool(snapshot.iks.cluster_id, pool.id, pool.name),)


def verify(snapshot: Snapshot, scope: Scope) -> Verdict:
    pool = find(snapshot, scope)
    if pool is not None:
        for new in unasked(snapshot, scope, _nodes(snapshot, pool)):
            return Broken(new)
        pods = _pods(snapshot, pool)
        if pods:
            keys = tuple(p.key for p in pods)
            return Waiting(
                reason(Code.WAIT_PODS_GONE, node=", ".join(n.name for n in _nodes(snapshot, pool)), pods=keys)
            )
        workers = tuple(w.id for w in snapshot.workers_in(pool.id))
        return Waiting(reason(Code.WAIT_POOL_GONE, pool=pool.name, workers=workers))
    left = _left_behind(snapshot, scope)
    if left:
        return Waiting(reason(Code.WAIT_POOL_GONE, pool=scope.run.temporary_pool.name, workers=left))  # type: ignore[union-attr]
    away = None if scope.run.phase is RunPhase.ABORTING else still_away(snapshot, scope.run)
    return Waiting(away) if away else Done()


def _left_behind(snapshot: Snapshot, scope: Scope) -> tuple[str, ...]:
    """Workers still listed for a pool that is gone."""
    ours = scope.run.temporary_pool
    return tuple(w.id for w in snapshot.workers_in(ours.id)) if ours is not None and ours.id else ()


def card(snapshot: Snapshot, scope: Scope) -> tuple[Reason, ...]:
    pool = find(snapshot, scope)
    if pool is None:
        return ()
    pods = _pods(snapshot, pool)
    users = tuple(p.key for p in pods if p.gpus)
    lines = [reason(Code.CARD_REMOVE_POOL, pool=pool.name, workers=tuple(w.id for w in snapshot.workers_in(pool.id)))]
    lines += [reason(Code.CARD_PODS_MOVE, pods=users)] if users else []
    lines += losses(pods, operator_namespaces(snapshot, scope)).reasons()
    return (*lines, reason(Code.CARD_COST, pool=pool.name), reason(Code.CARD_NOTHING_HAPPENS))


STEP = Step(StepKind.REMOVE_TEMPORARY_POOL, lambda d: d.remove, check, act, verify, card, asks=True)
