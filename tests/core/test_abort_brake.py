"""An abort while all runs are stopped is taken at once; whatever would be a call waits for the brake, and says so."""

from state.braking import why
from state.events import AbortRequested, Approved, Braked, OutcomeKind
from state.journal import Brake
from state.reasons import Code
from state.run import RunPhase, StepKind, StepPhase
from tests.builders import START, one_worker, run, two_workers
from tests.core.driving import codes, drive, in_phase, kinds, look, outcome, phase, settle, step, until_open
from tests.core.model import APPROVER, Drive, Model

BRAKE = why(Brake("U0OPERATOR1", "stop-all", START))


def closed() -> Drive:
    """Two nodes are closed, one eviction is on its way."""
    d = drive(two_workers(), in_phase(StepKind.MOVE_WORKLOADS, StepPhase.AWAITING_APPROVAL))
    d.approve = False
    until_open(d, "EvictPod")
    return d


def brake(d: Drive) -> None:
    d.send(Braked(d.at, BRAKE))


def lift(d: Drive) -> None:
    d.send(Braked(d.at, None))


def test_given_the_brake_when_aborted_then_it_is_taken_and_what_is_given_back_waits_for_the_brake() -> None:
    d = closed()
    brake(d)
    given = len(kinds(d))

    d.say(AbortRequested)
    outcome(d, OutcomeKind.ACCEPTED)
    settle(d, 5)

    assert phase(d) is RunPhase.ABORTING
    assert kinds(d)[given:] == [], "nothing leaves under the brake"
    note = step(d, StepKind.UNDO).note
    assert note is not None
    assert (note.code, note.cause) == (Code.UNDO_WAITS, BRAKE)
    assert "10.240.0.64" in note.text("nodes")
    lift(d)
    settle(d, 5)
    assert phase(d) is RunPhase.ABORTED
    assert kinds(d)[given:] == ["UncordonNode", "UncordonNode"]


def test_given_the_brake_and_nothing_to_give_back_when_aborted_then_it_ends_at_once() -> None:
    d = drive(two_workers(), in_phase(StepKind.UPDATE_MASTER, StepPhase.AWAITING_APPROVAL))
    d.approve = False
    brake(d)

    d.say(AbortRequested)

    assert phase(d) is RunPhase.ABORTED
    assert Code.LABELS_KEPT in codes(d)


def test_given_the_brake_and_a_plan_when_aborted_then_it_ends_at_once() -> None:
    d = Drive(Model(two_workers()), run())
    d.approve = False
    d.go(ticks=1)
    brake(d)

    d.say(AbortRequested)

    assert phase(d) is RunPhase.ABORTED


def test_given_the_brake_and_a_temporary_pool_when_aborted_then_its_removal_is_offered_once_the_brake_is_lifted() -> (
    None
):
    d = drive(one_worker(), in_phase(StepKind.MOVE_WORKLOADS, StepPhase.AWAITING_APPROVAL))
    d.approve = False
    brake(d)

    d.say(AbortRequested)
    settle(d, 3)

    assert phase(d) is RunPhase.ABORTING
    assert step(d, StepKind.REMOVE_TEMPORARY_POOL).note == BRAKE
    d.say(AbortRequested)
    look(d)
    assert phase(d) is RunPhase.ABORTING, "a second abort leaves no pool while only the brake is in the way"
    lift(d)
    settle(d, 2)
    question = d.run.approvals[-1]
    assert (question.step_key, question.decision) == (StepKind.REMOVE_TEMPORARY_POOL.value, None)
    d.say(Approved, APPROVER, approval=question.id, revision=question.revision)
    settle(d, 10)
    assert phase(d) is RunPhase.ABORTED
    assert "RemovePool" in kinds(d)
