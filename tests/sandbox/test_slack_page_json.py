"""The page's JSON, as scripts use it, and delivery by signed requests instead of sockets."""

import asyncio
import json
import urllib.parse
from typing import Any

import pytest
from slack_bolt.async_app import AsyncApp
from slack_sdk.signature import SignatureVerifier

from sandbox.serving import serve
from tests.sandbox.slack_room import HOME, Room, approval, button, room


@pytest.mark.parametrize(
    ("what", "body", "error"),
    [
        ("type", {"user": "nobody", "text": "/gpu-migrate"}, "user_not_found"),
        ("type", {"channel": "nowhere", "text": "x"}, "no_such_channel"),
        ("type", {"text": "  "}, "no_text"),
        ("type", {"text": "/other thing"}, "unknown_command"),
        ("type", {"channel": "@approver-1", "user": "operator-1", "text": "x"}, "not_in_channel"),
        ("click", {"ts": "1.1", "action_id": "a"}, "message_not_found"),
        ("submit", {"view_id": "V404"}, "not_found"),
        ("switch", {"name": "off"}, "no_such_switch"),
        ("switch", {"name": "kick", "value": "nowhere"}, "no_such_channel"),
    ],
)
async def test_given_a_wrong_act_when_posted_then_a_clear_error(what: str, body: dict[str, Any], error: str) -> None:
    async with room() as where:
        answer = await where.act(what, **body)

    assert (answer["ok"], answer["error"]) == (False, error)


async def test_given_odd_json_when_posted_to_the_page_then_refused() -> None:
    async with room() as where:
        errors = []
        for text in ("{", "[1]", "7"):
            async with where.session.post(f"{where.url}/page/type", data=text) as answer:
                errors.append((await answer.json())["error"])

    assert errors == ["invalid_json"] * 3


async def test_given_a_channel_without_the_bot_when_somebody_invites_it_then_it_is_a_member() -> None:
    async with room() as where:
        answer = await where.act("type", user="approver-1", channel="random", text="/invite @gpu-migrate")
        people = await where.look("people")
        seen = await where.messages("approver-1", "random")

    assert answer["ok"]
    assert [c["is_member"] for c in people["channels"]] == [True, True]
    assert [m["text"] for m in seen] == ["was added to random by <@U0APPROVER1>."]


async def test_given_names_with_marks_when_typing_then_people_and_channels_are_found() -> None:
    async with room() as where:
        said = await where.act("type", user="@operator-1", channel="#gpu-migrations", text="hi @approver-1 & all")
        await where.act("type", user="U0OPERATOR1", channel=HOME, text="again", thread_ts=said["ts"])
        people = await where.look("people")
        seen = await where.messages("approver-1")

    assert [m["text"] for m in seen] == ["hi <@U0APPROVER1|approver-1> &amp; all", "again"]
    assert seen[1]["thread_ts"] == said["ts"]
    assert [c["name"] for c in people["channels"]] == ["gpu-migrations", "random"]
    assert [c["is_member"] for c in people["channels"]] == [True, False]
    assert people["bot"] == {"id": "U0GPUMIGRAT", "name": "gpu-migrate"}


async def test_given_a_command_in_a_thread_when_typed_then_slack_itself_refuses() -> None:
    async with room() as where:
        said = await where.act("type", user="operator-1", text="hello")
        answer = await where.act("type", user="operator-1", text="/gpu-migrate status", thread_ts=said["ts"])

    assert answer["error"] == "not_in_threads"


async def test_given_an_ephemeral_of_another_when_pressed_then_it_does_not_exist() -> None:
    block = {"type": "actions", "elements": [button("go", "Go")]}
    async with room() as where:
        posted = await where.client.chat_postEphemeral(channel=HOME, user="U0GUEST0001", text="Go?", blocks=[block])
        answer = await where.act("click", user="operator-1", ts=posted["message_ts"], action_id="go")

    assert answer["error"] == "message_not_found"


