"""What people's words do to a run: each function returns the new run and what to say to that person alone.

Rights were checked at the edge and are checked again here, since an event can wait in the inbox while rules change.
"""

from dataclasses import replace
from datetime import datetime

from state.approval import find, may_operate, refusal
from state.asking import with_approval, withdraw_all
from state.braking import waits_for_people
from state.clocks import patience
from state.events import (
    AbortRequested,
    Approved,
    ContinueRequested,
    PauseRequested,
    Rejected,
    ResumeRequested,
    RetryRequested,
    TurnedAway,
)
from state.news import tell
from state.opt_out import operator_present
from state.reasons import Code, Reason, reason
from state.run import Approval, Decision, Goal, Pause, Run, RunPhase, StepKind, StepPhase, StepRun
from state.snapshot import Snapshot
from state.stepping import step_of, with_step
from state.steps.step import Scope
from state.steps.temporary import tell_left
from state.steps.undo import labelled_by_us

Said = tuple[Run, Reason | None]


def approved(run: Run, event: Approved) -> Said:
    if why := refusal(run, event):
        return run, why
    approval = find(run, event.approval)
    assert approval is not None
    if approval.step_key == "" and run.blockers:
        return run, reason(Code.FACTS_CHANGED, run.blockers[0], step="")
    run = _decided(run, approval, event, Decision.APPROVED)
    if approval.step_key == "":
        began = replace(run, phase=RunPhase.ACTIVE)
        return tell(began, "began", event.at, reason(Code.RUN_BEGAN, by=event.by.user)), _waits(run)
    step = step_of(run, approval.step_key)
    return with_step(run, replace(step, phase=StepPhase.APPROVED, note=None)), _waits(run)


def _waits(run: Run) -> Reason | None:
    """What a yes waits for: whoever gives it to a run that is held reads so."""
    if run.brake is not None or run.pause is None:
        return run.brake
    return reason(Code.PAUSED, by=run.pause.by, here=run.cluster)


def rejected(run: Run, event: Rejected) -> Said:
    """A no stops the run where it is; a no to the plan ends it, nothing has been done yet."""
    if why := refusal(run, event):
        return run, why
    approval = find(run, event.approval)
    assert approval is not None
    run = _decided(run, approval, event, Decision.REJECTED)
    why = reason(Code.REJECTED, by=event.by.user, step=approval.step_key)
    if approval.step_key == "":
        return _end_aborted(run, event, why), None
    step = step_of(run, approval.step_key)
    run = with_step(run, replace(step, phase=StepPhase.DUE, approval="", note=why))
    if run.phase is RunPhase.ABORTING or step.kind is StepKind.REMOVE_TEMPORARY_POOL:  # optional: no means it stays
        kept = replace(step, phase=StepPhase.DONE, note=why, finished_at=event.at)
        return with_step(run, kept), None
    return replace(run, pause=Pause(event.by.user, event.at, why)), None


def _decided(run: Run, approval: Approval, event: Approved | Rejected, decision: Decision) -> Run:
    closed = replace(approval, decision=decision, decided_by=event.by.user, decided_at=event.at)
    what = reason(Code.DECIDED, by=event.by.user, decision=decision.value, step=approval.step_key)
    return tell(with_approval(run, closed), f"decided:{approval.id}", event.at, what)


def pause(run: Run, event: PauseRequested) -> Said:
    if why := _not_now(run, event, "pause"):
        return run, why
    if run.pause is not None:
        return run, reason(Code.PAUSED, by=run.pause.by, here=run.cluster)
    return replace(run, pause=Pause(event.by.user, event.at, reason(Code.PAUSED, by=event.by.user))), None


def resume(run: Run, event: ResumeRequested) -> Said:
    if why := _not_now(run, event, "resume"):
        return run, why
    if run.pause is None:
        return run, run.brake or reason(Code.NOTHING_TO_DO, command="resume", phase=run.phase.value)
    return replace(run, pause=None), run.brake


def retry(run: Run, event: RetryRequested) -> Said:
    """Failed steps are due again; a blocked plan looks again; a paused run goes on."""
    if why := _not_now(run, event, "retry"):
        return run, why
    if run.phase is RunPhase.PLANNED:
        return replace(run, phase=RunPhase.PLANNING, approvals=withdraw_all(run, event.at).approvals), None
    failed = [s for s in run.steps if s.phase is StepPhase.FAILED]
    if not failed:  # a blocked card or step: the look that follows is the answer
        waits = run.pause is None and any(s.phase in (StepPhase.DUE, StepPhase.AWAITING_APPROVAL) for s in run.steps)
        return run, None if waits else reason(Code.NOTHING_TO_DO, command="retry", phase=run.phase.value)
    for step in failed:
        run = with_step(run, _tried_again(run, step, event.at))
    return replace(run, pause=None), None


def _tried_again(run: Run, step: StepRun, at: datetime) -> StepRun:
    """Ordered already: only wait anew. Approved already: act anew. Else from the beginning."""
    approval = find(run, step.approval)
    fresh = replace(step, deadline_at=None, retry_at=None, note=None, queue=())
    if step.ordered_at is not None:
        return replace(fresh, phase=StepPhase.VERIFYING, deadline_at=at + patience(run, step))
    if approval is not None and approval.decision is Decision.APPROVED:
        return replace(fresh, phase=StepPhase.APPROVED)
    return replace(fresh, phase=StepPhase.DUE)


