"""Everything a store is asked for, in the order of a run's life, on any kind of server and as any user."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TypeVar

from state.errors import TransientError
from state.journal import MessageRecord, StoredRun
from state.reasons import Code
from state.run import RunPhase
from state.store import RedisStore, open_reader, verify_chain
from tests.stored import AT, a_click, an_intent, begun, change, opened

T = TypeVar("T")


async def whole_life(url: str, wait_replicas: int = 0) -> None:
    """A run from its start until it is forgotten; with replicas its intents are held by them."""
    async with opened(url, wait_replicas=wait_replicas) as store:
        stored = await begun(store)
        await store.runs.claim_cluster(stored, "iks-1")
        await store.runs.put_message("run-1", "card", MessageRecord("C1", "1.0", "digest", AT))
        await store.runs.submit("run-1", a_click("c1"))
        (entry,) = await store.runs.inbox("run-1")
        opening = change(stored, "t1", replace(stored.run, intent=an_intent("op-1")), taken=(entry.id,), wake_at=AT)
        after = await store.runs.apply(opening)
        await _others_look(store, after)
        ended = replace(after.run, phase=RunPhase.DONE, intent=None)
        await store.runs.apply(change(after, "end", ended))

        assert await store.runs.active("iks-1") is None
        assert verify_chain(await store.runs.log("run-1")) == ()
        assert (await _reads(url)) == 3
        await _fleet(store)
        await store.ownership.release("run-1")
        await store.ownership.resign()


async def insist(call: Callable[[], Awaitable[T]], seconds: float = 30) -> T:
    """The same operation until it is answered. Lost history is an answer."""
    async with asyncio.timeout(seconds):
        while True:
            try:
                return await call()
            except TransientError as error:
                if error.reason.code is Code.STORE_REWOUND:
                    raise


async def work(store: RedisStore, run_id: str, acked: dict[str, int], stop: asyncio.Event) -> None:
    """Transitions one after the other; what was acknowledged is noted."""
    stored = await insist(partial(_loaded, store, run_id))
    while not stop.is_set():
        wanted = change(stored, f"{run_id}-{stored.version}")
        stored = await insist(partial(store.runs.apply, wanted))
        acked[run_id] = stored.version


async def complete(store: RedisStore, run_id: str, version: int) -> None:
    """Nothing that was acknowledged is missing from the log, and nothing stands there twice."""
    rows = await store.runs.log(run_id)
    stored = await store.runs.load(run_id)

    assert stored is not None
    assert stored.version == version
    assert [row["version"] for row in rows] == list(range(version + 1))
    assert len({row["op"] for row in rows}) == len(rows)
    assert verify_chain(rows) == ()


async def _loaded(store: RedisStore, run_id: str) -> StoredRun:
    stored = await store.runs.load(run_id)
    assert stored is not None
    return stored


async def _others_look(store: RedisStore, stored: StoredRun) -> None:
    assert await store.ownership.still_owns(stored)
    assert await store.ownership.due() == ("run-1",)
    assert await store.ownership.lead()
    assert await store.runs.recent(3) == (stored,)
    assert await store.runs.actives() == ("run-1",)
    assert list(await store.runs.messages("run-1")) == ["card"]
    assert await store.fleet.listen(0.01) == ()
    await store.ownership.renew()


async def _fleet(store: RedisStore) -> None:
    now = datetime.now(UTC)
    await store.set_brake("U1", "why")
    assert await store.get_brake() is not None
    await store.lift_brake("U1")
    assert await store.fleet.failed("run-1 gpu-1 step", now, timedelta(hours=1)) in ((), ("run-1 gpu-1 step",))
    assert len(await store.fleet.fleet_log()) == 2
    assert await store.fleet.sweep() == 0
    assert await store.ping() > 0


async def _reads(url: str) -> int:
    reader = await open_reader(url)
    try:
        return len(await reader.runs.log("run-1"))
    finally:
        await reader.aclose()
