"""Calls that the other side puts off again and again: patience ends at the step's deadline (B041, B046)."""

from datetime import timedelta

import pytest

from state.events import OutcomeKind, RetryRequested
from state.reasons import Code, Reason
from state.run import RunPhase, StepKind, StepPhase
from tests.builders import one_worker, two_workers
from tests.core.driving import codes, drive, in_phase, look, ordered, outcome, settle, step, until_open
from tests.core.model import Drive

BUSY = Reason(
    Code.IKS_BUSY, {"status": 400, "code": "Ef9cc", "message": "The master is not in deployed state", "incident": "i-1"}
)


def put_off(d: Drive, kind: StepKind, how: OutcomeKind) -> None:
    """Answer each call of a step with "not now" until it gives up."""
    for _ in range(500):
        if d.run.intent is not None:
            outcome(d, how, BUSY)
        d.model.tick()
        look(d)
        if step(d, kind).phase is StepPhase.FAILED:
            return
    raise AssertionError(step(d, kind))


@pytest.mark.parametrize("how", [OutcomeKind.POSTPONED, OutcomeKind.WITHHELD])
def test_given_a_master_that_is_always_busy_when_the_deadline_passes_then_a_human_is_told_with_the_code(
    how: OutcomeKind,
) -> None:
    d = drive(two_workers(), in_phase(StepKind.UPDATE_MASTER, StepPhase.AWAITING_APPROVAL))
    d.approve = False
    until_open(d, "UpdateMaster")

    put_off(d, StepKind.UPDATE_MASTER, how)

    stuck = step(d, StepKind.UPDATE_MASTER)
    assert stuck.note is not None
    assert (stuck.note.code, stuck.note.cause) == (Code.DEADLINE, BUSY)
    assert codes(d).count(Code.STEP_STUCK) == 1
    assert stuck.started_at is not None
    assert d.at - stuck.started_at < d.run.policy.durations.master + timedelta(minutes=2)


def test_given_a_stuck_update_when_retried_then_it_is_ordered_again_and_has_its_time_anew() -> None:
    d = drive(two_workers(), in_phase(StepKind.UPDATE_MASTER, StepPhase.AWAITING_APPROVAL))
    d.approve = False
    until_open(d, "UpdateMaster")
    put_off(d, StepKind.UPDATE_MASTER, OutcomeKind.POSTPONED)

    d.say(RetryRequested)

    assert d.model.journal.count("UpdateMaster(d8397vk20kb65iocenn0 1.36.0)") == 1
    d.approve = True
    d.go()
    assert d.run.phase is RunPhase.DONE


def test_given_a_pool_that_is_refused_for_too_long_when_retried_then_it_goes_after_all() -> None:
    """B046: the clean-up is parked with the reason, and offered again."""
    d = drive(one_worker(), ordered("ReplaceWorker"))
    settle(d, 15)
    assert step(d, StepKind.REMOVE_TEMPORARY_POOL).phase is StepPhase.AWAITING_APPROVAL
    until_open(d, "EvictPod")
    assert d.run.intent is not None
    d.model.order(d.run.intent.order)
    outcome(d, OutcomeKind.ACCEPTED)
    put_off(d, StepKind.REMOVE_TEMPORARY_POOL, OutcomeKind.POSTPONED)

    d.say(RetryRequested)
    d.approve = True
    d.go()

    assert d.run.phase is RunPhase.DONE
    assert d.model.journal[-1].startswith("RemovePool")
