"""What people's words do to a run in each phase, and what is said to them alone."""

from dataclasses import replace

import pytest

from state.effects import Answer
from state.events import (
    AbortRequested,
    Approved,
    Braked,
    ContinueRequested,
    Observed,
    Ordered,
    OutcomeKind,
    PauseRequested,
    Person,
    Rejected,
    ResumeRequested,
    RetryRequested,
)
from state.machine import transition
from state.reasons import Code, reason
from state.run import Decision, Goal, Pause, RunPhase, StepKind, StepPhase, StepRun
from tests.builders import START, one_worker, run, two_workers
from tests.core.driving import drive, in_phase, kinds, ordered, settle, step
from tests.core.model import APPROVER, OPERATOR, Drive, Model
from tests.core.worlds import fixed

Steering = PauseRequested | ResumeRequested | RetryRequested | AbortRequested
STEERING: tuple[type[Steering], ...] = (PauseRequested, ResumeRequested, RetryRequested, AbortRequested)
DUE = (StepRun("update-master", StepKind.UPDATE_MASTER),)


@pytest.mark.parametrize("phase", RunPhase)
@pytest.mark.parametrize("kind", STEERING)
def test_given_any_phase_when_somebody_without_rights_speaks_then_they_are_told_and_nothing_changes(
    kind: type[Steering], phase: RunPhase
) -> None:
    before = fixed(phase=phase)
    nobody = Person("U0NOBODY", channel="C1")

    told = transition(before, kind(START, "t1", nobody))

    assert told.run == before
    assert Answer(nobody, reason(Code.NOT_OPERATOR, user="U0NOBODY")) in told.effects


@pytest.mark.parametrize("phase", [RunPhase.DONE, RunPhase.ABORTED])
@pytest.mark.parametrize("kind", STEERING)
def test_given_an_ended_run_when_steered_then_there_is_nothing_to_do(kind: type[Steering], phase: RunPhase) -> None:
    d = Drive(Model(two_workers()), fixed(phase=phase))

    d.say(kind)

    assert d.run.phase is phase
    assert [a.code for a in d.answers] == [Code.NOTHING_TO_DO]


def test_given_a_pause_when_time_passes_then_looking_goes_on_and_ordering_does_not() -> None:
    d = drive(two_workers(), ordered("UpdateMaster"))
    d.say(PauseRequested)
    before = list(d.model.journal)

    d.go(ticks=40)

    assert d.model.journal == before
    assert step(d, StepKind.UPDATE_MASTER).phase is StepPhase.DONE
    assert not any(a.decision is None for a in d.run.approvals)
    d.say(ResumeRequested)
    d.go()
    assert d.run.phase is RunPhase.DONE


def test_given_a_paused_run_when_paused_again_then_it_is_said_by_whom() -> None:
    d = Drive(Model(two_workers()), fixed(phase=RunPhase.ACTIVE, steps=DUE))
    d.say(PauseRequested)

    d.say(PauseRequested)

    assert [(a.code, a.text("by")) for a in d.answers] == [(Code.PAUSED, "U0OPERATOR1")]


@pytest.mark.parametrize("held", ["paused", "braked", "both"])
def test_given_a_run_that_is_held_when_approved_or_resumed_then_the_person_reads_what_it_waits_for(held: str) -> None:
    d = drive(two_workers(), in_phase(StepKind.UPDATE_MASTER, StepPhase.AWAITING_APPROVAL))
    d.approve = False
    if held != "braked":
        d.say(PauseRequested)
    if held != "paused":
        d.send(Braked(d.at, reason(Code.BRAKE, by="U0OPERATOR1")))

    d.click()

    wanted = reason(Code.PAUSED, by="U0OPERATOR1", here="gpu-multi") if held == "paused" else d.run.brake
    assert d.answers == [wanted]
    assert step(d, StepKind.UPDATE_MASTER).phase is StepPhase.APPROVED
    assert "UpdateMaster" not in kinds(d)
    d.say(ResumeRequested)
    assert d.answers[1:] == ([] if held == "paused" else [d.run.brake])
    assert ("UpdateMaster" in kinds(d)) is (held == "paused")


def test_given_a_running_run_when_resumed_then_there_is_nothing_to_do() -> None:
    d = Drive(Model(two_workers()), fixed(phase=RunPhase.ACTIVE))

    d.say(ResumeRequested)

    assert [a.code for a in d.answers] == [Code.NOTHING_TO_DO]


def test_given_a_pause_between_two_orders_of_a_batch_when_the_first_is_answered_then_the_second_waits() -> None:
    d = drive(two_workers(), in_phase(StepKind.MOVE_WORKLOADS, StepPhase.AWAITING_APPROVAL))
    question = d.run.approvals[-1]
    for event in (
        Approved(d.at, "t1", APPROVER, question.id, question.revision),
        Observed(d.at, d.model.snapshot),
        PauseRequested(d.at, "t2", OPERATOR),
    ):
        d.run = transition(d.run, event).run
    assert d.run.intent is not None
    assert len(step(d, StepKind.MOVE_WORKLOADS).queue) == 3

    d.run = transition(d.run, Ordered(d.at, d.run.intent.op, OutcomeKind.ACCEPTED)).run

    assert d.run.intent is None
    assert step(d, StepKind.MOVE_WORKLOADS).queue == ()
    assert list(d.run.cordons.values()) == ["w1"]


