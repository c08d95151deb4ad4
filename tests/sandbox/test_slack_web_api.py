"""The Web API of the pretend workspace: what it remembers, its limits and its faults."""

import asyncio

from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler

from sandbox.slack.limits import Limits
from tests.sandbox.slack_room import HOME, RANDOM, card, room


async def test_given_too_many_updates_when_over_the_tier_then_429_says_how_long() -> None:
    async with room() as where:
        posted = await where.client.chat_postMessage(channel=HOME, text="0")
        answers = [await where.api("chat.update", channel=HOME, ts=posted["ts"], text=str(n)) for n in range(52)]
        other = await where.api("auth.test")

    refused = [(status, answer["error"], retry) for status, answer, retry in answers if status != 200]
    assert [status for status, _, _ in answers[:50]] == [200] * 50
    assert refused
    assert set(refused) == {(429, "ratelimited", "2")} or set(refused) <= {
        (429, "ratelimited", "1"),
        (429, "ratelimited", "2"),
    }
    assert other[0] == 200
    assert [entry.status for entry in where.journal.entries()].count(429) == len(refused)


async def test_given_a_full_channel_when_the_sdk_retries_after_the_wait_then_the_post_arrives() -> None:
    async with room() as where:
        where.client.retry_handlers.append(AsyncRateLimitErrorRetryHandler(max_retry_count=2))
        posts = [where.client.chat_postMessage(channel=HOME, text=str(n)) for n in range(12)]
        await asyncio.gather(*posts)
        texts = [message["text"] for message in await where.messages()]

    assert sorted(texts, key=int) == [str(n) for n in range(12)]


def test_given_a_clock_when_calls_come_evenly_then_the_tier_lets_them_pass() -> None:
    now = 0.0
    limits = Limits(lambda: now)
    for _ in range(50):
        assert limits.retry_after("chat.update", HOME) == 0

    refused = limits.retry_after("chat.update", HOME)
    now += 1.3
    after = limits.retry_after("chat.update", HOME)
    posts = [limits.retry_after("chat.postMessage", HOME) for _ in range(11)]
    elsewhere = limits.retry_after("chat.postMessage", RANDOM)

    assert (refused, after) == (2, 0)
    assert posts == [0] * 10 + [1]
    assert elsewhere == 0


async def test_given_metadata_when_updated_without_it_then_it_stays_and_history_gives_it_on_request() -> None:
    metadata = {"event_type": "run", "event_payload": {"run": "r1"}}
    async with room() as where:
        posted = await where.client.chat_postMessage(channel=HOME, text="a", blocks=card(), metadata=metadata)
        await where.client.chat_update(channel=HOME, ts=posted["ts"], text="b")
        with_it = await where.client.conversations_history(channel=HOME, include_all_metadata=True)
        without = await where.client.conversations_history(channel=HOME)
        await where.client.chat_update(channel=HOME, ts=posted["ts"], text="c", blocks=[], metadata={})
        last = await where.client.conversations_history(channel=HOME, include_all_metadata=True)

    assert with_it["messages"][0]["metadata"] == metadata
    assert [b["type"] for b in with_it["messages"][0]["blocks"]] == ["section", "actions"]
    assert "metadata" not in without["messages"][0]
    assert "metadata" not in last["messages"][0]
    assert "blocks" not in last["messages"][0]


async def test_given_the_other_channel_when_joined_then_the_bot_may_post() -> None:
    async with room() as where:
        await where.client.conversations_join(channel=RANDOM)
        posted = await where.client.chat_postMessage(channel=RANDOM, text="hello")
        await where.act("switch", name="kick", value="random")
        _, kicked, _ = await where.api("chat.postMessage", channel=RANDOM, text="x")
        await where.act("switch", name="archive", value=HOME)
        _, archived, _ = await where.api("chat.postMessage", channel=HOME, text="x")

    assert posted["ok"] is True
    assert (kicked["error"], archived["error"]) == ("not_in_channel", "is_archived")


async def test_given_a_person_when_a_direct_message_is_opened_then_only_they_read_it() -> None:
    async with room() as where:
        opened = await where.client.conversations_open(users="U0OPERATOR1")
        await where.client.chat_postMessage(channel=opened["channel"]["id"], text="psst")
        by_user = await where.client.chat_postMessage(channel="U0OPERATOR1", text="again")
        texts = [m["text"] for m in await where.messages("operator-1", "@operator-1")]

    assert by_user["channel"] == opened["channel"]["id"]
    assert texts == ["psst", "again"]


async def test_given_a_fault_rule_when_the_bot_calls_then_it_hits_the_api_and_never_the_page() -> None:
    async with room() as where:
        where.faults.add(system="slack", status=503, times=1)
        people = await where.look("people")
        status = None
        async with where.session.post(f"{where.url}/api/auth.test") as answer:
            status = answer.status

    assert people["ok"] is True
    assert status == 503
