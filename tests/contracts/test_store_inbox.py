"""Events of people: recorded once, first come first, taken with the transition that consumed them."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from state import keys
from state.codec import Unreadable
from state.errors import PermanentError
from state.reasons import Code
from state.run import RunPhase
from state.store import RedisStore
from tests.stored import a_click, begun, change, opened
from tests.valkey import Valkey


@pytest.fixture
async def store(valkey: Valkey) -> AsyncIterator[RedisStore]:
    async with opened(valkey.url) as store:
        yield store


async def test_given_one_click_sent_twice_when_submitted_then_it_stands_once(store: RedisStore) -> None:
    await begun(store)

    answers = [await store.runs.submit("run-1", a_click("c1")) for _ in range(2)]

    assert answers == [True, True]
    assert [entry.event for entry in await store.runs.inbox("run-1")] == [a_click("c1")]


async def test_given_a_taken_click_when_it_comes_again_then_it_stays_taken(store: RedisStore) -> None:
    stored = await begun(store)
    await store.runs.submit("run-1", a_click("c1"))
    (entry,) = await store.runs.inbox("run-1")
    await store.runs.apply(change(stored, "t1", taken=(entry.id,)))

    await store.runs.submit("run-1", a_click("c1"))

    assert await store.runs.inbox("run-1") == ()


async def test_given_clicks_when_submitted_at_once_then_all_stand_in_one_order(store: RedisStore) -> None:
    await begun(store)

    await asyncio.gather(*(store.runs.submit("run-1", a_click(f"c{number}")) for number in range(60)))

    entries = await store.runs.inbox("run-1")
    assert len({entry.event.id for entry in entries}) == 60
    assert [entry.id for entry in entries] == [entry.id for entry in await store.runs.inbox("run-1")]


async def test_given_a_click_when_submitted_then_the_run_is_due_until_it_is_taken(store: RedisStore) -> None:
    stored = await store.runs.apply(change(await begun(store), "t0"))
    quiet = await store.ownership.due()
    await store.runs.submit("run-1", a_click("c1"))
    await store.runs.submit("run-1", a_click("c2"))
    first, second = await store.runs.inbox("run-1")

    stored = await store.runs.apply(change(stored, "t1", taken=(first.id,)))
    with_one_left = await store.ownership.due()
    await store.runs.apply(change(stored, "t2", taken=(second.id,)))

    assert quiet == ()
    assert with_one_left == ("run-1",)
    assert await store.ownership.due() == ()


async def test_given_a_refused_transition_when_applied_then_its_click_stays(store: RedisStore) -> None:
    stored = await begun(store)
    await store.runs.submit("run-1", a_click("c1"))
    (entry,) = await store.runs.inbox("run-1")
    await store.runs.apply(change(stored, "t1"))

    with pytest.raises(Exception, match="store-overtaken"):
        await store.runs.apply(change(stored, "t2", taken=(entry.id,)))

    assert await store.runs.inbox("run-1") == (entry,)


async def test_given_a_run_that_ends_when_a_click_comes_then_it_is_refused_and_nothing_of_it_is_kept(
    valkey: Valkey, store: RedisStore
) -> None:
    stored = await begun(store)
    await store.runs.submit("run-1", a_click("c1"))
    wake = datetime.now(UTC)  # a mistake: nothing wakes an ended run
    await store.runs.apply(change(stored, "end", replace(stored.run, phase=RunPhase.DONE), wake_at=wake))

    for _ in range(2):
        with pytest.raises(PermanentError) as caught:
            await store.runs.submit("run-1", a_click("c2"))
        assert (caught.value.reason.code, caught.value.reason.text("run")) == (Code.RUN_ENDED, "run-1")
    assert await store.runs.submit("run-1", a_click("c1")) is True  # it was recorded when the run still went on
    assert [entry.event.id for entry in await store.runs.inbox("run-1")] == ["c1"]
    assert valkey.say("ZCARD", keys.seen("run-1")) == ":1"
    assert valkey.say("ZCARD", keys.DUE) == ":0"
    assert await store.ownership.due() == ()


async def test_given_somebody_listens_when_a_click_comes_then_the_bell_rings(store: RedisStore) -> None:
    await begun(store)
    listening = asyncio.create_task(store.fleet.listen(5))
    await store.ping()

    heard: tuple[str, ...] = ()
    for number in range(50):  # the first ones may come before the ear is there
        await store.runs.submit("run-1", a_click(f"c{number}"))
        if listening.done():
            break
    heard = await listening

    assert heard == ("run-1",)


async def test_given_nobody_speaks_when_listening_then_silence_after_the_time(store: RedisStore) -> None:
    assert await store.fleet.listen(0.05) == ()


async def test_given_an_event_of_a_newer_version_when_read_then_it_is_named_and_kept(
    valkey: Valkey, store: RedisStore
) -> None:
    await begun(store)
    valkey.say("XADD", "{gpu-migrate}:inbox:run-1", "*", "event", '{"$":"Teleported","at":"2026-12-01T00:00:00+00:00"}')

    for _ in range(2):
        with pytest.raises(Unreadable, match="Teleported"):
            await store.runs.inbox("run-1")
