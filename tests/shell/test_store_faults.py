"""A server that dies, freezes, forgets scripts, refuses: named, survived, nothing doubled, nothing half written."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from state.errors import TransientError
from state.reasons import Code
from state.store import RedisStore, verify_chain
from tests.stored import a_click, begun, change, opened
from tests.valkey import Valkey, running


@pytest.fixture(scope="module")
def own_server() -> Iterator[Valkey]:
    with running() as server:
        yield server


@pytest.fixture
def server(own_server: Valkey) -> Iterator[Valkey]:
    """A server that this test may hurt; healed afterwards."""
    own_server.say("FLUSHALL")
    yield own_server
    own_server.thaw()
    own_server.say("REPLICAOF", "NO", "ONE")
    own_server.say("CONFIG", "SET", "maxmemory", "0", "min-replicas-to-write", "0")


@pytest.fixture
async def store(server: Valkey) -> AsyncIterator[RedisStore]:
    async with opened(server.url) as store:
        yield store


async def _work(store: RedisStore, run_id: str, acked: dict[str, int], stop: asyncio.Event) -> None:
    """Transitions one after the other; what was acknowledged is noted."""
    stored = await store.runs.load(run_id)
    assert stored is not None
    while not stop.is_set():
        try:
            stored = await store.runs.apply(change(stored, f"{run_id}-{stored.version}"))
        except TransientError:
            continue  # the same operation again
        acked[run_id] = stored.version


async def test_given_load_when_the_server_is_killed_and_started_again_then_nothing_acknowledged_is_lost_or_doubled() -> (
    None
):
    acked: dict[str, int] = {}
    stop = asyncio.Event()
    with running() as server:
        async with opened(server.url) as store:
            runs = [f"run-{number}" for number in range(6)]
            for run_id in runs:
                await begun(store, run_id, f"gpu-{run_id}")
            workers = [asyncio.create_task(_work(store, run_id, acked, stop)) for run_id in runs]
            for _ in range(3):
                await _until(lambda low=dict(acked): all(acked.get(run, 0) > low.get(run, 0) + 3 for run in runs))
                server.kill()
                await asyncio.to_thread(server.start)
            await _until(lambda low=dict(acked): all(acked.get(run, 0) > low.get(run, 0) + 3 for run in runs))
            stop.set()
            await asyncio.gather(*workers)

            for run_id in runs:
                rows = await store.runs.log(run_id)
                stored = await store.runs.load(run_id)
                assert stored is not None
                assert stored.version == acked[run_id]
                assert [row["version"] for row in rows] == list(range(acked[run_id] + 1))
                assert len({row["op"] for row in rows}) == len(rows)
                assert verify_chain(rows) == ()


async def _until(reached: object, seconds: float = 30) -> None:
    assert callable(reached)
    async with asyncio.timeout(seconds):
        while not reached():
            await asyncio.sleep(0.01)


async def test_given_a_frozen_server_when_it_thaws_in_time_then_the_transition_is_stored_once(
    server: Valkey, store: RedisStore
) -> None:
    stored = await begun(store)
    server.freeze()
    applying = asyncio.create_task(store.runs.apply(change(stored, "t1")))
    await asyncio.sleep(0.5)
    server.thaw()

    assert (await applying).version == 1
    assert len(await store.runs.log("run-1")) == 2


async def test_given_a_frozen_server_when_submitted_then_the_person_hears_within_the_deadline_and_may_press_again(
    server: Valkey, store: RedisStore
) -> None:
    await begun(store)
    clock = asyncio.get_running_loop().time
    server.freeze()
    began = clock()
    with pytest.raises(TransientError) as caught:
        await store.runs.submit("run-1", a_click("c1"))
    took = clock() - began
    server.thaw()

    assert caught.value.reason.code is Code.STORE_UNREACHABLE
    assert took < 2.6
    assert await store.runs.submit("run-1", a_click("c1")) is True
    assert len(await store.runs.inbox("run-1")) == 1


async def test_given_a_frozen_server_when_the_lease_is_renewed_then_it_is_not_believed_to_last(
    server: Valkey, store: RedisStore
) -> None:
    stored = await begun(store)
    server.freeze()

    with pytest.raises(TransientError):
        await store.ownership.still_owns(stored)

    server.thaw()
    assert not store.ownership.holds(10.5)  # two seconds of the twelve are gone and were not given back


async def test_given_forgotten_scripts_when_called_then_their_text_is_sent(server: Valkey, store: RedisStore) -> None:
    stored = await begun(store)
    server.say("SCRIPT", "FLUSH")

    after = await store.runs.apply(change(stored, "t1"))

    assert after.version == 1


async def test_given_a_server_that_turned_replica_when_written_then_refused_by_name(
    server: Valkey, store: RedisStore
) -> None:
    await begun(store)
    server.say("REPLICAOF", "127.0.0.1", "1")

    with pytest.raises(TransientError) as caught:
        await store.runs.submit("run-1", a_click("c1"))

    assert str(caught.value.reason) == "store-refused[detail=READONLY]"


async def test_given_a_failover_in_progress_when_written_then_it_is_repeated_until_it_succeeds(
    server: Valkey, store: RedisStore
) -> None:
    await begun(store)
    server.say("REPLICAOF", "127.0.0.1", "1")
    submitting = asyncio.create_task(store.runs.submit("run-1", a_click("c1")))
    await asyncio.sleep(0.3)
    server.say("REPLICAOF", "NO", "ONE")

    assert await submitting is True
    assert len(await store.runs.inbox("run-1")) == 1


@pytest.mark.parametrize(
    ("option", "value", "detail"),
    [("maxmemory", "1", "OOM"), ("min-replicas-to-write", "1", "NOREPLICAS")],
    ids=["memory full", "too few replicas"],
)
async def test_given_a_server_that_refuses_when_submitted_then_it_says_why_and_nothing_is_half_written(
    server: Valkey, store: RedisStore, option: str, value: str, detail: str
) -> None:
    stored = await begun(store)
    server.say("CONFIG", "SET", option, value)

    with pytest.raises(TransientError) as caught:
        await store.runs.submit("run-1", a_click("c1"))
    server.say("CONFIG", "SET", option, "0")

    assert str(caught.value.reason) == f"store-refused[detail={detail}]"
    assert await store.runs.inbox("run-1") == ()
    assert await store.runs.load("run-1") == stored
    assert await store.runs.submit("run-1", a_click("c1")) is True


async def test_given_no_server_when_read_then_unreachable_within_two_seconds(store: RedisStore, server: Valkey) -> None:
    clock = asyncio.get_running_loop().time
    server.kill()
    began = clock()
    try:
        with pytest.raises(TransientError) as caught:
            await store.runs.recent(5)
        took = clock() - began
    finally:
        server.start()

    assert caught.value.reason.code is Code.STORE_UNREACHABLE
    assert took < 2.6
    assert await store.runs.recent(5) == ()
