"""Give back what an aborted run set, as far as that is safe.

Cordons this run set are lifted where the node is still the same (uid). Its opt-out labels come off only while no operator
release and no ClusterPolicy exists: otherwise operands would start over IBM's driver. Control plane, release and replaced
workers stay. (Architecture, abort; B091, B093.)
"""

from state.gpu_workers import old_gpu_nodes
from state.opt_out import DRIVER, OPERANDS, operator_present
from state.orders import LabelNode, Order, UncordonNode
from state.reasons import Code, Reason, reason
from state.run import StepKind
from state.snapshot import Node, Snapshot
from state.steps.step import Done, Scope, Step, Verdict, Waiting


def closed_by_us(snapshot: Snapshot, scope: Scope) -> tuple[Node, ...]:
    return tuple(n for n in snapshot.kubernetes.nodes if n.uid in scope.run.cordons and n.unschedulable)


def labelled_by_us(snapshot: Snapshot, scope: Scope) -> tuple[Node, ...]:
    """Nodes whose labels can come off: ours, still old, and no operator that would jump on them."""
    if operator_present(snapshot):
        return ()
    return tuple(
        n
        for n in old_gpu_nodes(snapshot, scope.target)
        if n.uid in scope.run.labelled and (OPERANDS in n.labels or DRIVER in n.labels)
    )


def check(_snapshot: Snapshot, _scope: Scope) -> tuple[Reason, ...]:
    """Nothing forbids giving back."""
    return ()


def act(snapshot: Snapshot, scope: Scope) -> tuple[Order, ...]:
    lift = tuple(UncordonNode(n.name, n.uid, n.worker_id) for n in closed_by_us(snapshot, scope))
    bare = tuple(
        LabelNode(n.name, n.uid, n.worker_id, {OPERANDS: None, DRIVER: None}) for n in labelled_by_us(snapshot, scope)
    )
    return (*lift, *bare)


def verify(snapshot: Snapshot, scope: Scope) -> Verdict:
    left = dict.fromkeys(n.name for n in (*closed_by_us(snapshot, scope), *labelled_by_us(snapshot, scope)))
    return Waiting(reason(Code.WAIT_CORDON, node=", ".join(left))) if left else Done()


STEP = Step(StepKind.UNDO, lambda d: d.label, check, act, verify)