def carry_on(run: Run, event: ContinueRequested) -> Said:
    """`start` on a prepared run: plan the whole migration; what is prepared already is skipped."""
    if not may_operate(run.policy, event.by.user):
        return run, reason(Code.NOT_OPERATOR, user=event.by.user)
    if run.phase is not RunPhase.PREPARED:
        return run, reason(Code.RUN_EXISTS, run=run.id, cluster=run.cluster, phase=run.phase.value)
    return replace(run, phase=RunPhase.PLANNING, goal=Goal.MIGRATE), None


def turned_away(run: Run, _event: TurnedAway) -> Said:
    """Told at the edge already; it stands in the log, that is all."""
    return run, None


def abort(run: Run, event: AbortRequested) -> Said:
    """No new order; the open one is watched to its outcome; then give back what is safe. Under the brake that waits.

    Said again while the removal of the temporary pool cannot be offered, or has failed, it leaves the pool.
    """
    if why := _not_now(run, event, "abort"):
        return run, why
    if run.phase is RunPhase.ABORTING:
        left = _leave_pool(run, event.at)
        return left, reason(Code.NOTHING_TO_DO, command="abort", phase=run.phase.value) if left == run else None
    why = reason(Code.RUN_ABORTED, by=event.by.user)
    run = withdraw_all(run, event.at)
    began = run.phase not in (RunPhase.PLANNING, RunPhase.PLANNED) or run.labelled or run.cordons  # `prepare` has begun
    if run.baseline is None or not began:
        return _end_aborted(run, event, why), None
    steps = tuple(replace(s, queue=()) for s in run.steps if s.kind is not StepKind.REMOVE_TEMPORARY_POOL)
    steps = (*steps, StepRun(StepKind.UNDO.value, StepKind.UNDO), *_removal(run))
    return replace(run, phase=RunPhase.ABORTING, steps=steps, pause=None, ending=why), None


def _removal(run: Run) -> tuple[StepRun, ...]:
    """The removal of the temporary pool as an aborted run has it: asked about anew, unless the pool is going already."""
    remove = StepKind.REMOVE_TEMPORARY_POOL
    planned = next((s for s in run.steps if s.kind is remove), None)
    if planned is None and run.temporary_pool is None:
        return ()
    fresh = StepRun(remove.value, remove, after=(StepKind.UNDO.value,))
    under_way = planned is not None and planned.ordered_at is not None and planned.phase is not StepPhase.DONE
    return (replace(planned, after=fresh.after) if planned is not None and under_way else fresh,)


def _end_aborted(run: Run, event: AbortRequested | Rejected, why: Reason) -> Run:
    if run.temporary_pool is not None:  # of an earlier run: it was there when this one was planned
        left = reason(Code.TEMPORARY_POOL_LEFT, pool=run.temporary_pool.name)
        run = tell(run, f"pool-left:{run.temporary_pool.id}", event.at, left)
    run = replace(run, phase=RunPhase.ABORTED, ended_at=event.at, ending=why, pause=None)
    return tell(withdraw_all(run, event.at), "aborted", event.at, why)


def _leave_pool(run: Run, at: datetime) -> Run:
    """The removal is in the way of the end, and somebody has read why: the pool stays."""
    step = next((s for s in run.steps if s.kind is StepKind.REMOVE_TEMPORARY_POOL), None)
    if step is None or run.intent is not None:
        return run
    blocked = waits_for_people(step) or step.phase is StepPhase.FAILED
    return with_step(run, replace(step, phase=StepPhase.DONE, finished_at=at)) if blocked else run


def finish_abort(run: Run, snapshot: Snapshot) -> Run:
    """Everything that can be given back is: end, and say what stays and why."""
    last = [s for s in run.steps if s.kind in (StepKind.UNDO, StepKind.REMOVE_TEMPORARY_POOL)]
    undone = [s for s in last if s.kind is StepKind.UNDO]
    if run.intent is not None or not all(_over(s) for s in last):
        return run
    kept = _kept_labels(run, snapshot, undone[0])
    if kept:
        run = tell(run, "labels-kept", snapshot.at, reason(Code.LABELS_KEPT, nodes=kept))
    run = tell_left(run, snapshot, snapshot.at)
    run = replace(run, phase=RunPhase.ABORTED, ended_at=snapshot.at)
    return tell(run, "aborted", snapshot.at, run.ending or reason(Code.RUN_ABORTED, by=""))


def _over(step: StepRun) -> bool:
    """Done, or an undoing that is beyond us. A removal comes to its own end: offered, answered, or left by a person."""
    return step.phase is StepPhase.DONE or (step.kind is StepKind.UNDO and step.phase is StepPhase.FAILED)


def _kept_labels(run: Run, snapshot: Snapshot, undo: StepRun) -> tuple[str, ...]:
    """Nodes whose labels stay, because an operator would start over IBM's driver."""
    if not operator_present(snapshot) or labelled_by_us(snapshot, Scope(run, undo)):
        return ()
    return tuple(n.name for n in snapshot.kubernetes.nodes if n.uid in run.labelled)


def _not_now(
    run: Run, event: PauseRequested | ResumeRequested | RetryRequested | AbortRequested, command: str
) -> Reason | None:
    if not may_operate(run.policy, event.by.user):
        return reason(Code.NOT_OPERATOR, user=event.by.user)
    if run.phase.ended:
        return reason(Code.NOTHING_TO_DO, command=command, phase=run.phase.value)
    return None
