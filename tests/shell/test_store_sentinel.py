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
from tests.valkey_sentinel import cut_off, guarded, in_step, replicated


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
            await asyncio.to_thread(until, lambda: replica.say("ROLE") == "*3", "the replica did not take over")

            await _notices(hasty, seen)
            assert not intending.done()  # one server holds it at most: nothing may be ordered

            primary.launch("--replicaof", "127.0.0.1", str(replica.port))
            await asyncio.to_thread(until, partial(_follows, primary), "the old primary did not follow")
            assert (await intending).version == 2
            await complete(careful, "run-1", 2)


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
