"""Find and exchange the steps of a run, stop it, and watch over old GPU nodes: labelled at once, and without operands."""

from dataclasses import replace

from state.news import tell
from state.opt_out import OPERANDS
from state.reasons import Code, Reason, reason
from state.run import Pause, Run, RunPhase, StepKind, StepPhase, StepRun
from state.snapshot import Snapshot
from state.steps.label_nodes import unlabelled
from state.steps.move_workloads import alarms


def step_of(run: Run, key: str) -> StepRun:
    return next(s for s in run.steps if s.key == key)


def with_step(run: Run, step: StepRun) -> Run:
    return replace(run, steps=tuple(step if s.key == step.key else s for s in run.steps))


def stop_run(run: Run, snapshot: Snapshot, why: Reason) -> Run:
    """Pause the run because something is there that nobody of us ordered; a human decides."""
    run = tell(run, f"stopped:{why.code.value}:{why.text('workers')}{why.text('node')}", snapshot.at, why)
    return run if run.pause is not None else replace(run, pause=Pause(by="", at=snapshot.at, reason=why))


def guard_old_nodes(run: Run, snapshot: Snapshot) -> Run:
    """Once the operator was seen to keep off the old GPU nodes, an operand on one of them stops everything (B004).

    Labels come first: they are the remedy, and a stopped run would not set them.
    """
    target = run.policy.target_minor
    clean = any(s.kind is StepKind.INSTALL_OPERATOR and s.phase is StepPhase.DONE for s in run.steps)
    if not clean or run.phase is RunPhase.ABORTING or unlabelled(snapshot, target):
        return run
    found = alarms(snapshot, target)
    return stop_run(run, snapshot, found[0]) if found else run


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
