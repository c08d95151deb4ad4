"""Replies lost on the wire, calls given up half-way: each script counts once in effect, however often it is sent."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace

import pytest

from state import keys
from state.errors import TransientError
from state.journal import MessageRecord
from state.reasons import Code
from state.run import RunPhase
from state.store import RedisStore
from tests.lossy_proxy import LossyProxy, lossy
from tests.stored import AT, a_click, a_run, begun, change, opened
from tests.valkey import Valkey


@pytest.fixture
async def proxy(valkey: Valkey) -> AsyncIterator[tuple[LossyProxy, str]]:
    async with lossy(str(valkey.socket_path)) as both:
        yield both


@pytest.fixture
async def store(proxy: tuple[LossyProxy, str]) -> AsyncIterator[RedisStore]:
    async with opened(proxy[1]) as store:
        yield store


async def _create(store: RedisStore) -> object:
    return (await store.runs.create(a_run("run-2", "gpu-2"), "e2"), await store.runs.active("gpu-2"))


async def _claim(store: RedisStore) -> object:
    stored = await store.runs.load("run-1")
    assert stored is not None
    return (await store.runs.claim_cluster(stored, "iks-1"), await store.runs.active("iks-1"))


async def _apply(store: RedisStore) -> object:
    stored = await store.runs.load("run-1")
    assert stored is not None
    after = await store.runs.apply(change(stored, "t1"))
    return (after, len(await store.runs.log("run-1")))


async def _end(store: RedisStore) -> object:
    stored = await store.runs.load("run-1")
    assert stored is not None
    after = await store.runs.apply(change(stored, "end", replace(stored.run, phase=RunPhase.DONE)))
    return (after, await store.runs.actives())


async def _submit(store: RedisStore) -> object:
    answer = await store.runs.submit("run-1", a_click("c1"))
    return (answer, [entry.event for entry in await store.runs.inbox("run-1")])


async def _message(store: RedisStore) -> object:
    await store.runs.put_message("run-1", "k", MessageRecord("C", "1", "d", AT))
    return await store.runs.messages("run-1")


async def _take(store: RedisStore) -> object:
    await store.ownership.release("run-1")
    return await store.ownership.take("run-1")


async def _look(store: RedisStore) -> object:
    stored = await store.runs.load("run-1")
    assert stored is not None
    return await store.ownership.still_owns(stored)


async def _due(store: RedisStore) -> object:
    return await store.ownership.due()


async def _lead(store: RedisStore) -> object:
    return await store.ownership.lead()


async def _renew(store: RedisStore) -> object:
    await store.ownership.renew()
    return store.ownership.holds(5)


async def _resign(store: RedisStore) -> object:
    await store.ownership.resign()
    return store.ownership.holds(0)


async def _brake(store: RedisStore) -> object:
    await store.set_brake("U1", "why")
    await store.lift_brake("U2")
    return [row["event"] for row in await store.fleet.fleet_log()]


EVERY_SCRIPT = (
    _create, _claim, _apply, _end, _submit, _message, _take, _look, _due, _lead, _renew, _resign, _brake,
)  # fmt: skip


@pytest.mark.parametrize("losses", [1, 2])
@pytest.mark.parametrize("act", EVERY_SCRIPT, ids=lambda act: act.__name__.strip("_"))
async def test_given_lost_replies_when_anything_is_done_then_it_counts_once(
    valkey: Valkey,
    proxy: tuple[LossyProxy, str],
    store: RedisStore,
    act: Callable[[RedisStore], Awaitable[object]],
    losses: int,
) -> None:
    await begun(store)
    expected = await act(store)
    valkey.say("FLUSHALL")
    async with opened(proxy[1], "bot-c") as again:
        await begun(again)
        proxy[0].lose = losses

        found = await act(again)

    assert proxy[0].lost == losses
    assert found == expected


@pytest.mark.parametrize("after", [0, 1], ids=["rehearsal", "registration"])
async def test_given_a_reply_of_the_opening_is_lost_when_opened_then_it_still_opens(
    proxy: tuple[LossyProxy, str], valkey: Valkey, after: int
) -> None:
    proxy[0].lose, proxy[0].after = 1, after

    async with opened(proxy[1], "bot-d") as store:
        assert store.ownership.holds(5)
        assert await store.ownership.due() == ()
    assert proxy[0].lost == 1


async def test_given_no_reply_ever_when_submitted_then_unreachable_within_its_deadline_and_recorded_once(
    proxy: tuple[LossyProxy, str], store: RedisStore
) -> None:
    await begun(store)
    proxy[0].lose = 1000
    clock = asyncio.get_running_loop().time
    began = clock()

    with pytest.raises(TransientError) as caught:
        await store.runs.submit("run-1", a_click("c1"))
    took = clock() - began
    proxy[0].lose = 0
    pressed_again = await store.runs.submit("run-1", a_click("c1"))

    assert caught.value.reason.code is Code.STORE_UNREACHABLE
    assert took < 2.5
    assert proxy[0].lost > 2
    assert pressed_again is True
    assert len(await store.runs.inbox("run-1")) == 1


async def test_given_three_hundred_submits_cancelled_when_the_store_closes_then_all_are_recorded(
    valkey: Valkey,
) -> None:
    async with opened(valkey.url) as store:
        await begun(store)
        tasks = [asyncio.create_task(store.runs.submit("run-1", a_click(f"c{number}"))) for number in range(300)]
        await asyncio.sleep(0)  # all have begun, few have an answer
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        cancelled = sum(task.cancelled() for task in tasks)

    recorded = int(valkey.say("XLEN", keys.inbox("run-1")).removeprefix(":"))
    distinct = int(valkey.say("ZCARD", keys.seen("run-1")).removeprefix(":"))
    assert cancelled > 200
    assert recorded == distinct == 300


async def test_given_three_hundred_reads_cancelled_when_others_follow_then_no_answer_is_anothers(
    valkey: Valkey,
) -> None:
    async with opened(valkey.url) as store:
        for number in range(5):
            await begun(store, f"run-{number}", f"gpu-{number}")
        tasks = [asyncio.create_task(store.runs.load(f"run-{number % 5}")) for number in range(300)]
        for turn, task in enumerate(tasks):
            if turn % 5 == 0:
                await asyncio.sleep(0.001)
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

        after = await asyncio.gather(*(store.runs.load(f"run-{number % 5}") for number in range(300)))

    assert [stored.run.id for stored in after if stored] == [f"run-{number % 5}" for number in range(300)]


async def test_given_cancelled_transitions_when_loaded_then_each_counted_once(valkey: Valkey) -> None:
    async with opened(valkey.url) as store:
        stored = await begun(store)
        for number in range(40):
            task = asyncio.create_task(store.runs.apply(change(stored, f"t{number}")))
            await asyncio.sleep(0.0005 * (number % 4))
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            stored = await store.runs.apply(change(stored, f"t{number}"))

        rows = await store.runs.log("run-1")

    assert stored.version == 40
    assert [row["op"] for row in rows[1:]] == [f"t{number}" for number in range(40)]
