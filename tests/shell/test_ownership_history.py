"""Ownership when history is lost, newer than us, at its end, or out of reach."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest

from state import keys
from state.codec import Unreadable
from state.errors import RunConflict, TransientError
from state.reasons import Code
from state.run import RunPhase
from state.store import RedisStore
from tests.stored import a_run, begun, change, opened
from tests.valkey import Valkey, running


@pytest.fixture
async def first(valkey: Valkey) -> AsyncIterator[RedisStore]:
    async with opened(valkey.url, "bot-a") as store:
        yield store


@pytest.fixture
async def second(valkey: Valkey, first: RedisStore) -> AsyncIterator[RedisStore]:
    async with opened(valkey.url, "bot-b") as store:
        yield store


async def test_given_a_store_that_lost_everything_when_restarted_under_the_same_name_then_the_newer_process_wins(
    valkey: Valkey, first: RedisStore
) -> None:
    valkey.say("FLUSHALL")
    async with opened(valkey.url, "bot-a") as restarted:
        with pytest.raises(RunConflict):
            await first.ownership.renew()
        await restarted.ownership.renew()


async def test_given_a_run_of_a_newer_version_when_taken_then_it_is_left_to_others_and_not_offered_again(
    valkey: Valkey, first: RedisStore, second: RedisStore
) -> None:
    await first.runs.create(a_run(), "e1")
    valkey.say("HSET", keys.run("run-1"), "schema", "99")

    with pytest.raises(Unreadable, match="schema 99"):
        await first.ownership.take("run-1")

    assert await first.ownership.due() == ()
    assert await second.ownership.due() == ("run-1",)


async def test_given_the_store_lost_everything_when_asked_then_it_is_said_and_not_taken_for_new(
    valkey: Valkey, first: RedisStore
) -> None:
    stored = await first.runs.apply(change(await begun(first), "t1"))
    valkey.say("FLUSHALL")

    await first.ownership.renew()  # our name is put back: nobody newer has it

    for question in (first.runs.load("run-1"), first.ownership.take("run-1"), first.runs.apply(change(stored, "t2"))):
        with pytest.raises(TransientError) as caught:
            await question
        assert caught.value.reason.code is Code.STORE_REWOUND
    assert await first.ownership.still_owns(stored) is False
    first.runs.accept_rewound("run-1")
    assert await first.runs.load("run-1") is None


async def test_given_an_older_history_when_taken_then_the_fence_rises_above_all_that_were_seen(
    valkey: Valkey, first: RedisStore, second: RedisStore
) -> None:
    await begun(first)
    valkey.say("ZADD", keys.REPLICAS, "1", "bot-a")  # its lease ran out
    taken = await second.ownership.take("run-1")
    assert taken is not None
    valkey.say("HSET", keys.run("run-1"), "fence", "0")

    again = await second.ownership.take("run-1")

    assert again is not None
    assert again.fence == taken.fence + 1


async def test_given_an_ended_run_when_taken_then_its_owner_may_still_tell_the_end(
    first: RedisStore, second: RedisStore
) -> None:
    stored = await begun(first)
    await first.runs.apply(change(stored, "end", replace(stored.run, phase=RunPhase.DONE)))
    await first.ownership.release("run-1")

    taken = await second.ownership.take("run-1")

    assert taken is not None
    assert taken.run.phase is RunPhase.DONE


async def test_given_a_store_out_of_reach_when_the_lease_is_kept_then_the_trouble_is_named_until_it_is_over() -> None:
    with running() as server:
        async with opened(server.url) as store:
            server.kill()
            keeping = asyncio.create_task(store.ownership.keep())
            await _until(lambda: store.ownership.trouble is not None)
            named = store.ownership.trouble
            await asyncio.to_thread(server.start)
            await _until(lambda: store.ownership.trouble is None)
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)

            assert named is not None
            assert named.code is Code.STORE_UNREACHABLE
            assert store.ownership.holds(8)


async def _until(reached: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not reached():
            await asyncio.sleep(0.02)
