"""What becomes of a run when a call is answered, refused, put off, or never heard of again."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from state.events import AbortRequested, Ordered, OutcomeKind
from state.machine import transition
from state.orders import (
    EvictPod,
)
from state.reasons import Code, Reason, reason
from state.run import RunPhase, StepKind, StepPhase
from state.snapshot import Snapshot
from tests.builders import one_worker, two_workers
from tests.core.driving import codes, drive, in_phase, kinds, look, lost, outcome, settle, step, until_open
from tests.core.model import OPERATOR, Drive
from tests.core.test_intents import successor
from tests.core.worlds import LATER, change_node


def asked() -> Drive:
    d = drive(two_workers(), in_phase(StepKind.MOVE_WORKLOADS, StepPhase.AWAITING_APPROVAL))
    d.approve = False
    until_open(d, "ReplaceWorker")
    return d


def looks(d: Drive, count: int) -> None:
    for _ in range(count):
        d.model.tick()
        look(d)


def test_given_a_call_that_never_left_when_settled_then_it_is_asked_again_with_the_first_baseline() -> None:
    d = asked()
    first = d.run.intent
    assert first is not None
    outcome(d, OutcomeKind.UNKNOWN)

    looks(d, 4)
    assert d.run.intent is not None
    assert (d.run.intent.op, d.run.intent.unknown) == (first.op, True)
    looks(d, 2)

    again = d.run.intent
    assert again is not None
    assert (again.order, again.attempt, again.known_workers) == (first.order, 2, first.known_workers)
    assert again.op != first.op


def test_given_two_attempts_that_never_left_when_settled_then_a_human_is_asked() -> None:
    d = asked()
    for _ in range(2):
        outcome(d, OutcomeKind.UNKNOWN)
        looks(d, 7)

    failed = step(d, StepKind.REPLACE_WORKER)
    assert failed.phase is StepPhase.FAILED
    assert failed.note is not None
    assert (failed.note.code, failed.note.facts["attempts"]) == (Code.NOT_STARTED, 2)
    assert d.run.intent is None


def test_given_a_call_that_took_effect_when_looked_then_it_is_adopted_and_said() -> None:
    d = asked()
    lost(d)

    look(d)

    assert d.run.intent is None
    assert step(d, StepKind.REPLACE_WORKER).ordered_at == d.at
    assert Code.ADOPTED in codes(d)
    settle(d)
    assert kinds(d).count("ReplaceWorker") == 1


@pytest.mark.parametrize(
    ("twist", "code"),
    [
        (successor, Code.STRANGER),
        (lambda w: successor(successor(w), "n2"), Code.POSSIBLE_DOUBLE),
    ],
    ids=["somebody else", "possible double"],
)
def test_given_workers_that_nobody_ordered_when_settling_then_the_run_stops_and_pages(
    twist: Callable[[Snapshot], Snapshot], code: Code
) -> None:
    d = asked()
    outcome(d, OutcomeKind.UNKNOWN)
    d.model.snapshot = twist(d.model.snapshot)

    look(d)

    assert d.run.pause is not None
    assert d.run.pause.reason.code is code
    assert code in codes(d)
    looks(d, 10)
    assert kinds(d).count("ReplaceWorker") == 0
    assert codes(d).count(code) == 1


REFUSED = Reason(Code.IKS_REFUSED, {"status": 400, "code": "E1437"})


def test_given_a_refusal_when_told_then_the_step_fails_in_the_other_sides_words() -> None:
    d = asked()

    outcome(d, OutcomeKind.REFUSED, REFUSED)

    failed = step(d, StepKind.REPLACE_WORKER)
    assert (failed.phase, d.run.intent) == (StepPhase.FAILED, None)
    assert failed.note is not None
    assert failed.note.cause == REFUSED
    assert Code.STEP_FAILED in codes(d)
    looks(d, 10)
    assert d.run.intent is None


@pytest.mark.parametrize("kind", [OutcomeKind.POSTPONED, OutcomeKind.WITHHELD])
def test_given_not_now_when_told_then_it_is_asked_again_after_a_while_and_not_before(kind: OutcomeKind) -> None:
    """B041: 400 while the master is busy is no failure."""
    d = asked()

    outcome(d, kind, Reason(Code.IKS_BUSY, {"status": 400, "code": "Ef9cc"}))
    waiting = step(d, StepKind.REPLACE_WORKER)
    look(d)

    assert waiting.phase is StepPhase.DUE
    assert waiting.retry_at == d.at + d.run.policy.durations.evict_retry
    assert d.run.intent is None
    looks(d, 1)
    assert d.run.intent is not None


def test_given_an_eviction_that_is_blocked_when_told_then_the_step_says_so_and_tries_again() -> None:
    """B023."""
    d = drive(two_workers(), in_phase(StepKind.MOVE_WORKLOADS, StepPhase.AWAITING_APPROVAL))
    d.approve = False
    until_open(d, "EvictPod")
    why = reason(Code.EVICTION_BLOCKED, pods=("default/gpu-burn-7d-46pml",), budget="default/guard", allowed=0)

    outcome(d, OutcomeKind.POSTPONED, why)
    look(d)

    moving = step(d, StepKind.MOVE_WORKLOADS)
    assert (moving.note, moving.phase) == (why, StepPhase.VERIFYING)
    looks(d, 1)
    assert d.run.intent is not None
    assert isinstance(d.run.intent.order, EvictPod)


@pytest.mark.parametrize("kind", OutcomeKind)
def test_given_an_outcome_of_another_intent_when_it_comes_late_then_nothing_changes(kind: OutcomeKind) -> None:
    run = asked().run

    assert transition(run, Ordered(LATER, "r-1:op999", kind)).run == run


def test_given_a_pool_when_its_answer_is_lost_then_its_id_is_found_by_its_name() -> None:
    d = drive(one_worker(), in_phase(StepKind.ADD_TEMPORARY_POOL, StepPhase.AWAITING_APPROVAL))
    d.approve = False
    until_open(d, "CreatePool")
    lost(d)

    look(d)

    assert d.run.temporary_pool is not None
    assert (d.run.temporary_pool.id, d.run.temporary_pool.name) == ("pool-temp", "temp-gpu-r-1")


def test_given_a_run_that_is_held_when_nothing_happened_then_it_is_not_asked_again() -> None:
    d = asked()
    outcome(d, OutcomeKind.UNKNOWN)
    d.run = replace(d.run, brake=reason(Code.BRAKE, at=LATER.isoformat()))

    looks(d, 8)

    assert (d.run.intent, d.run.phase) == (None, RunPhase.ACTIVE)
    assert step(d, StepKind.REPLACE_WORKER).phase is StepPhase.DUE


def reasked() -> Drive:
    """w1's pod was gone before its eviction was answered; then the cordon was lifted, and the question is open again."""
    d = drive(two_workers(), in_phase(StepKind.MOVE_WORKLOADS, StepPhase.AWAITING_APPROVAL))
    d.approve = False
    until_open(d, "EvictPod")
    assert d.run.intent is not None
    d.model.order(d.run.intent.order)
    look(d)
    d.model.snapshot = change_node(d.model.snapshot, "w1", unschedulable=False)
    looks(d, 2)
    assert step(d, StepKind.MOVE_WORKLOADS).phase is StepPhase.AWAITING_APPROVAL
    return d


@pytest.mark.parametrize("kind", OutcomeKind)
def test_given_a_question_that_is_open_again_when_an_old_answer_comes_late_then_nothing_is_done_unasked(
    kind: OutcomeKind,
) -> None:
    d = reasked()

    outcome(d, kind)
    looks(d, 3)

    assert step(d, StepKind.MOVE_WORKLOADS).phase is StepPhase.AWAITING_APPROVAL
    assert d.run.intent is None


def test_given_an_approved_removal_that_is_put_off_when_the_run_was_aborted_meanwhile_then_it_is_not_removed_unasked() -> (
    None
):
    d = drive(one_worker(), in_phase(StepKind.REMOVE_TEMPORARY_POOL, StepPhase.AWAITING_APPROVAL))
    d.approve = False
    until_open(d, "RemovePool")
    d.run = transition(d.run, AbortRequested(d.at, "t9", OPERATOR)).run
    looks(d, 2)

    outcome(d, OutcomeKind.POSTPONED, Reason(Code.IKS_BUSY, {"status": 400, "code": "E1437"}))
    settle(d, ticks=5)

    assert "RemovePool" not in kinds(d)
    assert d.run.phase in (RunPhase.ABORTING, RunPhase.ABORTED)
