"""A failover to a replica that had been cut off: what was to be held twice is there, and what is lost is noticed."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from state.errors import TransientError
from state.journal import StoredRun
from state.reasons import Code
from state.store import RedisStore
from tests.store_life import complete, insist
from tests.stored import an_intent, begun, change, opened
from tests.valkey import Valkey, until
from tests.valkey_sentinel import cut_off, guarded, in_step, is_primary, replicated, tell


@contextmanager
def _watched(folder: Path) -> Iterator[tuple[Valkey, Valkey, str]]:
    """Primary, replica, and the URL of the sentinel that watches them."""
    with replicated() as (primary, replica), guarded(folder, primary) as port:
        yield primary, replica, f"redis+sentinel://127.0.0.1:{port}/main/0"


async def test_given_a_replica_that_was_cut_off_when_it_takes_over_then_no_intent_is_lost_and_lost_history_is_noticed(
    tmp_path: Path,
) -> None:
    with _watched(tmp_path) as (primary, replica, url):
        async with opened(url, wait_replicas=1) as careful, opened(url, "bot-b") as hasty:
            held = await _intend(careful, await begun(careful), "op-1")
            seen = await begun(hasty, "run-2", "gpu-2")
            until(partial(_holds, replica, "run-2"), "the replica is behind")
            cut_off(replica)
            intending = asyncio.create_task(insist(partial(_intend, careful, held, "op-2")))
            for number in range(5):
                seen = await hasty.runs.apply(change(seen, f"lost-{number}"))
            primary.kill()
            await asyncio.to_thread(until, partial(is_primary, replica), "the replica did not take over")

            await _notices(hasty, seen)
            assert not intending.done()  # one server holds it at most: nothing may be ordered

            primary.launch("--replicaof", "127.0.0.1", str(replica.port))
            await asyncio.to_thread(until, partial(_follows, primary), "the old primary did not follow")
            assert (await intending).version == 2
            await complete(careful, "run-1", 2)


async def test_given_intents_all_the_while_when_the_replica_is_promoted_beside_a_living_primary_then_none_is_lost(
    tmp_path: Path,
) -> None:
    with replicated() as (primary, replica), guarded(tmp_path, primary) as port:
        async with opened(f"redis+sentinel://127.0.0.1:{port}/main/0", wait_replicas=1) as store:
            stop = asyncio.Event()
            began = [await begun(store, f"run-{number}", f"gpu-{number}") for number in range(4)]
            async with asyncio.TaskGroup() as group:
                intending = [group.create_task(_intends(store, stored, stop)) for stored in began]
                await _one_more_each(store)
                promoted = partial(tell, port, "SENTINEL FAILOVER main")
                await asyncio.to_thread(until, lambda: promoted() == b"+OK\r\n", "no replica was good enough")
                await asyncio.to_thread(until, partial(is_primary, replica), "the replica was not promoted")
                await asyncio.to_thread(until, partial(_follows, primary), "the old primary did not follow")
                await _one_more_each(store)
                stop.set()

            for number, acked in enumerate(intending):
                await complete(store, f"run-{number}", acked.result())


async def _intends(store: RedisStore, stored: StoredRun, stop: asyncio.Event) -> int:
    """One intent after the other; the version of the last that was acknowledged."""
    while not stop.is_set():
        stored = await insist(partial(_intend, store, stored, f"op-{stored.version}"))
    return stored.version


async def _one_more_each(store: RedisStore) -> None:
    before = {stored.run.id: stored.version for stored in await insist(partial(store.runs.recent, 4))}
    async with asyncio.timeout(30):
        while any(stored.version <= before[stored.run.id] for stored in await insist(partial(store.runs.recent, 4))):
            await asyncio.sleep(0.01)


async def _intend(store: RedisStore, stored: StoredRun, op: str) -> StoredRun:
    return await store.runs.apply(change(stored, op, replace(stored.run, intent=an_intent(op))))


def _holds(replica: Valkey, run_id: str) -> bool:
    return replica.say("HGET", f"{{gpu-migrate}}:run:{run_id}", "fence") == "$1"


def _follows(server: Valkey) -> bool:
    try:
        return in_step(server)
    except (OSError, AssertionError):  # not started, or still loading
        return False


async def _notices(store: RedisStore, seen: StoredRun) -> None:
    """Neither a look nor a write passes over it, until somebody compared with the cluster; then it goes on."""
    looks: tuple[Callable[[], Awaitable[object]], ...] = (
        partial(store.runs.load, "run-2"),
        partial(store.runs.apply, change(seen, "next")),
    )
    for look in looks:
        with pytest.raises(TransientError) as caught:
            await insist(look)
        assert caught.value.reason.code is Code.STORE_REWOUND
        assert caught.value.reason.facts["known"] == 5
    assert not await store.ownership.still_owns(seen)

    store.runs.accept_rewound("run-2")
    found = await store.runs.load("run-2")
    assert found is not None
    assert found.version == 0
    assert (await store.runs.apply(change(found, "again"))).version == 1
