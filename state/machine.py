"""transition(run, event) → run, effects: the one place where a run changes.

Rules
 1. Everything that affects a run's course lives in `state/`; this file says which event does what, `progress.py` how steps
    move on a look, `intents.py` what becomes of calls, `asking.py` and `news.py` what is asked and told.
 2. It is total: late, doubled and foreign events change nothing, and people are told so.
 3. It never reads a clock: events carry `at`. It never repeats a once-only call: it looks.
 4. The shell saves the new run before it performs any effect.

    planning ──look──▶ planned ──begin──▶ active ──▶ done            pause stops orders and questions, never looking
                                            ├──▶ prepared ──start──▶ planning
    any but an end ──abort──▶ aborting ──undone──▶ aborted
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from state import clocks, people
from state.approval import open_for
from state.asking import withdraw_all
from state.braking import braked
from state.effects import Answer, Effect, GiveOrder, Observe, Tell
from state.events import (
    AbortRequested,
    Approved,
    Began,
    Braked,
    ContinueRequested,
    Event,
    HumanEvent,
    LookFailed,
    Nudged,
    Observed,
    Ordered,
    PauseRequested,
    Rejected,
    ResumeRequested,
    RetryRequested,
    Rewound,
    TurnedAway,
)
from state.history import displaced, newer, rewound
from state.news import notice, tell
from state.outcomes import ordered, reconcile
from state.planner import plan
from state.progress import advance
from state.reasons import Code, Reason, reason
from state.run import Approval, Goal, Run, RunPhase, StepPhase
from state.snapshot import Snapshot
from state.stepping import with_step
from state.steps.temporary import tell_left


@dataclass(frozen=True, slots=True)
class Transition:
    """What an event led to. `wake_at`: look again no later than then; None for a run that has ended."""

    run: Run
    effects: tuple[Effect, ...]
    wake_at: datetime | None


def transition(run: Run, event: Event) -> Transition:
    """Apply one event. Pure and total."""
    effects: tuple[Effect, ...] = ()
    match event:
        case Observed():
            after = _observed(run, event.snapshot)
        case LookFailed():
            after = _look_failed(run, event)
        case Ordered():
            after = ordered(run, event)
            more = after.intent is not None and not after.intent.unknown  # the next order of the batch comes first
            effects = () if more or after.phase.ended else (Observe(),)
        case Braked():
            after, effects = braked(run, event), (Observe(),)
        case Rewound():
            after, effects = rewound(run, event), (Observe(),)
        case Began() | Nudged():
            after, effects = run, () if run.phase.ended else (Observe(),)
        case _:
            after, effects = _human(run, event)
    after = clocks.keep(after, event.at)
    return Transition(after, (*effects, *_follow(run, after)), _wake(after, event.at))


_HUMAN: dict[type, Callable[..., tuple[Run, Reason | None]]] = {
    Approved: people.approved,
    Rejected: people.rejected,
    PauseRequested: people.pause,
    ResumeRequested: people.resume,
    RetryRequested: people.retry,
    AbortRequested: people.abort,
    ContinueRequested: people.carry_on,
    TurnedAway: people.turned_away,
}


def _human(run: Run, event: HumanEvent) -> tuple[Run, tuple[Effect, ...]]:
    """A person spoke: the answer goes to them alone, the look that follows does the rest."""
    after, answer = _HUMAN[type(event)](run, event)
    effects: tuple[Effect, ...] = (Answer(event.by, answer),) if answer is not None else ()
    look = after != run or isinstance(event, RetryRequested)
    return after, (*effects, Observe()) if look and not after.phase.ended else effects


def _follow(before: Run, after: Run) -> tuple[Effect, ...]:
    """Effects of what changed: a newly opened intent is given, people are told."""
    effects: list[Effect] = []
    if after.intent is not None and (before.intent is None or before.intent.op != after.intent.op):
        effects.append(GiveOrder(after.intent))
    if after != before:
        effects.append(Tell())
    return tuple(effects)


def _observed(run: Run, snapshot: Snapshot) -> Run:
    if run.phase.ended:
        return run
    run = newer(_clear_trouble(run, snapshot.at), snapshot)
    if run.phase is RunPhase.PLANNING:
        return _planned(plan(run, snapshot), snapshot)
    if run.phase is RunPhase.PLANNED:
        return _replanned(run, snapshot)
    run = notice(displaced(run, snapshot), snapshot)
    run = reconcile(run, snapshot)
    run = advance(run, snapshot)
    return _ending(run, snapshot)


def _clear_trouble(run: Run, at: datetime) -> Run:
    return run if run.trouble is None else clocks.keep(replace(run, trouble=None, trouble_since=None), at)


def _planned(run: Run, snapshot: Snapshot) -> Run:
    """The plan stands: ask whether to begin, unless nothing is left to do."""
    if nothing := next((why for why in run.blockers if why.code is Code.ALREADY_MIGRATED), None):
        over = replace(withdraw_all(run, snapshot.at), phase=RunPhase.DONE, ended_at=snapshot.at, ending=nothing)
        return tell(replace(over, blockers=(), pause=None), "done", snapshot.at, nothing)
    card = (reason(Code.CARD_PLAN, steps=tuple(s.key for s in run.steps)), *run.blockers, *run.warnings)
    approval = Approval(f"{run.id}:{run.asked + 1}", 1, "", snapshot.at, card)
    return replace(run, phase=RunPhase.PLANNED, approvals=(*run.approvals, approval), asked=run.asked + 1)


def _replanned(run: Run, snapshot: Snapshot) -> Run:
    """Keep an unanswered plan true: what blocks it may have gone, or come."""
    fresh = plan(run, snapshot)
    if any(why.code is Code.ALREADY_MIGRATED for why in fresh.blockers):
        return _planned(fresh, snapshot)
    if (fresh.blockers, fresh.warnings, _shape(fresh)) == (run.blockers, run.warnings, _shape(run)):
        return run
    found = open_for(run, "")
    card = (reason(Code.CARD_PLAN, steps=tuple(s.key for s in fresh.steps)), *fresh.blockers, *fresh.warnings)
    if found is None:
        return run
    renewed = replace(found, revision=found.revision + 1, card=card)
    return replace(fresh, approvals=tuple(renewed if a.id == found.id else a for a in fresh.approvals))


def _shape(run: Run) -> tuple[object, ...]:
    return (tuple(s.key for s in run.steps), run.target_version)


_HOPELESS = frozenset({Code.CLUSTER_NOT_FOUND, Code.CLUSTER_AMBIGUOUS, Code.RUN_EXISTS})
"""A plan cannot be made, and trying again would find the same: the run ends before it began."""


def _look_failed(run: Run, event: LookFailed) -> Run:
    """No decision on half a look; silence of an API says nothing about nodes or pods (B076)."""
    if run.phase.ended:
        return run
    if run.phase is RunPhase.PLANNING and event.reason.code in _HOPELESS:
        ended = replace(run, phase=RunPhase.ABORTED, ended_at=event.at, ending=event.reason)
        return tell(ended, "aborted", event.at, event.reason)
    since = run.trouble_since or event.at
    run = replace(run, trouble=event.reason, trouble_since=since)
    if event.access_lost or event.at - since >= run.policy.durations.quiet:
        run = tell(run, f"trouble:{since.isoformat()}", event.at, event.reason)
    return _overdue(run, event.at)


def _overdue(run: Run, at: datetime) -> Run:
    """What IBM does has its time even while we cannot see it; one that comes back from an absence looks first."""
    for step in run.steps:
        waits = step.phase is StepPhase.VERIFYING and clocks.passed(run, step, at)
        if waits and not clocks.unwatched(run, step, at):
            why = reason(Code.DEADLINE, run.trouble, step=step.key, seconds=clocks.worked(step, at))
            run = tell(run, f"failed:{step.key}:{at.isoformat()}", at, reason(Code.STEP_STUCK, why, step=step.key))
            run = with_step(run, replace(step, phase=StepPhase.FAILED, note=why, queue=()))
    return run


def _ending(run: Run, snapshot: Snapshot) -> Run:
    """See whether the run is over, or `prepare` has reached its resting place."""
    at = snapshot.at
    over = all(s.phase is StepPhase.DONE for s in run.steps)
    if run.phase is RunPhase.ABORTING:
        return people.finish_abort(run, snapshot)
    if not over or run.intent is not None:
        return replace(run, phase=RunPhase.ACTIVE) if run.phase is RunPhase.PREPARED else run
    if run.goal is Goal.PREPARE:
        if run.phase is RunPhase.PREPARED:
            return run
        return tell(replace(run, phase=RunPhase.PREPARED), "prepared", at, reason(Code.PREPARED, cluster=run.cluster))
    return _finish(run, snapshot)


def _finish(run: Run, snapshot: Snapshot) -> Run:
    at = snapshot.at
    run = tell_left(run, snapshot, at)
    exporters = tuple(p.key for p in snapshot.kubernetes.pods if p.app == "nvidia-dcgm-exporter" and p.ready)
    dcgm = reason(Code.DCGM_FOUND, pods=exporters) if exporters else reason(Code.DCGM_MISSING)
    ending = reason(Code.MIGRATION_DONE, dcgm, cluster=run.cluster)
    run = replace(run, phase=RunPhase.DONE, ended_at=at, ending=ending, pause=None)
    return tell(run, "done", at, ending)


_BUSY = (StepPhase.APPROVED, StepPhase.ACTING, StepPhase.VERIFYING)


def _wake(run: Run, at: datetime) -> datetime | None:
    if run.phase.ended:
        return None
    durations = run.policy.durations
    busy = run.intent is not None or run.trouble is not None or run.phase in (RunPhase.PLANNING, RunPhase.ABORTING)
    busy = busy or any(s.phase in _BUSY for s in run.steps) or _waits_for_us(run)
    times = [at + (durations.poll if busy else durations.idle)]
    times += [s.retry_at for s in run.steps if s.retry_at is not None and s.retry_at > at]
    return min(times)


def _waits_for_us(run: Run) -> bool:
    """A step is due and only blocked by something that may pass."""
    return (
        run.phase is RunPhase.ACTIVE
        and not run.held
        and any(s.phase is StepPhase.DUE for s in run.steps)
        and not any(s.phase is StepPhase.AWAITING_APPROVAL for s in run.steps)
    )
