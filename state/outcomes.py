"""What a call's outcome, or looking for it, does to a run.

Accepted orders leave their trace in the run (cordons, labels, the pool) and the next order of the step follows at once.
An unknown outcome is settled by looking only. A refusal fails the step with the other side's own words; "not now" waits.
"""

from dataclasses import replace
from datetime import datetime

from state.events import Ordered, OutcomeKind
from state.intents import Finding, Found, look_for, needs_settling, open_intent, settled
from state.news import tell
from state.orders import ONCE, CordonNode, CreatePool, EvictPod, LabelNode, Order, UncordonNode, natural_key
from state.reasons import Code, reason
from state.run import Intent, Run, RunPhase, StepPhase, StepRun, TemporaryPool
from state.snapshot import Snapshot
from state.stepping import step_of, stop_run, with_step
from state.steps import STEPS
from state.steps.step import Scope


def ordered(run: Run, event: Ordered) -> Run:
    """Record an outcome; one for another intent than the open one is late and changes nothing."""
    intent = run.intent
    if intent is None or intent.op != event.op:
        return run
    match event.kind:
        case OutcomeKind.ACCEPTED:
            return _accepted(run, intent, event.at, event.detail)
        case OutcomeKind.UNKNOWN:
            return replace(run, intent=replace(intent, unknown=True, seen=0, unknown_at=event.at))
        case OutcomeKind.REFUSED:
            return _refused(run, intent, event)
        case OutcomeKind.POSTPONED:
            return _postponed(run, intent, event)
        case OutcomeKind.WITHHELD:
            return _back(run, intent, event)


def reconcile(run: Run, snapshot: Snapshot) -> Run:
    """Settle an intent of unknown outcome by what is there."""
    intent = run.intent
    if intent is None or not intent.unknown:
        return run
    found = look_for(intent, snapshot)
    match found.finding:
        case Finding.ADOPT:
            if needs_settling(intent.order):
                what = reason(Code.ADOPTED, order=natural_key(intent.order))
                run = tell(run, f"adopted:{intent.op}", snapshot.at, what)
            return _accepted(run, intent, snapshot.at, found.detail, repeatable=not needs_settling(intent.order))
        case Finding.SOMEBODY_ELSE | Finding.POSSIBLE_DOUBLE:
            return _stopped(run, snapshot, found)
        case Finding.NOTHING_YET:
            return _nothing(run, intent, snapshot)


def _stopped(run: Run, snapshot: Snapshot, found: Found) -> Run:
    assert found.why is not None
    return stop_run(run, snapshot, found.why)


def _nothing(run: Run, intent: Intent, snapshot: Snapshot) -> Run:
    """Nothing shows. What may show late gets its time and several equal looks before it counts as not started."""
    late = needs_settling(intent.order)
    if late and not settled(intent, snapshot, run.policy.durations.settle):
        return replace(run, intent=replace(intent, seen=intent.seen + 1))
    step = step_of(run, intent.step_key)
    run = replace(run, intent=None)
    if run.phase is RunPhase.ABORTING or run.held or (not late and intent.attempt >= run.policy.attempts):
        return with_step(run, replace(step, phase=_resting(step), queue=()))
    if intent.attempt >= run.policy.attempts:
        why = reason(Code.NOT_STARTED, order=natural_key(intent.order), attempts=intent.attempt)
        note = reason(Code.STEP_FAILED, why, step=step.key)
        run = tell(run, f"failed:{step.key}:{intent.op}", snapshot.at, note)
        return with_step(run, replace(step, phase=StepPhase.FAILED, note=why, queue=()))
    if not _still_good(run, step, intent.order, snapshot):
        return with_step(run, replace(step, phase=_resting(step), queue=()))
    opened = open_intent(run, step, intent.order, snapshot, intent.attempt + 1)
    assert opened.intent is not None
    return replace(opened, intent=replace(opened.intent, known_workers=intent.known_workers))


def _still_good(run: Run, step: StepRun, order: Order, snapshot: Snapshot) -> bool:
    """Whether an order that never left would be decided again, by the world as it is now."""
    found, scope = STEPS[step.kind], Scope(run, step)
    return not found.check(snapshot, scope) and order in found.act(snapshot, scope)


