"""The chapters of the guide, one file each; `STEPS` finds the one for a kind."""

from collections.abc import Mapping

from state.run import StepKind
from state.steps import (
    add_temporary_pool,
    install_operator,
    label_nodes,
    move_workloads,
    remove_temporary_pool,
    replace_worker,
    undo,
    update_master,
    verify_migration,
)
from state.steps.step import Step

STEPS: Mapping[StepKind, Step] = {
    step.kind: step
    for step in (
        label_nodes.STEP,
        install_operator.STEP,
        update_master.STEP,
        add_temporary_pool.STEP,
        move_workloads.STEP,
        replace_worker.STEP,
        remove_temporary_pool.STEP,
        verify_migration.STEP,
        undo.STEP,
    )
}
