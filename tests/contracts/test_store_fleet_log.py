"""The fleet's log on a real server: chained, read with what stood there before, and every change of it shows."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

from state import keys
from state.store import RedisStore, verify_chain
from tests.stored import opened
from tests.valkey import Valkey


@pytest.fixture
async def store(valkey: Valkey) -> AsyncIterator[RedisStore]:
    async with opened(valkey.url) as store:
        yield store


async def moved(store: RedisStore, times: int) -> None:
    """Brake set and lifted in turn."""
    for number in range(times):
        if number % 2:
            await store.lift_brake(f"U{number}")
        else:
            await store.set_brake(f"U{number}", "smoke")


async def test_given_brakes_when_read_then_each_entry_says_who_why_where_and_follows_the_one_before(
    store: RedisStore,
) -> None:
    await moved(store, 3)
    log = await store.fleet.whole_log()

    assert [(r["version"], r["event"], r["by"], r["reason"]) for r in log.rows] == [
        (0, "brake-set", "U0", "smoke"),
        (1, "brake-lifted", "U1", ""),
        (2, "brake-set", "U2", "smoke"),
    ]
    assert {row["replica"] for row in log.rows} == {store.ownership.replica.owner}
    assert verify_chain(log.chained) == ()
    assert log.newest == 2


async def test_given_several_replicas_when_they_move_the_brake_at_once_then_there_is_one_chain(valkey: Valkey) -> None:
    async with opened(valkey.url, "bot-a") as first, opened(valkey.url, "bot-b") as second:
        for _ in range(10):
            await asyncio.gather(*(store.set_brake("U1", "x") for store in (first, second, first, second)))
            await asyncio.gather(*(store.lift_brake("U2") for store in (first, second, first, second)))
        log = await first.fleet.whole_log()

        assert len(log.rows) == 20
        assert verify_chain(log.rows) == ()


async def test_given_entries_of_an_older_version_when_the_brake_moves_then_they_are_read_and_the_chain_begins_after_them(
    valkey: Valkey, store: RedisStore
) -> None:
    valkey.say("XADD", keys.FLEET_LOG, "*", "event", "brake-set", "by", "U9", "reason", "old")
    valkey.say("HSET", keys.BRAKE, "op", "old", "by", "U9", "reason", "old", "at", "2026-12-01T00:00:00+00:00")
    await store.lift_brake("U1")
    log = await store.fleet.whole_log()

    assert [(row["event"], row["by"], row.get("version")) for row in log.rows] == [
        ("brake-set", "U9", None),
        ("brake-lifted", "U1", 0),
    ]
    assert len(log.chained) == 1
    assert verify_chain(log.chained) == ()


async def test_given_a_cut_log_when_the_brake_moves_on_then_the_gap_shows(valkey: Valkey, store: RedisStore) -> None:
    """Retention takes the oldest; whoever takes the newest is found out, at once and ever after."""
    await moved(store, 4)
    rows = (await store.fleet.whole_log()).rows
    valkey.say("XTRIM", keys.FLEET_LOG, "MAXLEN", "3")
    trimmed = await store.fleet.whole_log()
    valkey.say("EVAL", "for _, e in ipairs(redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)) do "
               "redis.call('XDEL', KEYS[1], e[1]) end return 1", "1", keys.FLEET_LOG)  # fmt: skip
    cut = await store.fleet.whole_log()
    await store.set_brake("U4", "smoke")
    after = await store.fleet.whole_log()

    assert verify_chain(trimmed.chained) == ()
    assert (trimmed.rows, trimmed.newest) == (rows[1:], 3)
    assert verify_chain(cut.chained) == ()
    assert (cut.rows[-1]["version"], cut.newest) == (2, 3)
    assert verify_chain(after.chained) == (4,)


async def test_given_a_changed_entry_when_read_then_it_is_named(valkey: Valkey, store: RedisStore) -> None:
    await moved(store, 2)
    row = dict((await store.fleet.whole_log()).rows[1])
    changed = json.dumps({k: v for k, v in row.items() if k not in ("hash", "at")} | {"by": "U0NOBODY1"})
    valkey.say("XTRIM", keys.FLEET_LOG, "MAXLEN", "0")
    valkey.say("XADD", keys.FLEET_LOG, "*", "entry", changed, "hash", str(row["hash"]), "at", "1796137406885")

    assert verify_chain((await store.fleet.whole_log()).chained) == (1,)


async def test_given_more_entries_than_one_reply_holds_when_read_then_all_of_them(
    valkey: Valkey, store: RedisStore
) -> None:
    many = (
        "for i = 1, 1203 do redis.call('XADD', KEYS[1], '*', 'event', 'brake-set', 'by', tostring(i), 'reason', '') end"
    )
    valkey.say("EVAL", many, "1", keys.FLEET_LOG)

    assert [row["by"] for row in await store.fleet.fleet_log()] == [str(number) for number in range(1, 1204)]
