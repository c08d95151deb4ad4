import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.messages import terminal
from handlers.commands import answer
from handlers.ports import StartRequest
from state.events import AbortRequested, PauseRequested, ResumeRequested, RetryRequested
from state.reasons import Code, Reason, reason
from state.run import Goal, Run, RunPhase
from tests.edge.ports import NOON, POLICY, TEAM, Desktop, MemoryBrake, MemoryRuns, typed
from tests.shell.message_runs import run


def going(**changes: Any) -> Run:
    fields: dict[str, Any] = {"id": "r-1", "policy": POLICY} | changes
    return replace(run(), **fields)


async def say(desktop: Desktop, text: str, user: str = "U0OPERATOR1", **changes: Any) -> str:
    message = await answer(desktop.edge, typed(text, user, **changes))
    return terminal(message)


@pytest.mark.parametrize(("word", "goal"), [("start", Goal.MIGRATE), ("prepare", Goal.PREPARE)])
async def test_given_an_operator_when_starting_then_a_request_with_the_trigger_id(word: str, goal: Goal) -> None:
    desktop = Desktop()
    text = await say(desktop, f"{word} gpu-multi")

    assert "Looking at gpu-multi" in text
    (request,) = desktop.submit.starts.values()
    assert isinstance(request, StartRequest)
    assert (request.id, request.cluster, request.goal) == ("111.222.abc", "gpu-multi", goal)
    assert (request.by.user, request.by.team, request.by.channel) == ("U0OPERATOR1", TEAM, "C0MIGRATION")


@pytest.mark.parametrize("user", ["U0APPROVER1", "U0ONLOOKER1", ""])
async def test_given_somebody_else_when_starting_then_refused(user: str) -> None:
    desktop = Desktop()
    text = await say(desktop, "start gpu-multi", user)

    assert "Nothing was done" in text
    assert desktop.submit.starts == {}


async def test_given_no_operators_when_starting_then_approvers_may_and_given_nobody_then_nobody() -> None:
    alone = Desktop(policies={"gpu-multi": replace(POLICY, operators=())})
    nobody = Desktop(policies={"gpu-multi": replace(POLICY, operators=(), approvers=())})
    await say(alone, "start gpu-multi", "U0APPROVER1")
    await say(nobody, "start gpu-multi", "U0APPROVER1")

    assert len(alone.submit.starts) == 1
    assert nobody.submit.starts == {}


@pytest.mark.parametrize(
    "changes",
    [{"team_id": "T0OTHER"}, {"team_id": None}, {"team_id": 7}, {"bot_id": "B1"}, {"user_id": None}],
    ids=["other team", "no team", "odd team", "a bot", "no user"],
)
async def test_given_a_stranger_when_asking_anything_then_nothing_is_told_or_done(changes: dict[str, Any]) -> None:
    desktop = Desktop(going())
    text = await say(desktop, "status gpu-multi", **changes)

    assert "its own workspace only" in text
    assert "r-1" not in text
    assert desktop.heard[0].outcome == reason(Code.WRONG_TEAM)


@pytest.mark.parametrize(
    ("word", "event"),
    [("pause", PauseRequested), ("resume", ResumeRequested), ("retry", RetryRequested), ("abort", AbortRequested)],
)
async def test_given_a_run_when_steered_then_its_event_is_recorded_once(word: str, event: type) -> None:
    desktop = Desktop(going())
    for _ in range(2):
        text = await say(desktop, f"{word} gpu-multi")

    assert "Recorded" in text
    assert [type(found) for found in desktop.events] == [event]
    assert (desktop.events[0].id, desktop.events[0].at) == ("111.222.abc", NOON)


