"""A run that is aborted while its temporary pool is made, emptied, or gone: nothing raises, and nothing is left unsaid."""

from dataclasses import replace

import pytest

from state.events import AbortRequested, OutcomeKind
from state.machine import transition
from state.reasons import Code
from state.run import RunPhase, StepKind, StepPhase
from tests.builders import one_worker
from tests.core.driving import codes, drive, in_phase, kinds, look, lost, outcome, phase, settle, step, until_open
from tests.core.model import OPERATOR, Drive
from tests.core.worlds import kubernetes


def abort(d: Drive) -> None:
    """As heard, without the look that follows."""
    d.run = transition(d.run, AbortRequested(d.at, "t", OPERATOR)).run


def making() -> Drive:
    d = drive(one_worker(), in_phase(StepKind.ADD_TEMPORARY_POOL, StepPhase.AWAITING_APPROVAL))
    d.approve = False
    until_open(d, "CreatePool")
    return d


def test_given_a_pool_whose_answer_was_lost_when_aborted_then_it_is_found_and_its_removal_offered() -> None:
    d = making()
    lost(d)
    abort(d)

    settle(d, 10)

    assert phase(d) is RunPhase.ABORTING
    assert d.run.temporary_pool is not None
    assert d.run.temporary_pool.id == "pool-temp"
    assert step(d, StepKind.REMOVE_TEMPORARY_POOL).phase is StepPhase.AWAITING_APPROVAL
    d.click()
    settle(d, 10)
    assert phase(d) is RunPhase.ABORTED
    assert "RemovePool" in kinds(d)


def test_given_a_pool_that_was_never_made_when_aborted_then_the_run_ends_and_offers_nothing() -> None:
    d = making()
    outcome(d, OutcomeKind.UNKNOWN)
    abort(d)

    settle(d, 10)

    assert phase(d) is RunPhase.ABORTED
    assert step(d, StepKind.REMOVE_TEMPORARY_POOL).phase is StepPhase.DONE
    assert not any(a.step_key == "remove-temporary-pool" for a in d.run.approvals)
    assert "CreatePool" not in kinds(d)


@pytest.mark.parametrize("word", ["CordonNode", "EvictPod", "RemovePool"])
@pytest.mark.parametrize("how", OutcomeKind)
def test_given_a_pool_that_is_being_emptied_when_aborted_then_every_answer_is_taken(
    word: str, how: OutcomeKind
) -> None:
    d = drive(one_worker(), in_phase(StepKind.REMOVE_TEMPORARY_POOL, StepPhase.AWAITING_APPROVAL))
    d.approve = False
    until_open(d, word)
    d.run = replace(d.run, temporary_pool=None)  # as after a journal that lost history: found by its name
    given = len(kinds(d))
    abort(d)

    outcome(d, how)
    settle(d, 12)

    assert d.run.intent is None
    assert set(kinds(d)[given:]) <= {"UncordonNode"}, "no step of the removal without a new yes"


def test_given_a_workload_that_is_not_back_when_aborted_without_a_pool_then_no_empty_question_is_asked() -> None:
    d = making()
    d.model.snapshot = kubernetes(
        d.model.snapshot, workloads=tuple(replace(w, available=0) for w in d.model.snapshot.kubernetes.workloads)
    )
    outcome(d, OutcomeKind.REFUSED)
    abort(d)

    look(d)

    assert phase(d) is RunPhase.ABORTED
    assert Code.TEMPORARY_POOL_LEFT not in codes(d)
