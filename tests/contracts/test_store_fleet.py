"""Brake, retention and the first contact with a store."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest

from state.journal import MessageRecord
from state.run import RunPhase
from state.store import RedisFleet, RedisStore
from tests.stored import AT, a_click, begun, change, opened
from tests.valkey import Valkey


@pytest.fixture
async def store(valkey: Valkey) -> AsyncIterator[RedisStore]:
    async with opened(valkey.url) as store:
        yield store


async def test_given_no_brake_when_set_then_every_replica_reads_it_until_it_is_lifted(
    valkey: Valkey, store: RedisStore
) -> None:
    async with opened(valkey.url, "bot-b") as other:
        before = await other.get_brake()
        await store.set_brake("U1", "smoke in the data centre")
        during = await other.get_brake()
        await other.lift_brake("U2")

        assert before is None
        assert during is not None
        assert (during.by, during.reason) == ("U1", "smoke in the data centre")
        assert await store.get_brake() is None


async def test_given_a_set_brake_when_set_again_then_the_first_reason_stays_and_the_log_tells_both_sides(
    store: RedisStore,
) -> None:
    await store.set_brake("U1", "first")
    await store.set_brake("U2", "second")
    await store.lift_brake("U3")
    await store.lift_brake("U4")

    rows = await store.fleet.fleet_log()

    assert [(row["event"], row["by"], row["reason"]) for row in rows] == [
        ("brake-set", "U1", "first"),
        ("brake-lifted", "U3", ""),
    ]


async def test_given_an_ended_run_when_its_time_is_over_then_nothing_of_it_is_left(
    valkey: Valkey, store: RedisStore
) -> None:
    ended = await begun(store)
    await begun(store, "run-2", "gpu-2")
    await store.runs.submit("run-1", a_click("c1"))
    await store.runs.put_message("run-1", "k", MessageRecord("C", "1", "d", AT))
    await store.runs.apply(change(ended, "end", replace(ended.run, phase=RunPhase.DONE)))
    impatient = RedisFleet(store.link, timedelta(milliseconds=-1))

    kept = await store.fleet.sweep()
    gone = await impatient.sweep()

    assert (kept, gone, await impatient.sweep()) == (0, 1, 0)
    assert await store.runs.load("run-2") is not None
    assert [one.run.id for one in await store.runs.recent(9)] == ["run-2"]
    assert valkey.say("EXISTS", *(f"{{gpu-migrate}}:{kind}:run-1" for kind in ("run", "log", "inbox", "seen"))) == ":0"


async def test_given_a_store_when_pinged_then_the_time_is_told(store: RedisStore) -> None:
    assert 0 < await store.ping() < 5


async def test_given_anything_written_when_listed_then_every_key_has_the_one_hash_tag(
    valkey: Valkey, store: RedisStore
) -> None:
    stored = await begun(store)
    await store.runs.submit("run-1", a_click("c1"))
    await store.runs.put_message("run-1", "k", MessageRecord("C", "1", "d", AT))
    await store.set_brake("U1", "x")
    await store.ownership.lead()
    await store.runs.apply(change(stored, "end", replace(stored.run, phase=RunPhase.DONE)))

    everything = valkey.say("EVAL", "return #redis.call('KEYS', '*')", "0")
    ours = valkey.say("EVAL", "return #redis.call('KEYS', '{gpu-migrate}:*')", "0")

    assert everything == ours
