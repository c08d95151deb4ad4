"""Time that nobody could use does not count: pauses, the brake, a blind bot, a bot that was down."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from state.braking import why
from state.codec import decode, encode
from state.events import Braked, LookFailed, OutcomeKind, PauseRequested, ResumeRequested, RetryRequested
from state.journal import Brake
from state.machine import transition
from state.reasons import Code, reason
from state.run import Pause, Run, StepKind, StepPhase
from tests.builders import START, pod, run, two_workers
from tests.core.driving import codes, drive, in_phase, look, ordered, outcome, step, until_open
from tests.core.midway import asked, emptied, fresh, move, replaced, replacing, twist, wait
from tests.core.model import OPERATOR, Drive, Model
from tests.core.worlds import change_node, kubernetes, with_pods

NIGHT = timedelta(hours=9)
BRAKE = why(Brake("U0OPERATOR1", "stop-all", START))
AWAY = reason(Code.API_UNREACHABLE)


def draining() -> Drive:
    """w1 is closed; one of its pods takes its time. The step has half an hour, and used a minute or two."""
    d = emptied()
    twist(d, lambda w: with_pods(w, pod("slow-6f-1", "10.240.0.64", deleting_since=w.at)))
    look(d)
    assert move(d).phase is StepPhase.VERIFYING
    return d


def pause(d: Drive) -> None:
    d.say(PauseRequested)


def resume(d: Drive) -> None:
    d.say(ResumeRequested)


def brake(d: Drive) -> None:
    d.send(Braked(d.at, BRAKE))


def lift(d: Drive) -> None:
    d.send(Braked(d.at, None))


def blind(d: Drive) -> None:
    d.run = transition(d.run, LookFailed(d.at, AWAY)).run


@pytest.mark.parametrize(
    ("stop", "go"),
    [(pause, resume), (brake, lift), (blind, look)],
    ids=["paused", "braked", "the API server is away"],
)
def test_given_a_night_in_which_nothing_could_be_done_when_it_goes_on_then_the_step_has_its_time_left(
    stop: Callable[[Drive], None], go: Callable[[Drive], None]
) -> None:
    d = draining()
    stop(d)
    for _ in range(9):
        wait(d, NIGHT / 9)
        (blind if stop is blind else look)(d)
        assert move(d).phase is StepPhase.VERIFYING, "no clock of ours runs"

    go(d)
    look(d)

    assert move(d).phase is StepPhase.VERIFYING
    assert Code.STEP_STUCK not in codes(d)
    wait(d, timedelta(minutes=31))
    look(d)
    note = move(d).note
    assert (move(d).phase, note.code) == (StepPhase.FAILED, Code.DEADLINE)
    assert note.facts["seconds"] < timedelta(minutes=35).total_seconds(), "the night is not counted"


def test_given_a_pause_within_the_brake_within_a_silence_when_all_is_over_then_no_time_is_counted_twice() -> None:
    d = draining()
    left = move(d).deadline_at - d.at
    for act in (blind, brake, pause, look, lift, blind):
        act(d)
        wait(d, timedelta(hours=1))
        assert d.run.still_since is not None

    resume(d)

    assert d.run.still_since is None
    assert move(d).deadline_at - d.at == left


def test_given_a_replacement_under_way_when_paused_for_too_long_then_people_hear_and_it_heals_by_itself() -> None:
    """IBM goes on making the machine whatever we pause; nobody has to type retry for it."""
    d = drive(two_workers(), ordered("ReplaceWorker"))
    d.approve = False
    pause(d)
    wait(d, timedelta(minutes=91))
    look(d)
    assert replacing(d).phase is StepPhase.FAILED
    assert Code.STEP_STUCK in codes(d)
    for _ in range(8):
        d.model.tick()
        look(d)

    resume(d)

    assert replacing(d).phase is StepPhase.DONE


def test_given_a_replacement_that_came_in_the_night_when_resumed_then_it_is_done_and_nothing_was_late() -> None:
    d = drive(two_workers(), ordered("ReplaceWorker"))
    d.approve = False
    pause(d)
    for _ in range(8):
        d.model.tick()
        look(d)
    wait(d, NIGHT)

    resume(d)

    assert replacing(d).phase is StepPhase.DONE
    assert Code.STEP_STUCK not in codes(d)


# --- a bot that was down


def test_given_a_bot_that_was_down_when_it_looks_again_then_its_own_work_has_its_time_anew() -> None:
    d = draining()
    wait(d, NIGHT)

    look(d)

    assert move(d).phase is StepPhase.VERIFYING
    assert move(d).deadline_at == d.at + d.run.policy.durations.drain
    wait(d, d.run.policy.durations.drain + timedelta(seconds=20))
    look(d)
    assert move(d).phase is StepPhase.FAILED, "only once: now it was watched"


def test_given_a_bot_that_was_down_when_ibm_needed_its_time_then_one_fresh_look_is_judged_first() -> None:
    d = drive(two_workers(), in_phase(StepKind.UPDATE_MASTER, StepPhase.VERIFYING))
    d.approve = False
    wait(d, NIGHT)
    blind(d)
    assert step(d, StepKind.UPDATE_MASTER).phase is StepPhase.VERIFYING, "nothing was seen yet"
    d.model.tick()
    d.model.tick()

    look(d)

    assert step(d, StepKind.UPDATE_MASTER).phase is StepPhase.DONE
    assert Code.STEP_STUCK not in codes(d)


def test_given_a_bot_that_was_down_when_fresh_looks_show_no_end_then_people_hear_soon() -> None:
    d = drive(two_workers(), in_phase(StepKind.UPDATE_MASTER, StepPhase.VERIFYING))
    d.approve = False
    wait(d, NIGHT)
    back = d.at
    while Code.STEP_STUCK not in codes(d):
        look(d)
        wait(d, timedelta(seconds=20))

    assert d.at - back < timedelta(minutes=6)
    assert step(d, StepKind.UPDATE_MASTER).phase is StepPhase.FAILED


def test_given_a_replacement_that_came_while_the_bot_was_down_when_back_then_nobody_hears_of_a_delay() -> None:
    """Its GPUs were never seen before, so they have to be good for a while first."""
    d = drive(two_workers(), ordered("ReplaceWorker"))
    d.approve = False
    for _ in range(8):
        d.model.tick()
    wait(d, NIGHT)
    look(d)
    assert (replacing(d).phase, replacing(d).note.code) == (StepPhase.VERIFYING, Code.WAIT_STABLE)

    wait(d, d.run.policy.durations.stable)
    look(d)

    assert replacing(d).phase is StepPhase.DONE
    assert Code.STEP_STUCK not in codes(d)


def test_given_ibm_at_work_when_the_api_is_silent_past_the_deadline_then_people_hear_that_too() -> None:
    d = drive(two_workers(), in_phase(StepKind.UPDATE_MASTER, StepPhase.VERIFYING))
    d.approve = False
    for _ in range(95):
        wait(d, timedelta(minutes=1))
        blind(d)

    note = step(d, StepKind.UPDATE_MASTER).note
    assert note is not None
    assert (note.code, note.cause) == (Code.DEADLINE, AWAY)


def test_given_a_node_that_was_away_while_nobody_looked_when_back_then_it_has_to_stay_for_a_while_again() -> None:
    d = replaced()
    look(d)
    wait(d, NIGHT)
    twist(d, lambda w: change_node(w, fresh(w), ready_since=w.at - timedelta(seconds=20)))

    look(d)

    assert (replacing(d).phase, replacing(d).note.code) == (StepPhase.VERIFYING, Code.WAIT_STABLE)
    wait(d, d.run.policy.durations.stable)
    look(d)
    assert replacing(d).phase is StepPhase.DONE


# --- retry


def test_given_a_late_replacement_when_retried_then_it_has_its_time_anew_and_an_end() -> None:
    d = drive(two_workers(), ordered("ReplaceWorker"))
    d.approve = False
    wait(d, timedelta(minutes=91))
    look(d)
    assert replacing(d).phase is StepPhase.FAILED

    d.say(RetryRequested)

    assert replacing(d).phase is StepPhase.VERIFYING
    wait(d, timedelta(minutes=91))
    look(d)
    assert replacing(d).phase is StepPhase.FAILED
    assert codes(d).count(Code.STEP_STUCK) == 2


def test_given_gpus_that_came_too_late_when_retried_then_they_have_their_time_anew() -> None:
    d = replaced()
    twist(d, lambda w: change_node(w, fresh(w), allocatable={}, capacity={}))
    look(d)
    wait(d, d.run.policy.durations.gpus + timedelta(seconds=1))
    look(d)
    assert replacing(d).phase is StepPhase.FAILED

    d.say(RetryRequested)
    look(d)

    assert replacing(d).phase is StepPhase.VERIFYING
    wait(d, d.run.policy.durations.gpus + timedelta(minutes=1))
    look(d)
    assert (replacing(d).phase, replacing(d).note.code) == (StepPhase.FAILED, Code.DEADLINE)


# --- questions


def test_given_an_open_question_when_the_run_is_paused_for_a_night_then_it_can_still_be_answered() -> None:
    d = asked()
    question = d.run.approvals[-1]
    pause(d)
    wait(d, NIGHT)
    look(d)
    resume(d)

    assert (d.run.approvals[-1].id, d.run.approvals[-1].revision) == (question.id, 1)
    assert d.run.approvals[-1].decision is None
    d.click()
    assert move(d).phase is not StepPhase.AWAITING_APPROVAL


# --- what older versions stored


@pytest.mark.parametrize("at", [START - NIGHT, START + NIGHT], ids=["before", "a clock that went back"])
def test_given_a_paused_run_of_an_older_version_when_resumed_then_its_pause_is_known(at: datetime) -> None:
    d = draining()
    left = move(d).deadline_at - d.at
    old = replace(d.run, still_since=None, pause=Pause("U", d.at if at < START else d.at + NIGHT, reason(Code.PAUSED)))
    d.run = decode(Run, encode(old))
    wait(d, timedelta(hours=2))

    look(d)
    resume(d)

    assert move(d).deadline_at is not None
    assert move(d).deadline_at - d.at in (left, left - timedelta(hours=2))
    assert decode(Run, encode(d.run)) == d.run


# --- a batch that was cut by a pause


def test_given_a_pause_between_two_labels_when_resumed_then_the_batch_goes_on_and_says_so_meanwhile() -> None:
    d = Drive(Model(two_workers()), run())
    d.approve = False
    d.go(ticks=1)
    until_open(d, "LabelNode")
    d.run = transition(d.run, PauseRequested(d.at, "p", OPERATOR)).run
    assert d.run.intent is not None
    d.model.order(d.run.intent.order)
    outcome(d, OutcomeKind.ACCEPTED)
    look(d)
    labels = step(d, StepKind.LABEL_NODES)
    assert d.run == replace(d.run, intent=None)
    assert labels.phase is StepPhase.VERIFYING
    assert labels.note is not None
    assert labels.note.facts["nodes"] == ("10.240.0.66",)

    resume(d)

    assert sum(line.startswith("LabelNode") for line in d.model.journal) == 2
    assert step(d, StepKind.LABEL_NODES).phase is StepPhase.DONE


def test_given_a_workload_gone_when_resumed_then_nothing_of_the_pause_is_left() -> None:
    d = draining()
    pause(d)
    twist(d, lambda w: kubernetes(w, pods=tuple(p for p in w.kubernetes.pods if p.name != "slow-6f-1")))
    wait(d, NIGHT)
    look(d)
    assert move(d).phase is StepPhase.DONE, "seen although it is paused"

    resume(d)

    assert d.run.still_since is None
    assert "ReplaceWorker" in [line.split("(")[0] for line in d.model.journal]
