from dataclasses import replace
from typing import Any

import pytest

from handlers.actions import click
from state.events import Approved, Rejected, RetryRequested
from state.reasons import Code, reason
from state.run import Approval, Decision, Run, RunPhase
from tests.edge.ports import NOON, POLICY, TEAM, Desktop, pressed
from tests.shell.message_runs import run

CARD = Approval("r-1:1", 1, "update-master", NOON, (reason(Code.CARD_NO_ROLLBACK),))


def asking(approval: Approval = CARD, **changes: Any) -> Run:
    fields: dict[str, Any] = {"id": "r-1", "policy": POLICY, "approvals": (approval,)} | changes
    return replace(run(), **fields)


@pytest.mark.parametrize(("action", "event"), [("gm:approve", Approved), ("gm:reject", Rejected)])
async def test_given_an_approver_when_pressing_then_the_event_carries_approval_and_revision(
    action: str, event: type
) -> None:
    desktop = Desktop(asking())
    outcome = await click(desktop.edge, pressed(action=action))

    assert outcome.code is Code.RECORDED
    (found,) = desktop.events
    assert type(found) is event
    assert isinstance(found, Approved | Rejected)
    assert (found.approval, found.revision, found.id, found.by.user) == ("r-1:1", 1, "333.444.def", "U0APPROVER1")


@pytest.mark.parametrize(
    ("user", "team", "code"),
    [
        ("U0ONLOOKER1", TEAM, Code.NOT_APPROVER),
        ("U0OPERATOR1", TEAM, Code.NOT_APPROVER),
        ("U0APPROVER1", "T0OTHER", Code.WRONG_TEAM),
    ],
)
async def test_given_somebody_else_when_pressing_then_refused_heard_and_the_question_stays_open(
    user: str, team: str, code: Code
) -> None:
    desktop = Desktop(asking())
    body = pressed(user=user) | {"team": {"id": team}, "user": {"id": user, "team_id": team}}
    outcome = await click(desktop.edge, body)

    assert outcome.code is code
    assert desktop.events == []
    assert [(heard.by.user, heard.outcome) for heard in desktop.heard] == [(user, outcome)]
    (noted,) = desktop.turned_away
    assert (noted.by.user, noted.reason, noted.wanted) == (user, outcome, "gm:approve")
    assert (noted.approval, noted.revision) == ("r-1:1", 1)


async def test_given_an_empty_list_of_approvers_when_pressing_then_nobody_may() -> None:
    desktop = Desktop(asking(policy=replace(POLICY, approvers=(), operators=())))

    assert (await click(desktop.edge, pressed())).code is Code.NOT_APPROVER


@pytest.mark.parametrize("flag", ["is_bot", "is_stranger", "is_restricted", "is_ultra_restricted", "deleted"])
async def test_given_no_full_member_when_pressing_then_refused(flag: str) -> None:
    body = pressed() | {"user": {"id": "U0APPROVER1", "team_id": TEAM, flag: True}}

    assert (await click(Desktop(asking()).edge, body)).code is Code.WRONG_TEAM


async def test_given_an_answered_question_when_pressed_then_by_whom_and_when() -> None:
    decided = replace(CARD, decision=Decision.APPROVED, decided_by="U0APPROVER2", decided_at=NOON)
    outcome = await click(Desktop(asking(decided)).edge, pressed())

    assert outcome == reason(Code.ALREADY_DECIDED, by="U0APPROVER2", at=NOON.isoformat(), decision="approved")


async def test_given_two_clicks_with_one_trigger_when_pressed_then_one_event() -> None:
    desktop = Desktop(asking())
    outcomes = [await click(desktop.edge, pressed()) for _ in range(2)]

    assert [outcome.code for outcome in outcomes] == [Code.RECORDED, Code.RECORDED]
    assert len(desktop.events) == 1


async def test_given_no_trigger_when_pressed_twice_then_message_user_and_time_tell_them_apart() -> None:
    desktop = Desktop(asking())
    later = pressed(trigger_id=None)
    later["actions"][0]["action_ts"] = "1764590456.180000"
    for body in (pressed(trigger_id=None), pressed(trigger_id=None), later):
        await click(desktop.edge, body)

    assert [event.id for event in desktop.events] == [
        "1764590400.000100:U0APPROVER1:1764590456.000000",
        "1764590400.000100:U0APPROVER1:1764590456.180000",
    ]


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("r-1:1#0", Code.STALE_CARD),
        ("r-1:1#2", Code.STALE_CARD),
        ("r-1:9#1", Code.UNKNOWN_CARD),
        ("r-404:1#1", Code.UNKNOWN_CARD),
        ("", Code.UNKNOWN_CARD),
        ("r-1:1", Code.UNKNOWN_CARD),
        ("r-1#1", Code.UNKNOWN_CARD),
        ("#1", Code.UNKNOWN_CARD),
        (":1#1", Code.UNKNOWN_CARD),
        ("r-1:1#-1", Code.UNKNOWN_CARD),
        ("r-1:1#²", Code.UNKNOWN_CARD),
        ("r-1:1#99999999999", Code.UNKNOWN_CARD),
        ('{"run":"r-1"}', Code.UNKNOWN_CARD),
    ],
)
async def test_given_an_old_or_odd_value_when_pressed_then_nothing_is_done(value: str, code: Code) -> None:
    desktop = Desktop(asking())

    assert (await click(desktop.edge, pressed(value))).code is code
    assert desktop.events == []


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"actions": "x", "user": {"id": "U0APPROVER1"}, "team": {"id": TEAM}},
        {key: value for key, value in pressed().items() if key != "user"},
        pressed(user="U0APPROVER1") | {"user": "U0APPROVER1"},
        pressed(team=None) | {"user": {"id": "U0APPROVER1"}},
        pressed(actions=[]),
        pressed(actions=[None]),
        pressed(actions=[{"action_id": 3, "value": {}}]),
        pressed(actions=pressed()["actions"] * 2),
        pressed(action="gm:launch"),
        pressed(action="something"),
    ],
)
async def test_given_an_odd_payload_when_pressed_then_refused_without_a_crash(body: dict[str, Any]) -> None:
    desktop = Desktop(asking())

    assert (await click(desktop.edge, body)).code in (Code.WRONG_TEAM, Code.UNKNOWN_CARD)
    assert desktop.events == []


