"""SlackChat against the pretend workspace over real HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.adapters.slack.access import Access, open_session, web_client
from bot.adapters.slack.app import identify
from bot.adapters.slack.calls import Calls
from bot.adapters.slack.chat import SlackChat
from bot.adapters.slack.limiter import Limiter
from bot.adapters.slack.whispers import Whispers
from bot.messages import Words
from bot.ports import Place
from handlers.ports import Message
from state.errors import GpuMigrateError, OutcomeUnknown, PermanentError, TransientError
from state.events import Person
from tests.sandbox.slack_room import HOME, RANDOM, Room, room
from tests.shell.message_runs import finished, question, run

HELLO = Message("hello", ({"type": "section", "text": {"type": "mrkdwn", "text": "hello"}},))
GATE = {
    "type": "actions",
    "block_id": "gate",
    "elements": [{"type": "button", "text": {"type": "plain_text", "text": "Go"}, "action_id": "gm:approve"}],
}
TOO_LONG = Message("the key fact", ({"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3001}}, GATE))


@dataclass(slots=True)
class Bench:
    where: Room
    chat: SlackChat
    calls: Calls
    refused: list[tuple[str, str]]


@asynccontextmanager
async def bench(patience: float = 0.2, seconds: float = 3.0) -> AsyncIterator[Bench]:
    async with room() as where:
        access = Access(where.server.bot_token, where.server.app_token, f"{where.url}/api/", call_seconds=seconds)
        async with open_session(access) as session:
            client = web_client(access, session)
            calls = Calls(Limiter(timedelta(seconds=patience)), access.call_seconds)
            refused: list[tuple[str, str]] = []
            who = await identify(client, calls)
            chat = SlackChat(client, calls, who.bot, lambda what, error: refused.append((what, error)))
            yield Bench(where, chat, calls, refused)


async def test_given_a_message_when_posted_then_it_stands_there_with_its_key_and_can_be_found() -> None:
    async with bench() as at:
        place = await at.chat.post(HOME, HELLO, key="r-1/progress")
        found = await at.chat.find(HOME, "r-1/progress", since=datetime.now(UTC))
        nothing = await at.chat.find(HOME, "r-1/other")

        assert place.channel == HOME
        assert found == place
        assert nothing is None


async def test_given_a_thread_when_posted_into_then_found_there_only() -> None:
    async with bench() as at:
        root = await at.chat.post(HOME, HELLO, key="root")
        reply = await at.chat.post(HOME, HELLO, key="note", thread=root.ts)

        assert reply.thread == root.ts
        assert await at.chat.find(HOME, "note", thread=root.ts) == reply
        assert await at.chat.find(HOME, "note") is None


async def test_given_many_messages_when_looking_for_the_first_then_all_pages_are_read() -> None:
    async with bench() as at:
        place = await at.chat.post(HOME, HELLO, key="first")
        await at.where.act("switch", name="limits", value=False)
        for number in range(230):
            await at.where.api("chat.postMessage", channel=HOME, text=str(number))

        assert await at.chat.find(HOME, "first") == place


async def test_given_foreign_metadata_when_looking_then_it_is_not_ours() -> None:
    async with bench() as at:
        for metadata in (
            {"event_type": "other", "event_payload": {"key": "k"}},
            {"event_type": "gpu_migrate", "event_payload": {"key": 5}},
        ):
            await at.where.api("chat.postMessage", channel=HOME, text="x", metadata=metadata)

        assert await at.chat.find(HOME, "k") is None


async def test_given_a_message_when_rewritten_then_new_content_and_the_key_stays() -> None:
    async with bench() as at:
        place = await at.chat.post(HOME, TOO_LONG, key="k")
        await at.chat.update(place, HELLO, key="k")
        (message,) = await at.where.messages()

        assert message["text"] == "hello"
        assert message["buttons"] == []
        assert await at.chat.find(HOME, "k") == place


async def test_given_a_message_without_blocks_when_rewritten_then_old_buttons_are_gone() -> None:
    async with bench() as at:
        place = await at.chat.post(HOME, replace(HELLO, blocks=(GATE,)), key="k")
        await at.chat.update(place, Message("over"), key="k")
        (message,) = await at.where.messages()

        assert message["buttons"] == []


async def test_given_a_message_that_slack_refuses_when_posted_then_its_short_form_with_the_gate() -> None:
    """B064: the key fact and the gate arrive; the same payload is not sent again."""
    async with bench() as at:
        place = await at.chat.post(HOME, TOO_LONG, key="k")
        (message,) = await at.where.messages()

        assert message["text"] == "the key fact"
        assert [button["action_id"] for button in message["buttons"]] == ["gm:approve"]
        assert at.refused == [("the key fact", "invalid_blocks")]
        assert await at.chat.find(HOME, "k") == place


async def test_given_a_gate_that_slack_refuses_when_posted_then_the_text_alone() -> None:
    async with bench() as at:
        broken = replace(TOO_LONG, blocks=({**GATE, "elements": []},))
        await at.chat.post(HOME, broken, key="k")
        (message,) = await at.where.messages()

        assert message["text"] == "the key fact"
        assert message["blocks"] == [] or message["buttons"] == []


@pytest.mark.parametrize(
    ("place", "word"),
    [(Place(HOME, "1.000001"), "message_not_found"), (Place("C0NOWHERE", "1.000001"), "channel_not_found")],
)
async def test_given_a_lost_message_when_rewritten_then_refused_with_slacks_word(place: Place, word: str) -> None:
    """B066: never success, never repeated."""
    async with bench() as at:
        with pytest.raises(PermanentError) as raised:
            await at.chat.update(place, HELLO, key="k")

        assert raised.value.reason.text("error") == word


async def test_given_somebody_elses_message_when_rewritten_then_refused() -> None:
    async with bench() as at:
        typed = await at.where.act("type", user="operator-1", channel=HOME, text="hi")
        with pytest.raises(PermanentError) as raised:
            await at.chat.update(Place(HOME, typed["ts"]), HELLO, key="k")

        assert raised.value.reason.text("error") == "cant_update_message"


async def test_given_a_lost_answer_when_posting_then_unknown_and_the_message_can_be_found() -> None:
    async with bench() as at:
        at.where.faults.add(system="slack", path="chat.postMessage", when="after", drop=True)
        with pytest.raises(OutcomeUnknown):
            await at.chat.post(HOME, HELLO, key="k")

        assert await at.chat.find(HOME, "k") is not None
        assert len(await at.where.messages()) == 1


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 500, "body": "oops"},
        {"status": 200, "body": "<html>maintenance</html>", "headers": {"Content-Type": "text/html"}},
        {"status": 200, "body": '"ok"', "headers": {"Content-Type": "application/json"}},
        {"status": 200, "body": "[1]", "headers": {"Content-Type": "application/json"}},
        {"status": 200, "body": "{broken", "headers": {"Content-Type": "application/json"}},
        {"status": 200, "body": "hello", "headers": {"Content-Type": "text/plain"}},
        {"drop": True},
    ],
    ids=["500", "html", "string", "list", "broken json", "plain text", "cut"],
)
async def test_given_a_lying_server_when_posting_then_unknown_and_when_reading_then_tried_twice(
    fault: dict[str, Any],
) -> None:
    async with bench() as at:
        at.where.faults.add(system="slack", path="chat.postMessage", **fault)
        with pytest.raises(OutcomeUnknown):
            await at.chat.post(HOME, HELLO, key="k")
        at.where.faults.add(system="slack", path="conversations.info", **fault)

        assert await at.chat.is_member(HOME)
        at.where.faults.add(system="slack", path="conversations.info", **fault, times=-1)
        with pytest.raises(TransientError):
            await at.chat.is_member(HOME)


async def test_given_a_slow_server_when_calling_then_it_ends_in_time() -> None:
    async with bench(seconds=0.2) as at:
        at.where.faults.add(system="slack", path="chat.postMessage", delay=5)
        with pytest.raises(OutcomeUnknown):
            await at.chat.post(HOME, HELLO, key="k")


async def test_given_a_limit_when_rewriting_then_the_delay_is_told_and_the_method_is_left_alone() -> None:
    """B067: Retry-After is honoured, other methods go on."""
    async with bench() as at:
        place = await at.chat.post(HOME, HELLO, key="k")
        limited = {"status": 429, "body": '{"ok":false,"error":"ratelimited"}', "headers": {"Retry-After": "10"}}
        limited["headers"] |= {"Content-Type": "application/json"}  # type: ignore[operator]
        at.where.faults.add(system="slack", path="chat.update", **limited)
        for _ in range(2):
            with pytest.raises(TransientError) as raised:
                await at.chat.update(place, HELLO, key="k")

            assert timedelta(seconds=9) < raised.value.delay <= timedelta(seconds=10)
        assert await at.chat.post(HOME, HELLO, key="k2")


async def test_given_a_word_to_one_person_when_whispered_then_only_they_see_it() -> None:
    async with bench() as at:
        await at.chat.whisper(HOME, "U0OPERATOR1", HELLO)

        assert [m["ephemeral"] for m in await at.where.messages("operator-1")] == [True]
        assert await at.where.messages("approver-1") == []


@pytest.mark.parametrize("channel", [RANDOM, "C0NOWHERE", ""], ids=["not a member", "unknown", "none"])
async def test_given_a_channel_that_does_not_work_when_whispered_then_as_a_direct_message(channel: str) -> None:
    async with bench() as at:
        await at.where.act("switch", name="kick", value=RANDOM)
        await at.chat.whisper(channel, "U0OPERATOR1", HELLO)
        direct = await at.where.messages("operator-1", "@operator-1")

        assert [message["text"] for message in direct] == ["hello"]


async def test_given_channels_when_asked_then_member_or_not() -> None:
    async with bench() as at:
        assert await at.chat.is_member(HOME)
        assert not await at.chat.is_member("C0NOWHERE")
        await at.where.act("switch", name="kick", value=HOME)
        assert not await at.chat.is_member(HOME)


async def test_given_an_archived_channel_when_asked_then_nobody_can_post_there() -> None:
    async with bench() as at:
        await at.where.act("switch", name="archive", value=HOME)

        assert not await at.chat.is_member(HOME)
        with pytest.raises(PermanentError):
            await at.chat.post(HOME, HELLO, key="k")


async def test_given_a_revoked_token_when_calling_then_refused_and_broken_until_it_works_again() -> None:
    async with bench() as at:
        await at.where.act("switch", name="revoke", value=True)
        for call in (at.chat.is_member(HOME), at.chat.whisper(HOME, "U0OPERATOR1", HELLO)):
            with pytest.raises(PermanentError):
                await call

        assert at.calls.broken == "token_revoked"
        await at.where.act("switch", name="revoke", value=False)
        assert await at.chat.is_member(HOME)
        assert at.calls.broken == ""


async def test_given_a_finished_run_when_all_its_messages_are_posted_then_none_needs_its_short_form() -> None:
    async with bench(patience=15) as at:
        await at.where.act("switch", name="limits", value=False)
        words, done = Words("de"), finished()
        asked = question("update-master")
        shown = [words.progress(done), words.report(done), words.plan(done), words.help()]
        shown += [words.card(run(approvals=(asked,)), asked), *(words.note(done, note) for note in done.notes)]
        for number, message in enumerate(shown):
            await at.chat.post(HOME, message, key=str(number))

        assert at.refused == []


async def test_given_whispers_in_the_background_when_one_fails_then_it_is_told_and_closing_waits() -> None:
    async with bench() as at:
        failed: list[GpuMigrateError] = []
        whispers = Whispers(at.chat, failed.append)
        whispers(Person("U0OPERATOR1", "", HOME), HELLO)
        whispers(Person("U0NOBODY123", "", HOME), HELLO)
        whispers(Person("", "", HOME), HELLO)
        await whispers.aclose()

        assert len(await at.where.messages("operator-1")) == 1
        assert len(failed) == 1


def test_tokens_are_not_shown() -> None:
    assert "xoxb" not in repr(Access("xoxb-secret", "xapp-secret"))
