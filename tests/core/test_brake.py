"""The brake of the fleet as one run sees it, and a journal that lost history."""

from dataclasses import replace
from datetime import timedelta

import pytest

from state import marks
from state.braking import failures, told_reason, why
from state.events import Approved, Braked, Observed, Ordered, OutcomeKind, ResumeRequested, Rewound, TurnedAway
from state.journal import Brake
from state.machine import transition
from state.reasons import Code, Reason, reason
from state.run import Intent, RunPhase, StepPhase
from tests.builders import START, run, two_workers
from tests.core.model import APPROVER, OPERATOR, Drive, Model

SET = why(Brake("U0OPERATOR1", "stop-all", START))


def begun() -> Drive:
    """Labels are set and the operator is installed; the control plane's question is open."""
    drive = Drive(Model(two_workers()), run())
    drive.go(ticks=4)
    return drive


def codes(drive: Drive) -> list[Code]:
    return [note.reason.code for note in drive.run.notes]


def test_given_a_brake_when_time_passes_then_nothing_is_ordered_or_asked_until_it_is_lifted() -> None:
    drive = Drive(Model(two_workers()), run())
    drive.send(Braked(drive.at, SET))
    drive.go(ticks=20)

    assert not drive.run.phase.ended
    assert drive.model.journal == []
    assert drive.run.steps[0].note == SET
    assert codes(drive).count(Code.BRAKE) == 1
    drive.send(Braked(drive.at, None))
    drive.go()
    assert drive.run.phase is RunPhase.DONE
    assert len(drive.model.journal) == 10


def test_given_a_brake_when_told_of_again_and_again_then_the_run_hears_it_once() -> None:
    first = transition(run(phase=RunPhase.ACTIVE), Braked(START, SET)).run

    assert transition(first, Braked(START + timedelta(seconds=1), SET)).run == first


def opened() -> tuple[Drive, Intent]:
    """The first label's intent is open, its call is on its way."""
    drive = Drive(Model(two_workers()), run())
    drive.approve = False
    drive.go(ticks=1)
    question = drive.run.approvals[0]
    approved = Approved(drive.at, "t", APPROVER, question.id, question.revision)
    drive.run = transition(transition(drive.run, approved).run, Observed(drive.at, drive.model.snapshot)).run
    assert drive.run.intent is not None
    return drive, drive.run.intent


def test_given_a_withheld_call_when_looking_at_once_then_it_is_not_tried_again() -> None:
    drive, intent = opened()
    withheld = transition(drive.run, Ordered(drive.at, intent.op, OutcomeKind.WITHHELD, SET)).run
    again = transition(withheld, Observed(drive.at, drive.model.snapshot))

    assert again.run.intent is None
    assert again.run.steps[0].note == SET
    assert again.wake_at is not None
    assert again.wake_at > drive.at


def test_given_a_brake_between_two_orders_of_a_step_when_the_first_is_accepted_then_the_second_waits() -> None:
    drive, intent = opened()
    assert len(drive.run.steps[0].queue) == 2
    braked = transition(drive.run, Braked(drive.at, SET)).run
    after = transition(braked, Ordered(drive.at, intent.op, OutcomeKind.ACCEPTED)).run

    assert braked.intent == intent
    assert after.intent is None


def test_given_resume_under_the_brake_when_the_run_is_not_paused_then_the_brake_is_the_answer() -> None:
    drive = begun()
    drive.send(Braked(drive.at, SET))
    drive.say(ResumeRequested)

    assert drive.answers[-1] == SET


def test_given_a_brake_of_the_count_when_read_back_then_it_names_the_clusters() -> None:
    found = why(Brake("", told_reason(["b", "a"]), START))

    assert isinstance(found, Reason)
    assert found.cause == reason(Code.RUNS_FAILED, clusters=("a", "b"))
    assert why(None) is None


def test_given_failed_steps_when_counted_then_only_new_failures() -> None:
    drive = begun()
    before = drive.run.notes
    failed = replace(drive.run, notes=(*before, replace(before[0], key="failed:x", reason=reason(Code.STEP_FAILED))))

    assert [note.key for note in failures(failed.notes, before)] == ["failed:x"]
    assert failures(failed.notes, failed.notes) == ()


def test_given_a_refused_click_when_taken_then_nothing_changes_and_nobody_is_told_twice() -> None:
    drive = begun()
    event = TurnedAway(drive.at, "t", OPERATOR, "gm:approve", reason(Code.NOT_APPROVER, user="U9"), "r-1:1", 1)
    step = transition(drive.run, event)

    assert step.run == drive.run
    assert step.effects == ()


def test_given_an_older_journal_when_noticed_then_the_run_pauses_and_says_so() -> None:
    drive = begun()
    drive.send(Rewound(drive.at, known=9, found=4))

    assert drive.run.pause is not None
    assert drive.run.pause.reason.code is Code.STORE_REWOUND
    assert Code.STORE_REWOUND in codes(drive)


@pytest.mark.parametrize("place", ["lease", "node"])
def test_given_a_mark_of_a_later_operation_when_looking_then_the_run_pauses_once_and_counts_on(place: str) -> None:
    drive = begun()
    mark = {f"{marks.PREFIX}{k}": v for k, v in marks.facts(replace(drive.run, ops=99), 3, "bot.1", START).items()}
    kubernetes = drive.model.snapshot.kubernetes
    nodes = tuple(replace(node, annotations=mark) for node in kubernetes.nodes)
    marked = replace(kubernetes, marker=mark) if place == "lease" else replace(kubernetes, nodes=nodes)
    drive.model.snapshot = replace(drive.model.snapshot, kubernetes=marked)
    ordered = len(drive.model.journal)
    drive.go(ticks=5)

    assert drive.run.pause is not None
    assert drive.run.ops == 99
    assert len(drive.model.journal) == ordered
    drive.say(ResumeRequested)
    drive.go()
    assert drive.run.phase is RunPhase.DONE
    assert codes(drive).count(Code.STORE_REWOUND) == 1
    assert all(step.phase is StepPhase.DONE for step in drive.run.steps)
