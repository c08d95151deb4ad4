"""Close one old GPU worker and move its pods away through the eviction API.

Source: guide, example 1 step 5.1; IKS does not reliably drain VPC workers, so the bot does (IKS sheet 0.9, 2.1). The
approval of this step covers cordon, drain and replacement of the worker. The first one also closes all other old GPU
workers, so that each workload moves once (policy close_old_nodes).
"""

from state.fleet import missing_from_pools, others_unready
from state.gpu_workers import gpu_workers, old_gpu_nodes
from state.opt_out import is_operand
from state.orders import CordonNode, EvictPod, Order
from state.placing import movable
from state.preflight.nodes import upgrade_failed
from state.reasons import Code, Reason, reason
from state.run import StepKind, StepPhase
from state.snapshot import Snapshot
from state.steps import move_card
from state.steps.closing import to_close
from state.steps.step import Broken, Done, Scope, Step, Verdict, Waiting
from state.versions import runs_minor


def check(snapshot: Snapshot, scope: Scope) -> tuple[Reason, ...]:
    """Nobody else may be away; the control plane must be there; there must be somewhere to go."""
    found: list[Reason] = []
    if not runs_minor(snapshot.iks.master.version, scope.target) or snapshot.iks.master.pending:
        found.append(reason(Code.MASTER_NOT_THERE, version=snapshot.iks.master.version, target=scope.target))
    found.extend(alarms(snapshot, scope.target))
    node = snapshot.node_of(scope.step.worker_id)
    if node is not None:
        found.extend(upgrade_failed(node))
        found.extend(move_card.unasked(snapshot, scope, (node,)))
    found.extend(missing_from_pools(snapshot, scope.run))
    others = others_unready(snapshot, scope.run, scope.step.worker_id)
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
        if is_operand(pod) and not pod.finished and pod.deleting_since is None
    )


def act(snapshot: Snapshot, scope: Scope) -> tuple[Order, ...]:
    node = snapshot.node_of(scope.step.worker_id)
    if node is None:
        return ()
    closing = [n for n in to_close(snapshot, scope) if not n.unschedulable]
    orders: list[Order] = [CordonNode(n.name, n.uid, n.worker_id) for n in closing]
    orders += [EvictPod(p.namespace, p.name, p.uid, node.name) for p in movable(snapshot, node) if not p.deleting_since]
    return tuple(orders)


def verify(snapshot: Snapshot, scope: Scope) -> Verdict:
    worker, node = snapshot.worker(scope.step.worker_id), snapshot.node_of(scope.step.worker_id)
    if worker is None or worker.leaving or node is None:
        return Done()
    if not node.unschedulable:
        if node.uid in scope.run.cordons:
            return Broken(reason(Code.CORDON_LIFTED, node=node.name, by=node.cordoned_by))
        return Waiting(reason(Code.WAIT_CORDON, node=node.name))
    left = movable(snapshot, node)
    for new in move_card.unasked(snapshot, scope, (node,)):
        return Broken(new)
    if left:
        return Waiting(reason(Code.WAIT_PODS_GONE, node=node.name, pods=tuple(p.key for p in left)))
    if scope.step.phase not in (StepPhase.ACTING, StepPhase.VERIFYING, StepPhase.FAILED, StepPhase.DONE):
        return Waiting(reason(Code.WAIT_APPROVAL, step=scope.step.key))  # empty already, but nobody agreed to lose it
    return Done()


STEP = Step(StepKind.MOVE_WORKLOADS, lambda d: d.drain, check, act, verify, move_card.card, asks=True)
