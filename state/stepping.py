"""Find and exchange the steps of a run, and bring the labelling back to life when an old GPU node shows up bare."""

from dataclasses import replace

from state.news import tell
from state.opt_out import OPERANDS
from state.reasons import Code, reason
from state.run import Run, RunPhase, StepKind, StepPhase, StepRun
from state.snapshot import Snapshot
from state.steps.label_nodes import unlabelled


def step_of(run: Run, key: str) -> StepRun:
    return next(s for s in run.steps if s.key == key)


def with_step(run: Run, step: StepRun) -> Run:
    return replace(run, steps=tuple(step if s.key == step.key else s for s in run.steps))


def reopen_labels(run: Run, snapshot: Snapshot) -> Run:
    """An old GPU node without the labels, after they had all been set: label it at once, and say so (B004)."""
    step = next((s for s in run.steps if s.kind is StepKind.LABEL_NODES), None)
    if step is None or step.phase is not StepPhase.DONE or run.phase is RunPhase.ABORTING:
        return run
    bare = tuple(n for n in unlabelled(snapshot, run.policy.target_minor) if n.labels.get(OPERANDS) != "false")
    if not bare:
        return run
    for node in bare:
        run = tell(run, f"old-node:{node.uid}", snapshot.at, reason(Code.OLD_NODE_LABELLED, node=node.name))
    return with_step(run, replace(step, phase=StepPhase.DUE, finished_at=None, deadline_at=None))