async def test_given_an_onlooker_when_steering_then_refused_and_heard() -> None:
    desktop = Desktop(going())
    text = await say(desktop, "abort gpu-multi", "U0ONLOOKER1")

    assert "U0ONLOOKER1 is not one of them" in text
    assert desktop.events == []
    assert desktop.heard[0].outcome is not None


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("pause gpu-single", "Nothing is going on in gpu-single"),
        ("pause gpu-nowhere", "No cluster gpu-nowhere is configured. Known: gpu-"),
        ("start gpu-nowhere", "Known: gpu-"),
        ("start", "/gpu-migrate start CLUSTER"),
        ("sttart gpu-multi", "Did you mean start"),
        ("start gpu-multi --now", "--now"),
        ("report r-404", "There is no run r-404"),
        ("report", "Runs"),
        ("runs", "r-1"),
        ("clusters", "gpu-single: mode observe"),
        ("status", "gpu-multi: migration to 1.36"),
        ("status gpu-multi", "in progress"),
        ("status r-1", "in progress"),
        ("status", "its cards and its thread are in C0MIGRATION"),
        ("report gpu-multi", "Report · gpu-multi"),
        ("help", "stop-all"),
        ("", "stop-all"),
    ],
)
async def test_given_a_run_when_something_is_typed_then_a_sentence_that_helps(text: str, wanted: str) -> None:
    assert wanted in await say(Desktop(going()), text, "U0ONLOOKER1" if not text.startswith("st") else "U0OPERATOR1")


async def test_given_an_ended_run_when_steered_then_it_has_ended_and_when_asked_then_it_is_shown() -> None:
    desktop = Desktop(going(phase=RunPhase.DONE))

    for text in ("pause gpu-multi", "resume gpu-multi", "retry r-1", "abort r-1"):
        assert "Run r-1 of gpu-multi has ended: done." in await say(desktop, text)
    assert desktop.events == []
    assert "done" in await say(desktop, "status gpu-multi")
    assert "No migration is going on" in await say(desktop, "status")


async def test_given_a_run_whose_cluster_left_the_configuration_when_aborted_then_it_still_works() -> None:
    desktop = Desktop(going(cluster="gone"))

    assert "Recorded" in await say(desktop, "abort gone")
    assert "Recorded" in await say(desktop, "abort r-1", trigger_id="2")
    assert len(desktop.events) == 2


async def test_given_a_dry_run_when_asked_for_then_anybody_may_and_the_desk_answers_later() -> None:
    desktop = Desktop()
    text = await say(desktop, "plan gpu-multi", "U0ONLOOKER1")

    assert "nothing is changed" in text
    assert [(cluster, by.user) for cluster, by in desktop.desk.asked] == [("gpu-multi", "U0ONLOOKER1")]


async def test_given_several_runs_when_everything_is_stopped_then_each_is_paused_that_may_be() -> None:
    foreign = replace(POLICY, operators=("U0OTHER",))
    runs = (going(), going(id="r-2", cluster="b"), going(id="r-3", cluster="c", policy=foreign))
    desktop = Desktop(*runs, going(id="r-4", cluster="d", phase=RunPhase.ABORTED))
    text = await say(desktop, "stop all")

    assert [type(event) for event in desktop.events] == [PauseRequested, PauseRequested]
    assert "Pause asked for in b, gpu-multi; not yours to pause: c" in text
    assert "No migration is going on" in await say(Desktop(), "stop all")
    assert "Only operators" in await say(Desktop(going()), "stop all", "U0ONLOOKER1")


async def test_given_a_brake_when_everything_is_stopped_then_any_operator_sets_it_and_lifts_it() -> None:
    desktop, brake = Desktop(going()), MemoryBrake()
    edge = replace(desktop.edge, brake=brake)
    said = [terminal(await answer(edge, typed(text))) for text in ("stop all", "resume-all")]
    refused = terminal(await answer(edge, typed("stop-all", "U0ONLOOKER1")))

    assert brake.done == [("stop-all", "U0OPERATOR1"), ("lift", "U0OPERATOR1")]
    assert "nothing is ordered in any cluster" in said[0]
    assert "All runs go on" in said[1]
    assert "Only operators" in refused
    assert desktop.events == []


@pytest.mark.parametrize("text", ["status", "status gpu-multi", "runs"])
async def test_given_a_brake_when_asked_where_things_stand_then_it_is_said(text: str) -> None:
    desktop, brake = Desktop(going()), MemoryBrake()
    edge = replace(desktop.edge, brake=brake)
    before = terminal(await answer(edge, typed(text)))
    await brake.set_brake("U0OPERATOR1", "stop-all")

    assert "resume-all" not in before
    assert "resume-all" in terminal(await answer(edge, typed(text)))


