"""The listeners behind Bolt itself: every payload is acknowledged, in time and with the right text."""

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

import pytest
from slack_bolt.async_app import AsyncApp, AsyncBoltRequest
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.response import BoltResponse

from handlers.listeners import register
from state.reasons import Code
from tests.edge.ports import Desktop, pressed, typed
from tests.edge.test_actions import asking

Headers = dict[str, str | Sequence[str]]


async def authorized(**_: Any) -> AuthorizeResult:
    return AuthorizeResult(
        enterprise_id=None, team_id="T0TEAM", bot_id="B0BOT", bot_user_id="U0BOT", bot_token="xoxb-test"
    )


def app(desktop: Desktop) -> AsyncApp:
    made = AsyncApp(authorize=authorized, request_verification_enabled=False, process_before_response=True)
    register(made, desktop.edge)
    return made


async def send(desktop: Desktop, body: dict[str, Any]) -> BoltResponse:
    form = urlencode(body) if "command" in body else urlencode({"payload": json.dumps(body)})
    headers: Headers = {"content-type": ["application/x-www-form-urlencoded"]}
    return await app(desktop).async_dispatch(AsyncBoltRequest(body=form, headers=headers))


async def test_given_a_command_when_it_arrives_then_the_acknowledgement_is_the_answer() -> None:
    response = await send(Desktop(), typed("start gpu-multi"))

    assert response.status == 200
    assert "Looking at" in json.loads(response.body)["text"]
    assert "response_type" not in json.loads(response.body)


@pytest.mark.parametrize("command", ["/gpu-migrate", "/gpu-migrate-dev"])
async def test_given_any_name_of_the_command_when_it_arrives_then_it_is_answered(command: str) -> None:
    response = await send(Desktop(), typed("nonsense", command=command))

    assert "do not know" in json.loads(response.body)["text"]


async def test_given_a_click_when_it_arrives_then_recorded_before_the_acknowledgement_and_nothing_whispered() -> None:
    desktop = Desktop(asking())
    response = await send(desktop, pressed())

    assert response.status == 200
    assert len(desktop.events) == 1
    assert desktop.whispers.said == []


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (pressed(user="U0ONLOOKER1"), Code.NOT_APPROVER),
        (pressed(action="somebody-elses"), Code.UNKNOWN_CARD),
        (pressed("r-1:1#7"), Code.STALE_CARD),
    ],
    ids=["not an approver", "foreign button", "old card"],
)
async def test_given_a_click_that_does_not_count_when_it_arrives_then_acknowledged_and_whispered(
    body: dict[str, Any], code: Code
) -> None:
    desktop = Desktop(asking())
    response = await send(desktop, body)

    assert response.status == 200
    ((to, _message),) = desktop.whispers.said
    assert to.channel == "C0MIGRATION"
    assert desktop.heard[0].outcome is not None
    assert desktop.heard[0].outcome.code is code


@pytest.mark.parametrize(
    "body",
    [
        {"type": "event_callback", "team_id": "T0TEAM", "event": {"type": "message", "text": "hi", "channel": "C1"}},
        {"type": "event_callback", "team_id": "T0TEAM", "event": {"type": "message", "subtype": "channel_join"}},
        {"type": "event_callback", "team_id": "T0TEAM", "event": {"type": "app_mention", "user": "U1"}},
    ],
    ids=["message", "subtype", "mention"],
)
async def test_given_an_event_that_is_not_ours_when_it_arrives_then_acknowledged(body: dict[str, Any]) -> None:
    request = AsyncBoltRequest(body=json.dumps(body), headers={"content-type": "application/json"})
    response = await app(Desktop()).async_dispatch(request)

    assert response.status == 200


@pytest.mark.parametrize(
    "body",
    [
        {"type": "shortcut", "callback_id": "x", "team": {"id": "T0TEAM"}, "user": {"id": "U1"}},
        {"type": "view_submission", "view": {"callback_id": "x", "type": "modal"}, "team": {"id": "T0TEAM"}},
    ],
    ids=["shortcut", "view"],
)
async def test_given_an_interaction_that_is_not_ours_when_it_arrives_then_acknowledged(body: dict[str, Any]) -> None:
    assert (await send(Desktop(), body)).status == 200