def _resting(step: StepRun) -> StepPhase:
    """The phase from which a step would order again: with its approval if it has one; never out of an open question."""
    if step.phase is not StepPhase.ACTING:
        return step.phase
    return StepPhase.APPROVED if step.approval else StepPhase.DUE


def _accepted(run: Run, intent: Intent, at: datetime, detail: str, *, repeatable: bool = False) -> Run:
    run = _trace(replace(run, intent=None), intent.order, detail, at)
    step = step_of(run, intent.step_key)
    left = step.queue[1:] if step.queue and step.queue[0] == intent.order else ()
    if isinstance(intent.order, ONCE):
        step = replace(step, ordered_at=at)
    if step.phase is not StepPhase.ACTING and not isinstance(intent.order, ONCE):
        return with_step(run, step)  # it went another way before the answer came: done, or asked again
    if repeatable:  # seen by looking, not answered: let `act` look what is still missing
        return with_step(run, replace(step, queue=(), phase=StepPhase.VERIFYING))
    step = replace(step, queue=left, phase=StepPhase.ACTING if left else StepPhase.VERIFYING)
    return _next(with_step(run, step), step, at)


def _next(run: Run, step: StepRun, at: datetime) -> Run:
    """Give the step's next order, unless somebody has paused or aborted meanwhile."""
    halted = run.held or (run.phase is RunPhase.ABORTING and step.kind.value != "undo")
    if not step.queue or halted:
        return with_step(run, replace(step, queue=(), phase=StepPhase.VERIFYING)) if step.queue else run
    opened = open_intent(run, step, step.queue[0], None)
    assert opened.intent is not None
    return replace(opened, intent=replace(opened.intent, opened_at=at))


def _trace(run: Run, order: Order, detail: str, at: datetime) -> Run:
    match order:
        case CordonNode():
            return replace(run, cordons={**run.cordons, order.uid: order.worker_id})
        case UncordonNode():
            left = {uid: worker for uid, worker in run.cordons.items() if uid != order.uid}
            run = tell(run, f"uncordoned:{order.uid}", at, reason(Code.UNCORDONED, node=order.node))
            return replace(run, cordons=left)
        case LabelNode():
            removed = all(value is None for value in order.labels.values())
            kept = tuple(uid for uid in run.labelled if uid != order.uid)
            if removed:
                run = tell(run, f"unlabelled:{order.uid}", at, reason(Code.UNLABELLED, node=order.node))
            return replace(run, labelled=kept if removed else (*kept, order.uid))
        case CreatePool():
            return replace(run, temporary_pool=TemporaryPool(order.name, detail, at))
        case _:
            return run


def _refused(run: Run, intent: Intent, event: Ordered) -> Run:
    step = step_of(run, intent.step_key)
    why = reason(Code.ORDER_REFUSED, event.reason, order=natural_key(intent.order))
    run = replace(run, intent=None)
    if step.phase is StepPhase.AWAITING_APPROVAL:
        return run  # the question about it is open again: whoever answers decides on what is true now
    note = reason(Code.STEP_FAILED, why, step=step.key)
    run = tell(run, f"failed:{step.key}:{intent.op}", event.at, note)
    return with_step(run, replace(step, phase=StepPhase.FAILED, note=why, queue=()))


def _postponed(run: Run, intent: Intent, event: Ordered) -> Run:
    """Not now: evictions of other pods go on; a once-only call is asked again after a check, later."""
    step = step_of(run, intent.step_key)
    run = replace(run, intent=None)
    again = event.at + run.policy.durations.evict_retry
    if isinstance(intent.order, EvictPod) and step.phase is StepPhase.ACTING:
        left = step.queue[1:]
        step = replace(
            step, note=event.reason, retry_at=again, queue=left, phase=StepPhase.ACTING if left else StepPhase.VERIFYING
        )
        return _next(with_step(run, step), step, event.at)
    return with_step(run, replace(step, note=event.reason, retry_at=again, queue=(), phase=_resting(step)))


def _back(run: Run, intent: Intent, event: Ordered) -> Run:
    """Nothing left the product: the step rests and tries again later."""
    step = step_of(run, intent.step_key)
    again = event.at + run.policy.durations.evict_retry
    resting = replace(step, note=event.reason, retry_at=again, queue=(), phase=_resting(step))
    return with_step(replace(run, intent=None), resting)