@pytest.mark.parametrize(
    ("text", "phase", "wanted"),
    [
        (
            "abort gpu-multi",
            RunPhase.ACTIVE,
            "stays for now, since all runs are stopped. After /gpu-migrate resume-all",
        ),
        ("retry gpu-multi", RunPhase.ACTIVE, "/gpu-migrate resume-all lets them go on"),
        ("abort gpu-multi", RunPhase.PLANNED, "Recorded. The run's thread shows"),
    ],
)
async def test_given_a_brake_when_aborted_or_retried_then_it_is_taken_and_what_waits_is_said(
    text: str, phase: RunPhase, wanted: str
) -> None:
    desktop, brake = Desktop(going(phase=phase)), MemoryBrake()
    await brake.set_brake("U0OPERATOR1", "stop-all")
    said = terminal(await answer(replace(desktop.edge, brake=brake), typed(text)))

    assert wanted in said
    assert ("stopped by U0OPERATOR1" in said) is (phase is RunPhase.ACTIVE)
    assert "Cause: Recorded" not in said
    assert len(desktop.submit.events) == 1


async def test_given_a_brake_and_no_run_when_asked_for_status_then_it_is_said() -> None:
    brake = MemoryBrake()
    await brake.set_brake("", "failures gpu-1 gpu-2")
    text = terminal(await answer(replace(Desktop().edge, brake=brake), typed("status")))

    assert "gpu-1" in text
    assert "resume-all" in text


async def test_given_an_onlooker_when_steering_then_the_refusal_stands_in_the_runs_log() -> None:
    desktop = Desktop(going())
    await answer(desktop.edge, typed("abort gpu-multi", "U0ONLOOKER1"))

    (noted,) = desktop.turned_away
    assert (noted.by.user, noted.wanted, noted.reason.code) == ("U0ONLOOKER1", "abort", Code.NOT_OPERATOR)


async def test_given_no_brake_when_everything_goes_on_then_each_run_is_resumed() -> None:
    desktop = Desktop(going())
    await say(desktop, "resume all")

    assert [type(event) for event in desktop.events] == [ResumeRequested]


@pytest.mark.parametrize("text", ["status", "pause gpu-multi", "runs", "clusters", "stop all"])
async def test_given_an_unreachable_store_when_something_is_typed_then_not_recorded_and_why(text: str) -> None:
    desktop = Desktop(going())
    desktop.runs.away = True
    said = await say(desktop, text)

    assert "Not recorded" in said
    assert "connection refused" in said


class SlowRuns(MemoryRuns):
    async def active(self, cluster: str) -> Run | None:
        await asyncio.Event().wait()
        return await super().active(cluster)


async def test_given_a_store_that_hangs_when_something_is_typed_then_an_answer_within_the_patience() -> None:
    desktop = Desktop(going())
    edge = replace(desktop.edge, runs=SlowRuns(), patience=timedelta(milliseconds=20))
    message = await answer(edge, typed("pause gpu-multi"))

    assert "Not recorded" in terminal(message)


@pytest.mark.parametrize(
    "outcome",
    [
        reason(Code.RUN_EXISTS, run="r-1", cluster="gpu-multi", phase="active"),
        reason(Code.NOT_IN_CHANNEL, channel="C0MIGRATION"),
        reason(Code.NOT_RECORDED),
    ],
    ids=lambda outcome: outcome.code.value,
)
async def test_given_a_refused_start_when_answered_then_the_reason_in_words(outcome: Reason) -> None:
    desktop = Desktop()
    desktop.submit.outcome = outcome

    assert await say(desktop, "start gpu-multi") == terminal(desktop.edge.words.answer(outcome))


async def test_given_no_trigger_id_when_delivered_twice_then_the_same_event_id() -> None:
    desktop = Desktop(going())
    for _ in range(2):
        await say(desktop, "pause gpu-multi", trigger_id=None)
    await say(desktop, "pause gpu-multi", trigger_id=None, response_url="https://hooks.slack.example/commands/2")

    assert len(desktop.events) == 2


@pytest.mark.parametrize("body", [{}, {"text": None}, {"text": 5, "user_id": ["U"]}, {"team": "T", "user": "U"}])
async def test_given_an_odd_payload_when_answered_then_a_refusal(body: dict[str, Any]) -> None:
    assert "own workspace" in terminal(await answer(Desktop().edge, body))