@pytest.mark.parametrize("code", [Code.BARE_PODS, Code.EMPTY_DIR, Code.JOBS_RUNNING, Code.HOST_LOCAL])
async def test_given_pods_that_would_lose_something_when_approved_then_refused_but_no_is_taken(code: Code) -> None:
    desktop = Desktop(asking(replace(CARD, card=(reason(code, pods=("a/b",)),))))

    assert (await click(desktop.edge, pressed())).code is Code.FACTS_CHANGED
    assert (await click(desktop.edge, pressed(action="gm:reject"))).code is Code.RECORDED


async def test_given_a_blocked_plan_when_looking_again_or_closing_then_retry_or_a_no() -> None:
    plan = replace(CARD, step_key="")
    desktop = Desktop(asking(plan, phase=RunPhase.PLANNED, blockers=(reason(Code.NO_GPU_WORKERS),)))
    await click(desktop.edge, pressed(action="gm:recheck", user="U0OPERATOR1"))
    await click(desktop.edge, pressed(action="gm:close", user="U0OPERATOR1", trigger_id="2"))

    assert [type(event) for event in desktop.events] == [RetryRequested, Rejected]


@pytest.mark.parametrize(
    ("approval", "user", "code"),
    [
        (replace(CARD, decision=Decision.WITHDRAWN), "U0OPERATOR1", Code.STALE_CARD),
        (replace(CARD, revision=5), "U0OPERATOR1", Code.STALE_CARD),
        (replace(CARD, id="r-1:7"), "U0OPERATOR1", Code.UNKNOWN_CARD),
        (CARD, "U0ONLOOKER1", Code.NOT_OPERATOR),
    ],
)
async def test_given_an_old_card_or_an_onlooker_when_looking_again_then_refused(
    approval: Approval, user: str, code: Code
) -> None:
    desktop = Desktop(asking(approval))

    assert (await click(desktop.edge, pressed(action="gm:recheck", user=user))).code is code
    assert desktop.events == []


async def test_given_an_unreachable_store_when_pressed_then_not_recorded() -> None:
    desktop = Desktop(asking())
    desktop.runs.away = True

    assert (await click(desktop.edge, pressed())).code is Code.NOT_RECORDED


async def test_given_a_store_that_lost_the_run_when_pressed_then_not_mine() -> None:
    """Another installation's bot may share our app (B061)."""
    desktop = Desktop(asking())
    desktop.submit.outcome = reason(Code.NO_SUCH_RUN, run="r-1")

    assert (await click(desktop.edge, pressed())).code is Code.UNKNOWN_CARD


@pytest.mark.parametrize("action", ["gm:approve", "gm:reject", "gm:recheck", "gm:close"])
@pytest.mark.parametrize("phase", [RunPhase.DONE, RunPhase.ABORTED])
async def test_given_an_old_card_of_an_ended_run_when_pressed_then_the_person_reads_that_it_has_ended(
    action: str, phase: RunPhase
) -> None:
    desktop = Desktop(asking(phase=phase))
    outcome = await click(desktop.edge, pressed(action=action, user="U0OPERATOR1"))

    assert outcome == reason(Code.RUN_ENDED, run="r-1", cluster="gpu-multi", phase=phase.value)
    assert desktop.events == []


async def test_given_an_answered_card_of_an_ended_run_when_pressed_then_the_person_reads_who_was_first() -> None:
    decided = replace(CARD, decision=Decision.REJECTED, decided_by="U0APPROVER2", decided_at=NOON)
    desktop = Desktop(asking(decided, phase=RunPhase.ABORTED))

    assert (await click(desktop.edge, pressed())).code is Code.ALREADY_DECIDED
    assert desktop.events == []


async def test_given_a_run_that_ended_just_now_when_pressed_then_the_journals_no_is_the_answer() -> None:
    desktop = Desktop(asking())
    desktop.submit.outcome = reason(Code.RUN_ENDED, run="r-1")

    assert (await click(desktop.edge, pressed())).code is Code.RUN_ENDED
