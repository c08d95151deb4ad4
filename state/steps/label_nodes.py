"""Label the GPU nodes that still have IBM's driver, so that the operator keeps off them.

Source: guide, "Prepare before 1.36 is available" step 1, examples 1 and 2 step 2.1. Both labels go in one patch and are
read back before the operator exists. The danger lasts until the last worker is replaced, so this step comes back to life
whenever an old GPU node without the labels shows up (B004, GPU Operator sheet 0.3).
"""

from state.gpu_workers import old_gpu_nodes
from state.opt_out import missing_labels, operator_present
from state.orders import LabelNode, Order
from state.reasons import Code, Reason, reason
from state.run import StepKind
from state.snapshot import Node, Snapshot
from state.steps.step import Done, Scope, Step, Verdict, Waiting


def unlabelled(snapshot: Snapshot, target_minor: str) -> tuple[Node, ...]:
    """Old GPU nodes that an operator would deploy on."""
    operator = operator_present(snapshot)
    return tuple(n for n in old_gpu_nodes(snapshot, target_minor) if missing_labels(n, operator=operator))


def check(_snapshot: Snapshot, _scope: Scope) -> tuple[Reason, ...]:
    """Nothing forbids labelling."""
    return ()


def act(snapshot: Snapshot, scope: Scope) -> tuple[Order, ...]:
    operator = operator_present(snapshot)
    return tuple(
        LabelNode(n.name, n.uid, n.worker_id, missing_labels(n, operator=operator))
        for n in unlabelled(snapshot, scope.target)
    )


def verify(snapshot: Snapshot, scope: Scope) -> Verdict:
    left = unlabelled(snapshot, scope.target)
    if left:
        return Waiting(reason(Code.WAIT_LABELS, nodes=tuple(n.name for n in left)))
    return Done()


STEP = Step(StepKind.LABEL_NODES, lambda d: d.label, check, act, verify)
