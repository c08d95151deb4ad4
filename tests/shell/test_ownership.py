"""Leases and fences, with two replicas on one real server."""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from state import keys
from state.codec import Unreadable, encode
from state.errors import RunConflict
from state.reasons import Code
from state.store import RedisStore
from state.store.ownership import LEASE_SECONDS
from tests.stored import a_run, begun, change, opened
from tests.valkey import Valkey

BLOCKED = "return tonumber(string.match(redis.call('INFO', 'clients'), 'blocked_clients:(%d+)'))"


@pytest.fixture
async def first(valkey: Valkey) -> AsyncIterator[RedisStore]:
    async with opened(valkey.url, "bot-a") as store:
        yield store


@pytest.fixture
async def second(valkey: Valkey, first: RedisStore) -> AsyncIterator[RedisStore]:
    async with opened(valkey.url, "bot-b") as store:
        yield store


def lose_lease(valkey: Valkey, name: str) -> None:
    """As if the replica had not renewed for longer than its lease."""
    valkey.say("ZADD", keys.REPLICAS, "1", name)


async def test_given_an_owned_run_when_another_wants_it_then_it_gets_nothing(
    first: RedisStore, second: RedisStore
) -> None:
    stored = await begun(first)

    assert await second.ownership.take("run-1") is None
    assert await first.ownership.take("run-1") == stored


async def test_given_the_owners_lease_ran_out_when_taken_then_the_fence_rises_and_the_old_owner_is_refused(
    valkey: Valkey, first: RedisStore, second: RedisStore
) -> None:
    stored = await begun(first)
    lose_lease(valkey, "bot-a")

    taken = await second.ownership.take("run-1")

    assert taken is not None
    assert taken.fence == stored.fence + 1
    with pytest.raises(RunConflict) as caught:
        await first.runs.apply(change(stored, "late"))
    assert caught.value.reason.text("what") == "fence"
    assert await first.ownership.still_owns(stored) is False
    assert await second.ownership.still_owns(taken) is True


async def test_given_a_restart_under_the_same_name_when_it_asks_then_its_predecessors_runs_are_its_own_at_once(
    valkey: Valkey, first: RedisStore
) -> None:
    stored = await begun(first)
    async with opened(valkey.url, "bot-a") as restarted:
        due = await restarted.ownership.due()
        taken = await restarted.ownership.take("run-1")

        assert due == ("run-1",)
        assert taken is not None
        assert taken.fence == stored.fence + 1
        assert int(restarted.ownership.replica.epoch) > int(first.ownership.replica.epoch)
        assert await restarted.runs.apply(change(taken, "t1")) is not None


async def test_given_a_newer_process_of_the_same_name_when_the_old_one_renews_then_it_learns_that_it_is_over(
    valkey: Valkey, first: RedisStore
) -> None:
    stored = await begun(first)
    async with opened(valkey.url, "bot-a"):
        with pytest.raises(RunConflict) as caught:
            await asyncio.wait_for(first.ownership.keep(), 10)

        assert caught.value.reason.code is Code.REPLICA_SUPERSEDED
        assert first.ownership.holds(0) is False
        assert await first.ownership.still_owns(stored) is False


async def test_given_a_newer_process_of_the_same_name_when_the_old_one_looks_before_a_call_then_no(
    valkey: Valkey, first: RedisStore
) -> None:
    stored = await begun(first)
    async with opened(valkey.url, "bot-a"):
        assert await first.ownership.still_owns(stored) is False
        assert not first.ownership.holds(0)


async def test_given_a_lease_when_renewed_then_it_lasts_from_before_the_question(first: RedisStore) -> None:
    before = time.monotonic()
    await first.ownership.renew()

    left = LEASE_SECONDS - (time.monotonic() - before)
    assert first.ownership.holds(left - 1)
    assert not first.ownership.holds(LEASE_SECONDS)


async def test_given_a_lapsed_lease_when_the_replica_lives_on_then_it_may_take_what_nobody_took(
    valkey: Valkey, first: RedisStore, second: RedisStore
) -> None:
    stored = await begun(first)
    lose_lease(valkey, "bot-a")

    taken = await first.ownership.take("run-1")

    assert taken == stored
    assert await second.ownership.take("run-1") is None  # its lease holds again


async def test_given_a_released_run_when_another_asks_then_it_may_have_it_at_once(
    first: RedisStore, second: RedisStore
) -> None:
    stored = await begun(first)

    await first.ownership.release("run-1")

    assert await second.ownership.due() == ("run-1",)
    assert await second.ownership.take("run-1") == replace(stored, fence=stored.fence + 1)
    await first.ownership.release("run-1")  # late: not its run any more
    assert await first.ownership.take("run-1") is None