async def test_given_two_cards_in_a_message_when_one_is_pressed_then_value_or_block_tells_which() -> None:
    blocks = [
        {"type": "actions", "block_id": name, "elements": [button("go", name, value=name)]} for name in ("one", "two")
    ]
    async with room() as where:
        posted = await where.client.chat_postMessage(channel=HOME, text="Go?", blocks=blocks)
        for keys in ({"value": "two"}, {"block_id": "two"}, {"value": "one", "block_id": "gone"}, {}):
            await where.act("click", user="operator-1", ts=posted["ts"], action_id="go", **keys)
        none = await where.act("click", user="operator-1", ts=posted["ts"], action_id="go", value="three")
        labels = [entry.request["text"] for entry in where.journal.entries() if entry.verb == "click"]

    assert labels == ["two", "two", "one", "one"]
    assert none["error"] == "no_such_button"


async def test_given_a_reply_shown_in_the_channel_too_when_read_then_history_has_it() -> None:
    async with room() as where:
        parent = await where.client.chat_postMessage(channel=HOME, text="Run")
        await where.client.chat_postMessage(channel=HOME, text="quiet", thread_ts=parent["ts"])
        await where.client.chat_postMessage(channel=HOME, text="loud", thread_ts=parent["ts"], reply_broadcast=True)
        history = await where.client.conversations_history(channel=HOME)
        shown = [(m["text"], m["in_channel"]) for m in await where.messages()]

    assert [m["text"] for m in history["messages"]] == ["loud", "Run"]
    assert shown == [("Run", True), ("quiet", False), ("loud", True)]


async def test_given_an_open_stream_when_a_message_comes_then_an_event_tells() -> None:
    async with room() as where, where.session.get(f"{where.url}/page/events") as stream:
        await stream.content.readuntil(b"\n\n")
        await where.client.chat_postMessage(channel=HOME, text="x")
        async with asyncio.timeout(5):
            line = await stream.content.readuntil(b"\n\n")

    assert json.loads(line.removeprefix(b"data: "))["type"] == "message"


async def test_given_a_request_url_when_typed_then_a_signed_request_reaches_bolt() -> None:
    def listen(app: AsyncApp) -> None:
        approval(app)

    async with room() as where:
        app = AsyncApp(client=where.client, signing_secret=where.server.signing_secret, process_before_response=True)
        listen(app)
        served = await serve(app.web_app(path="/slack/events"))
        try:
            await where.act("switch", name="request_url", value=f"{served.url}/slack/events")
            typed = await where.act("type", user="operator-1", text="/gpu-migrate start x")
            card = next(m for m in await where.messages() if m["buttons"])
            clicked = await where.act("click", user="approver-1", ts=card["ts"], action_id="gm:approve")
            after = (await where.messages())[0]["text"]
        finally:
            await served.aclose()
        unreachable = await where.act("type", user="operator-1", text="/gpu-migrate start x")

    assert typed["ack"] == {"text": "starting start x"}
    assert clicked["ok"] is True
    assert after == "Approved by U0APPROVER1"
    assert unreachable["error"] == "dispatch_failed"


def test_given_a_body_when_signed_then_slacks_verifier_agrees() -> None:
    from sandbox.slack.delivery import signed
    from sandbox.slack.identity import SIGNING_SECRET

    body = urllib.parse.urlencode({"command": "/gpu-migrate", "text": "ü"}).encode()

    headers = {key.lower(): value for key, value in signed(body).items()}

    assert SignatureVerifier(SIGNING_SECRET).is_valid_request(body, headers)
    assert not SignatureVerifier(SIGNING_SECRET).is_valid_request(body + b"x", headers)


async def test_given_everything_done_when_asked_then_the_journal_tells_who_did_what() -> None:
    async with room() as where:
        await where.act("type", user="operator-1", text="/gpu-migrate start x")
        await where.client.chat_postMessage(channel=HOME, text="x")
        await where.client.conversations_history(channel=HOME)
        entries = told(where)

    assert entries == [("type", "U0OPERATOR1", HOME), ("chat.postMessage", "U0GPUMIGRAT", HOME)]


def told(where: Room) -> list[tuple[str, str, str]]:
    return [(entry.verb, entry.actor, entry.target) for entry in where.journal.entries()]
