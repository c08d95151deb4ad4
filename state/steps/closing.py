"""Which nodes the approval of one worker closes: its own, and with the first one all other old GPU nodes.

So each workload moves once, to a worker that is already migrated (policy close_old_nodes).
"""

from state.gpu_workers import old_gpu_nodes
from state.run import StepKind, StepPhase
from state.snapshot import Node, Snapshot
from state.steps.step import Scope


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
