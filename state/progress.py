"""Move the steps of a run by one look: `verify` first, then `check`, then `act`, each step by its phase.

    due ──check──▶ awaiting-approval ──click──▶ approved ──check again──▶ acting ──outcome──▶ verifying ──▶ done
     └── no button needed ─────────────────────────▲                                  └─ deadline, broken ▶ failed
                                                                    (heals by itself once verify says done)

Only here do steps change on an observation. A step may begin when all steps in its `after` are done; one that has begun
is followed whatever happens to the others. Nothing here knows how orders travel.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from state.approval import find
from state.asking import ask, changed, marker, with_approval
from state.braking import held
from state.clocks import back_again, passed, patience, worked
from state.intents import open_intent
from state.news import tell
from state.reasons import Code, Reason, reason
from state.recovery import turned_away
from state.run import Decision, Run, RunPhase, StepKind, StepPhase, StepRun
from state.snapshot import Snapshot
from state.stepping import guard_old_nodes, reopen_labels, step_of, stop_run, with_step
from state.steps import STEPS
from state.steps.step import Broken, Done, Scope, Step, Verdict, Waiting

STARTED = (StepPhase.ACTING, StepPhase.VERIFYING)
_REASK = frozenset({Code.CORDON_LIFTED, Code.NEW_PODS})
_STOP = frozenset({Code.STRANGER, Code.POSSIBLE_DOUBLE, Code.OPERAND_ON_OLD_NODE})


@dataclass(frozen=True, slots=True)
class Look:
    """What one step is judged by."""

    snapshot: Snapshot
    step: Step


def advance(run: Run, snapshot: Snapshot) -> Run:
    """The run after its steps have seen `snapshot`; at most one new intent is open afterwards."""
    run = guard_old_nodes(reopen_labels(back_again(run, snapshot.at), snapshot), snapshot)
    for key in tuple(s.key for s in run.steps):
        step = step_of(run, key)
        if step.phase is StepPhase.DONE or not _eligible(run, step):
            continue
        run = _advance_one(run, step, snapshot)
    return run


def _eligible(run: Run, step: StepRun) -> bool:
    if run.phase is RunPhase.ABORTING and step.kind not in (StepKind.UNDO, StepKind.REMOVE_TEMPORARY_POOL):
        return False
    if run.phase is RunPhase.ABORTING and run.intent is not None:
        giving_back = step.kind is StepKind.UNDO and run.intent.step_key == step.key
        if not giving_back:
            return False  # an open call may close a node that then has to be opened, or be about the pool
    done = {s.key for s in run.steps if s.phase is StepPhase.DONE}
    done |= {s.key for s in run.steps if s.kind is StepKind.UNDO and s.phase is StepPhase.FAILED}
    return all(key in done for key in step.after) or step.phase in STARTED


def _advance_one(run: Run, step: StepRun, snapshot: Snapshot) -> Run:
    look = Look(snapshot, STEPS[step.kind])
    verdict = look.step.verify(snapshot, Scope(run, step))
    if isinstance(verdict, Done):
        return _done(run, step, snapshot)
    handler: dict[StepPhase, Callable[[Run, StepRun, Look, Verdict], Run]] = {
        StepPhase.DUE: _due,
        StepPhase.AWAITING_APPROVAL: _awaiting,
        StepPhase.APPROVED: _approved,
        StepPhase.ACTING: _acting,
        StepPhase.VERIFYING: _verifying,
        StepPhase.FAILED: _failed,
    }
    return handler[step.phase](run, step, look, verdict)


def _done(run: Run, step: StepRun, snapshot: Snapshot) -> Run:
    at = snapshot.at
    started = step.started_at or at
    run = with_step(
        run,
        replace(step, phase=StepPhase.DONE, started_at=started, finished_at=at, note=None, queue=(), deadline_at=None),
    )
    approval = find(run, step.approval)
    if approval is not None and approval.decision is None:
        run = with_approval(run, replace(approval, decision=Decision.WITHDRAWN, decided_at=at))
    if step.kind is StepKind.REPLACE_WORKER and run.baseline is not None:
        names = tuple(str(w.owner) for w in run.baseline.workloads)
        left = len(turned_away(snapshot, run.baseline)) or ""
        what = reason(Code.WORKLOADS_RECOVERED, workloads=names, after=step.key, rejected=left)
        run = tell(run, f"recovered:{step.key}", at, what)
    return run


def _due(run: Run, step: StepRun, look: Look, verdict: Verdict) -> Run:
    if run.held:
        return held(run, step, verdict.on if isinstance(verdict, Waiting) else None)
    scope = Scope(run, step)
    blockers = look.step.check(look.snapshot, scope)
    if blockers:
        return _blocked(run, step, look, blockers)
    if look.step.asks:
        card = look.step.card(look.snapshot, scope)
        run, asked = ask(run, step, _with_changes(step, card), look.snapshot.at)
        return with_step(run, replace(asked, note=reason(Code.WAIT_APPROVAL, step=step.key)))
    return _begin(run, step, look)


def _with_changes(step: StepRun, card: tuple[Reason, ...]) -> tuple[Reason, ...]:
    """A second question about a step opens with why it is asked again."""
    return (
        changed(card, (step.note,))
        if step.note is not None and step.note.code in _REASK | {Code.FACTS_CHANGED}
        else card
    )


def _blocked(run: Run, step: StepRun, look: Look, blockers: tuple[Reason, ...]) -> Run:
    """Say what forbids it; send the question back when what was approved no longer holds."""
    first = blockers[0]
    stop = next((b for b in blockers if b.code in _STOP), None)
    if stop is not None:
        return stop_run(run, look.snapshot, stop)
    if step.kind is StepKind.REPLACE_WORKER and any(b.code in _REASK for b in blockers):
        why = next(b for b in blockers if b.code in _REASK)
        move = step_of(run, f"{StepKind.MOVE_WORKLOADS.value}/{step.worker_id}")
        if move.phase is StepPhase.DONE:
            run = with_step(run, _reset(move, why))
        return with_step(run, _reset(step, reason(Code.WAIT_OTHER_STEP, why, step=move.key)))
    return with_step(run, _reset(step, first))


def _reset(step: StepRun, note: Reason) -> StepRun:
    fresh = replace(step, started_at=None, finished_at=None, deadline_at=None, rested=timedelta(0))
    return replace(fresh, phase=StepPhase.DUE, note=note, approval="", queue=())


def _awaiting(run: Run, step: StepRun, look: Look, _verdict: Verdict) -> Run:
    """Keep the open card true while nobody has answered."""
    if run.held:
        return run
    scope = Scope(run, step)
    blockers = look.step.check(look.snapshot, scope)
    if blockers:
        approval = find(run, step.approval)
        if approval is not None:
            closed = replace(approval, decision=Decision.WITHDRAWN, decided_at=look.snapshot.at)
            run = with_approval(run, closed)
        return _blocked(run, step, look, blockers)
    run, asked = ask(run, step, look.step.card(look.snapshot, scope), look.snapshot.at)
    return with_step(run, asked)


def _approved(run: Run, step: StepRun, look: Look, _verdict: Verdict) -> Run:
    """The click was good; is the world still the one that was shown?"""
    if run.held:
        return held(run, step)
    scope = Scope(run, step)
    blockers = look.step.check(look.snapshot, scope)
    if blockers:
        return _blocked(run, step, look, blockers)
    approval = find(run, step.approval)
    card = look.step.card(look.snapshot, scope)
    if approval is not None and approval.marker != marker(card) and step.started_at is None:
        return with_step(run, _reset(step, reason(Code.FACTS_CHANGED, step=step.key)))
    return _begin(run, step, look)


def _begin(run: Run, step: StepRun, look: Look) -> Run:
    """Decide the orders and open the intent of the first; no orders means it is under way already."""
    at = look.snapshot.at
    if step.retry_at is not None and at < step.retry_at:
        return run
    deadline = step.deadline_at or at + patience(run, step)
    started = replace(step, started_at=step.started_at or at, deadline_at=deadline, retry_at=None)
    if run.intent is not None or run.held or run.policy.observe:
        return run
    if at > deadline:
        return fail(run, step, _late(step, step.note, look), look)
    orders = look.step.act(look.snapshot, Scope(run, step))
    if not orders:
        return with_step(run, replace(started, phase=StepPhase.VERIFYING))
    acting = replace(started, phase=StepPhase.ACTING, queue=orders)
    return open_intent(with_step(run, acting), acting, orders[0], look.snapshot)


def _acting(run: Run, step: StepRun, look: Look, _verdict: Verdict) -> Run:
    """An order of this step is under way. Without an open intent (it was dropped) look again what to order."""
    if run.intent is not None:
        return run
    return _begin(run, replace(step, queue=()), look)


def _verifying(run: Run, step: StepRun, look: Look, verdict: Verdict) -> Run:
    if isinstance(verdict, Broken):
        return fail(run, step, verdict.why, look)
    assert isinstance(verdict, Waiting)
    if passed(run, step, look.snapshot.at):
        return fail(run, step, _late(step, verdict.on, look), look)
    if step.note != verdict.on and not _keeps(step, look):
        step = replace(step, note=verdict.on)
        run = with_step(run, step)
    return _again(run, step, look)


def _keeps(step: StepRun, look: Look) -> bool:
    """A blocked eviction is the better answer to "what does it wait for" until it is tried again."""
    told = step.note is not None and step.note.code in (Code.EVICTION_BLOCKED, Code.EVICTION_MISCONFIGURED)
    return told and step.retry_at is not None and look.snapshot.at < step.retry_at


_MANY_ORDERS = (StepKind.MOVE_WORKLOADS, StepKind.REMOVE_TEMPORARY_POOL, StepKind.LABEL_NODES, StepKind.UNDO)


def _again(run: Run, step: StepRun, look: Look) -> Run:
    """Steps of many idempotent orders give what is still missing; once-only orders are never given from here."""
    if step.kind not in _MANY_ORDERS or step.ordered_at is not None:
        return run
    if run.held or run.intent is not None:
        return run
    return _begin(run, step, look)


def _late(step: StepRun, waited_for: Reason | None, look: Look) -> Reason:
    return reason(Code.DEADLINE, waited_for, step=step.key, seconds=worked(step, look.snapshot.at))


def fail(run: Run, step: StepRun, why: Reason, look: Look) -> Run:
    """The step needs a human; it still heals by itself when `verify` turns good."""
    if why.code in _REASK:
        return with_step(run, _reset(step, why))
    at = look.snapshot.at
    code = Code.STEP_STUCK if why.code is Code.DEADLINE else Code.STEP_FAILED
    run = tell(run, f"failed:{step.key}:{at.isoformat()}", at, reason(code, why, step=step.key))
    return with_step(run, replace(step, phase=StepPhase.FAILED, note=why, queue=()))


def _failed(run: Run, _step: StepRun, _look: Look, _verdict: Verdict) -> Run:
    """Stays failed; `_done` has already caught the case that it healed."""
    return run