# --- retry


def failed(kind: StepKind, **changes: object) -> Drive:
    steps = (StepRun(kind.value, kind, phase=StepPhase.FAILED, note=reason(Code.DEADLINE), **changes),)  # type: ignore[arg-type]
    d = Drive(Model(two_workers()), fixed(phase=RunPhase.ACTIVE, steps=steps))
    d.approve = False
    return d


@pytest.mark.parametrize(
    ("d", "phase"),
    [
        (failed(StepKind.UPDATE_MASTER, ordered_at=START), StepPhase.VERIFYING),
        (failed(StepKind.UPDATE_MASTER), StepPhase.DUE),
    ],
    ids=["ordered already", "not ordered"],
)
def test_given_a_failed_step_when_retried_then_it_never_orders_what_was_ordered(d: Drive, phase: StepPhase) -> None:
    d.say(RetryRequested)

    assert d.run.steps[0].phase is phase
    assert d.model.journal == []
    assert d.run.pause is None


@pytest.mark.parametrize(
    ("phase", "pause", "told"),
    [
        (RunPhase.ACTIVE, None, []),
        (RunPhase.ACTIVE, Pause("U", START, reason(Code.PAUSED)), [Code.NOTHING_TO_DO]),
        (RunPhase.PLANNING, None, [Code.NOTHING_TO_DO]),
        (RunPhase.PREPARED, None, [Code.NOTHING_TO_DO]),
    ],
    ids=["a step is due", "paused", "planning", "prepared"],
)
def test_given_nothing_failed_when_retried_then_it_looks_or_says_so(
    phase: RunPhase, pause: Pause | None, told: list[Code]
) -> None:
    d = Drive(Model(two_workers()), fixed(phase=phase, pause=pause, steps=DUE if phase is RunPhase.ACTIVE else ()))

    d.say(RetryRequested)

    assert [a.code for a in d.answers] == told


def test_given_a_blocked_plan_when_retried_then_it_is_made_anew() -> None:
    d = Drive(Model(two_workers()), run())
    d.approve = False
    d.go(ticks=1)
    first = d.run.approvals[0]

    d.say(RetryRequested)

    assert d.run.approvals[0] == replace(first, decision=Decision.WITHDRAWN, decided_at=d.at)
    assert (d.run.phase, len(d.run.approvals)) == (RunPhase.PLANNED, 2)


# --- start on a prepared run


def test_given_a_prepared_run_when_started_then_what_is_prepared_is_skipped() -> None:
    d = drive(two_workers(), lambda d: d.run.phase is RunPhase.PREPARED, goal=Goal.PREPARE)

    d.say(ContinueRequested)
    d.go()

    assert d.run.phase is RunPhase.DONE
    assert kinds(d).count("InstallChart") == 1
    assert kinds(d).count("LabelNode") == 2


def test_given_a_run_that_is_not_prepared_when_started_then_it_exists_already() -> None:
    d = Drive(Model(two_workers()), fixed(phase=RunPhase.ACTIVE))

    d.say(ContinueRequested)

    assert [a.code for a in d.answers] == [Code.RUN_EXISTS]


# --- no


def test_given_a_no_to_the_plan_when_said_then_the_run_ends_and_nothing_was_done() -> None:
    d = Drive(Model(two_workers()), run())
    d.approve = False
    d.go(ticks=1)

    d.say(Rejected, APPROVER, approval=d.run.approvals[0].id, revision=1)

    assert d.run.phase is RunPhase.ABORTED
    assert d.run.ending is not None
    assert d.run.ending.code is Code.REJECTED
    assert d.model.journal == []


def test_given_a_no_to_a_step_when_said_then_the_run_pauses_and_resume_asks_again() -> None:
    d = drive(two_workers(), in_phase(StepKind.UPDATE_MASTER, StepPhase.AWAITING_APPROVAL))
    question = d.run.approvals[-1]

    d.say(Rejected, APPROVER, approval=question.id, revision=question.revision)
    settle(d)

    assert d.run.pause is not None
    assert d.run.pause.reason.code is Code.REJECTED
    assert "UpdateMaster" not in kinds(d)
    d.say(ResumeRequested)
    assert d.run.approvals[-1].id != question.id
    assert d.run.approvals[-1].decision is None


def test_given_a_no_to_the_removal_when_said_then_the_pool_stays_and_the_migration_is_done() -> None:
    d = drive(one_worker(), in_phase(StepKind.REMOVE_TEMPORARY_POOL, StepPhase.AWAITING_APPROVAL))
    question = d.run.approvals[-1]

    d.say(Rejected, APPROVER, approval=question.id, revision=question.revision)
    settle(d)

    assert d.run.phase is RunPhase.DONE
    assert "RemovePool" not in kinds(d)
