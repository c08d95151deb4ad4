"""Whose time runs: a step's deadline counts only time in which its work could go on.

Ours is everything until the once-only call of a step is out: labelling, installing, emptying. That clock stands still while
the run is paused or braked, and while the cluster cannot be looked at. From the call on the time is IBM's: a machine that
is being made goes on being made, so that clock runs on and people hear when it takes too long. A deadline that passed
while nobody watched (this bot was down) counts for nothing: our own work gets its time anew, and what IBM did meanwhile
the little time in which fresh looks show whether it is good.
Questions have no deadline at all.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from state.run import Run, StepPhase, StepRun
from state.steps import STEPS

_OVER = (StepPhase.DONE, StepPhase.FAILED)


def patience(run: Run, step: StepRun) -> timedelta:
    """How long a step may take, by the policy."""
    return STEPS[step.kind].patience(run.policy.durations)


def keep(run: Run, at: datetime) -> Run:
    """Stop our clocks when the work cannot go on, and let them go on with it. Harmless when repeated."""
    if run.phase.ended or _still(run) == (run.still_since is not None):
        return run
    if run.still_since is None:
        since = run.pause.at if run.pause is not None else at
        return replace(run, still_since=min(since, at))
    span = max(at - run.still_since, timedelta(0))
    return replace(run, still_since=None, steps=tuple(_later(step, span) for step in run.steps))


def passed(run: Run, step: StepRun, at: datetime) -> bool:
    """Whether a step has used up its time."""
    running = step.ordered_at is not None or not _still(run)
    return running and step.deadline_at is not None and at > step.deadline_at


def unwatched(run: Run, step: StepRun, at: datetime) -> bool:
    """Whether its deadline passed long before anybody looked: looks, even failed ones, come much closer together."""
    slack = run.policy.durations.quiet + run.policy.durations.idle
    return step.deadline_at is not None and at - step.deadline_at > slack


def back_again(run: Run, at: datetime) -> Run:
    """After an absence: no step is late before it could be seen for a while."""
    if _still(run):
        return run
    return replace(run, steps=tuple(_seen_again(run, step, at) for step in run.steps))


def _seen_again(run: Run, step: StepRun, at: datetime) -> StepRun:
    if step.phase in _OVER or not unwatched(run, step, at):
        return step
    durations = run.policy.durations
    return replace(step, deadline_at=at + (patience(run, step) if _ours(step) else durations.stable + durations.quiet))


def worked(step: StepRun, at: datetime) -> int:
    """Seconds since a step began, without those in which its clock stood still."""
    return max(0, int((at - (step.started_at or at) - step.rested).total_seconds()))


def _still(run: Run) -> bool:
    return run.held or run.trouble is not None


def _ours(step: StepRun) -> bool:
    return step.ordered_at is None and step.deadline_at is not None and step.phase not in _OVER


def _later(step: StepRun, span: timedelta) -> StepRun:
    if not _ours(step) or step.deadline_at is None:
        return step
    return replace(step, deadline_at=step.deadline_at + span, rested=step.rested + span)
