"""Close one old GPU worker and move its pods away through the eviction API.

Source: guide, example 1 step 5.1; IKS does not reliably drain VPC workers, so the bot does (IKS sheet 0.9, 2.1). The
approval of this step covers cordon, drain and replacement of the worker. The first one also closes all other old GPU
workers, so that each workload moves once (policy close_old_nodes).
"""

from state.fleet import missing_from_pools, others_unwell
from state.gpu_workers import gpu_workers, old_gpu_nodes
from state.opt_out import OPERAND_APPS, is_operand
from state.orders import CordonNode, EvictPod, Order
from state.placing import blocked_by_budget, losses, movable, without_room
from state.reasons import Code, Reason, reason
from state.run import StepKind, StepPhase
from state.snapshot import Node, Pod, Snapshot
from state.steps.step import Broken, Done, Scope, Step, Verdict, Waiting
from state.versions import runs_minor


def check(snapshot: Snapshot, scope: Scope) -> tuple[Reason, ...]:
    """Nobody else may be away; the control plane must be there; there must be somewhere to go."""
    found: list[Reason] = []
    if not runs_minor(snapshot.iks.master.version, scope.target) or snapshot.iks.master.pending:
        found.append(reason(Code.MASTER_NOT_THERE, version=snapshot.iks.master.version, target=scope.target))
    found.extend(alarms(snapshot, scope.target))
    found.extend(missing_from_pools(snapshot, scope.run))
    others = others_unwell(snapshot, scope.run, scope.step.worker_id)
    found.extend(others)
    if not any(w.id != scope.step.worker_id and w.normal for w in gpu_workers(snapshot)) and not others:
        found.append(reason(Code.LAST_GPU_WORKER, worker=scope.step.worker_id))
    return tuple(found)


def alarms(snapshot: Snapshot, target: str) -> tuple[Reason, ...]:
    """Operand pods on GPU nodes that still have IBM's driver: stop everything (B004)."""
    return tuple(
        reason(Code.OPERAND_ON_OLD_NODE, node=node.name, pod=pod.key)
        for node in old_gpu_nodes(snapshot, target)
        for pod in snapshot.pods_on(node)
        if is_operand(pod) and pod.app in OPERAND_APPS and not pod.finished and pod.deleting_since is None
    )


def act(snapshot: Snapshot, scope: Scope) -> tuple[Order, ...]:
    node = snapshot.node_of(scope.step.worker_id)
    if node is None:
        return ()
    closing = [n for n in to_close(snapshot, scope) if not n.unschedulable]
    orders: list[Order] = [CordonNode(n.name, n.uid, n.worker_id) for n in closing]
    orders += [EvictPod(p.namespace, p.name, p.uid, node.name) for p in movable(snapshot, node) if not p.deleting_since]
    return tuple(orders)


def to_close(snapshot: Snapshot, scope: Scope) -> tuple[Node, ...]:
    """The node of the worker, and with the first worker all other old GPU nodes."""
    node = snapshot.node_of(scope.step.worker_id)
    if node is None:
        return ()
    if not scope.run.policy.close_old_nodes or not _first(scope):
        return (node,)
    others = (n for n in old_gpu_nodes(snapshot, scope.target) if n.uid != node.uid)
    return (node, *others)


def _first(scope: Scope) -> bool:
    moves = [s for s in scope.run.steps if s.kind is StepKind.MOVE_WORKLOADS and s.phase is not StepPhase.DONE]
    return bool(moves) and moves[0].key == scope.step.key


def verify(snapshot: Snapshot, scope: Scope) -> Verdict:
    worker, node = snapshot.worker(scope.step.worker_id), snapshot.node_of(scope.step.worker_id)
    if worker is None or worker.leaving or node is None:
        return Done()
    if not node.unschedulable:
        if node.uid in scope.run.cordons:
            return Broken(reason(Code.CORDON_LIFTED, node=node.name, by=node.cordoned_by))
        return Waiting(reason(Code.WAIT_CORDON, node=node.name))
    left = movable(snapshot, node)
    if left:
        return Waiting(reason(Code.WAIT_PODS_GONE, node=node.name, pods=tuple(p.key for p in left)))
    if scope.step.phase not in (StepPhase.ACTING, StepPhase.VERIFYING, StepPhase.FAILED, StepPhase.DONE):
        return Waiting(reason(Code.WAIT_APPROVAL, step=scope.step.key))  # empty already, but nobody agreed to lose it
    return Done()


def card(snapshot: Snapshot, scope: Scope) -> tuple[Reason, ...]:
    worker, node = snapshot.worker(scope.step.worker_id), snapshot.node_of(scope.step.worker_id)
    if worker is None or node is None:
        return ()
    pods = movable(snapshot, node)
    gpus = tuple(f"{count} {name}" for name, count in node.allocatable.items() if count)
    lines = [reason(Code.CARD_WORKER, worker=worker.id, node=node.name, flavor=worker.flavor, gpus=gpus)]
    lines += _closing(snapshot, scope, node)
    lines += _moving(snapshot, scope, pods)
    lines += losses(pods, operator_namespaces(snapshot, scope)).reasons()
    lines += blocked_by_budget(snapshot, pods)
    return (*lines, reason(Code.CARD_DELETED_FOR_GOOD, worker=worker.id), reason(Code.CARD_NOTHING_HAPPENS))


def operator_namespaces(snapshot: Snapshot, scope: Scope) -> frozenset[str]:
    releases = {r.namespace for r in snapshot.kubernetes.releases}
    return frozenset(releases | {scope.run.policy.chart.namespace})


def _closing(snapshot: Snapshot, scope: Scope, node: Node) -> list[Reason]:
    others = tuple(n.name for n in to_close(snapshot, scope) if n.uid != node.uid and not n.unschedulable)
    return [reason(Code.CARD_CLOSE_OLD, nodes=others)] if others else []


def _moving(snapshot: Snapshot, scope: Scope, pods: tuple[Pod, ...]) -> list[Reason]:
    users = [p for p in pods if p.gpus and p.owner is not None]
    if not users:
        return []
    closed = frozenset(n.name for n in to_close(snapshot, scope))
    waiting = tuple(p.key for p in without_room(snapshot, users, closed))
    lines = [reason(Code.CARD_PODS_MOVE, pods=tuple(p.key for p in users))]
    return [*lines, reason(Code.CARD_PODS_PENDING, pods=waiting)] if waiting else lines


STEP = Step(StepKind.MOVE_WORKLOADS, lambda d: d.drain, check, act, verify, card, asks=True)