async def test_given_a_replica_that_resigned_when_others_ask_then_all_is_theirs_and_a_late_renewal_changes_nothing(
    first: RedisStore, second: RedisStore
) -> None:
    await begun(first)
    await begun(first, "run-2", "gpu-2")
    assert await first.ownership.lead()

    await first.ownership.resign()

    assert not first.ownership.holds(0)
    with pytest.raises(RunConflict):
        await first.ownership.renew()
    assert set(await second.ownership.due()) == {"run-1", "run-2"}
    assert await second.ownership.lead()


async def test_given_two_replicas_when_both_take_what_they_are_offered_then_each_has_its_share(
    first: RedisStore, second: RedisStore
) -> None:
    for number in range(9):
        await first.runs.create(a_run(f"run-{number}", f"gpu-{number}"), f"e{number}")

    offered_first, offered_second = await first.ownership.due(), await second.ownership.due()
    for run_id in offered_first:
        await first.ownership.take(run_id)
    left_for_second = await second.ownership.due()

    assert (len(offered_first), len(offered_second)) == (5, 5)
    assert len(left_for_second) == 4
    assert await first.ownership.due() == offered_first  # created runs are due until their first transition


async def test_given_the_other_replica_dies_when_asked_then_its_runs_are_offered_within_the_share(
    valkey: Valkey, first: RedisStore, second: RedisStore
) -> None:
    await begun(first)
    stored = await begun(second, "run-2", "gpu-2")
    lose_lease(valkey, "bot-a")

    due = await second.ownership.due()

    assert set(due) == {"run-1", "run-2"}
    assert stored.fence == 1


async def test_given_eight_takers_when_one_run_is_free_then_one_gets_it(valkey: Valkey, first: RedisStore) -> None:
    await first.runs.create(a_run(), "e1")
    others = [opened(valkey.url, f"bot-{number}") for number in range(8)]
    stores = [await other.__aenter__() for other in others]
    try:
        taken = await asyncio.gather(*(store.ownership.take("run-1") for store in stores))
    finally:
        for other in others:
            await other.__aexit__(None, None, None)

    owners = [stored for stored in taken if stored is not None]
    assert len(owners) == 1
    assert owners[0].fence == 1


async def test_given_a_leader_when_it_dies_then_the_next_who_asks_leads(
    valkey: Valkey, first: RedisStore, second: RedisStore
) -> None:
    assert await first.ownership.lead()
    assert not await second.ownership.lead()

    lose_lease(valkey, "bot-a")

    assert await second.ownership.lead()
    await first.ownership.renew()
    assert not await first.ownership.lead()


async def test_given_a_run_of_a_newer_schema_when_taken_then_it_is_left_as_it_is_and_not_offered_for_a_while(
    valkey: Valkey, first: RedisStore
) -> None:
    await first.runs.create(a_run(), "e1")
    valkey.say("HSET", keys.run("run-1"), "schema", "99")
    offered = await first.ownership.due()
    with pytest.raises(Unreadable, match="99"):
        await first.ownership.take("run-1")

    assert offered == ("run-1",)
    assert valkey.say("HLEN", keys.OWNERS) == ":0"
    assert valkey.say("HINCRBY", keys.run("run-1"), "fence", "0") == ":0"
    assert await first.ownership.due() == ()


async def test_given_a_run_that_cannot_be_read_when_taken_then_it_is_left_to_others(
    valkey: Valkey, first: RedisStore, second: RedisStore
) -> None:
    stored = await begun(second)
    await second.ownership.release("run-1")
    text = encode(stored.run)
    valkey.say("HSET", keys.run("run-1"), "run", text.replace('"planning"', '"teleporting"'))
    with pytest.raises(Unreadable):
        await first.ownership.take("run-1")
    valkey.say("HSET", keys.run("run-1"), "run", text)

    assert await first.ownership.due() == ()
    assert await second.ownership.due() == ("run-1",)


async def test_given_a_run_left_to_one_replica_when_the_bell_rings_then_that_one_hears_it_alone(
    valkey: Valkey, first: RedisStore, second: RedisStore
) -> None:
    await begun(first)
    async with opened(valkey.url, "bot-c") as third:
        ears = [asyncio.create_task(store.fleet.listen(1.0)) for store in (first, second, third)]
        await listening(valkey, len(ears))
        await first.ownership.release("run-1", third.ownership.replica.owner)

        assert await asyncio.gather(*ears) == [(), (), ("run-1",)]


async def test_given_a_released_run_when_the_bell_rings_then_all_others_hear_it(
    valkey: Valkey, first: RedisStore, second: RedisStore
) -> None:
    await begun(first)
    ears = [asyncio.create_task(store.fleet.listen(1.0)) for store in (first, second)]
    await listening(valkey, len(ears))
    await first.ownership.release("run-1")

    assert await asyncio.gather(*ears) == [(), ("run-1",)]


async def listening(valkey: Valkey, count: int) -> None:
    """Until so many connections wait for the bell."""
    async with asyncio.timeout(5):
        while valkey.say("EVAL", BLOCKED, "0") != f":{count}":
            await asyncio.sleep(0.005)
