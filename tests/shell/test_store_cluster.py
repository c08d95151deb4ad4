"""A real cluster: keys that live elsewhere, that move, whose node dies. Nothing is lost, nothing counts twice."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from state.errors import PermanentError, TransientError
from state.journal import StoredRun
from state.store import RedisStore, open_reader
from tests.store_life import complete, insist, whole_life, work
from tests.stored import a_click, an_intent, begun, change, opened
from tests.valkey import Valkey, running, until
from tests.valkey_cluster import Cluster, clustered, is_well
from tests.valkey_sentinel import in_step
from tests.valkey_users import introduce

MANY = 30
RUNS = ("run-1", "run-2", "run-3", "run-4")


@pytest.fixture(scope="module")
def grown() -> Iterator[Cluster]:
    with clustered() as cluster:
        yield cluster


@pytest.fixture
def cluster(grown: Cluster) -> Cluster:
    grown.holder.say("FLUSHALL")
    return grown


async def _refused(store: RedisStore) -> set[str]:
    """What many people read who press at once; whatever the client library stumbles over, it has our names."""
    found = await asyncio.gather(*(_press(store, number) for number in range(MANY)), return_exceptions=True)
    assert all(isinstance(one, TransientError) for one in found), found
    return {str(one.reason) for one in found if isinstance(one, TransientError)}


async def _press(store: RedisStore, number: int) -> bool:
    return await store.runs.submit("run-1", a_click(f"c{number}"))


async def _counts_once(store: RedisStore) -> None:
    assert all([await _press(store, number) for number in range(MANY)])
    assert len(await store.runs.inbox("run-1")) == MANY


@asynccontextmanager
async def _load(store: RedisStore) -> AsyncIterator[None]:
    """Transitions all the while, and the comparison afterwards."""
    acked: dict[str, int] = {}
    stop = asyncio.Event()
    for run_id in RUNS:
        await begun(store, run_id, f"gpu-{run_id}")
    workers = [asyncio.create_task(work(store, run_id, acked, stop)) for run_id in RUNS]
    await _all_went_on(acked)
    yield
    await _all_went_on(acked)
    stop.set()
    await asyncio.gather(*workers)
    for run_id in RUNS:
        await complete(store, run_id, acked[run_id])


async def _all_went_on(acked: dict[str, int]) -> None:
    before = dict(acked)
    async with asyncio.timeout(30):
        while not all(acked.get(run_id, 0) > before.get(run_id, 0) + 2 for run_id in RUNS):
            await asyncio.sleep(0.01)


async def test_given_a_node_without_our_keys_and_the_handbooks_user_when_opened_then_a_run_lives_its_life(
    cluster: Cluster,
) -> None:
    for node in cluster.nodes:
        introduce(node, cluster=True)

    await whole_life(cluster.url(cluster.other()).replace("//", "//bot:p%40ss@"), wait_replicas=1)


async def test_given_a_plain_server_when_opened_as_a_cluster_then_it_says_what_it_is() -> None:
    with running(tcp=True) as server, pytest.raises(PermanentError) as caught:
        await open_reader(f"redis+cluster://127.0.0.1:{server.port}")

    assert "cluster support disabled" in str(caught.value.reason)


async def test_given_load_when_our_keys_move_to_another_master_and_back_then_nothing_is_lost_or_doubled(
    cluster: Cluster,
) -> None:
    async with opened(cluster.url(cluster.holder)) as store, _load(store):
        home, away = cluster.holder, cluster.other()
        for source, target in ((home, away), (away, home)):
            await asyncio.to_thread(_move, cluster, source, target)

        assert cluster.holder is home


def _move(cluster: Cluster, source: Valkey, target: Valkey) -> None:
    cluster.begin_move(source, target)
    while cluster.carry(source, target, 3):
        pass
    cluster.end_move(source, target)


async def test_given_keys_on_the_move_when_asked_then_reads_follow_them_and_writes_wait_for_the_end(
    cluster: Cluster,
) -> None:
    async with opened(cluster.url(cluster.holder)) as store:
        stored = await begun(store)
        home, away = cluster.holder, cluster.other()
        cluster.begin_move(home, away)
        cluster.carry(home, away)

        assert await store.runs.load("run-1") == stored
        assert await _refused(store) == {"store-refused[detail=TRYAGAIN]"}

        pressing = asyncio.create_task(_press(store, 0))
        cluster.end_move(home, away)
        assert await pressing is True
        _move(cluster, away, home)
        await _counts_once(store)


async def test_given_another_master_away_when_written_then_the_cluster_is_down_until_it_is_back(
    cluster: Cluster,
) -> None:
    async with opened(cluster.url(cluster.holder)) as store:
        await begun(store)
        holder, away = cluster.holder, cluster.other()
        away.freeze()
        try:
            until(lambda: not is_well(holder), "nobody missed it")
            assert "store-refused[detail=CLUSTERDOWN]" in await _refused(store)
        finally:
            away.thaw()
        until(lambda: is_well(holder), "it did not come back")

        await _counts_once(store)


async def test_given_load_when_the_replica_is_told_to_take_over_then_nothing_is_lost_and_intents_are_still_held_twice(
    cluster: Cluster,
) -> None:
    async with opened(cluster.url(cluster.other())) as store, _quiet(cluster) as (quiet, stored):
        before, replica = cluster.holder, cluster.replica
        async with _load(store):
            assert replica.say("CLUSTER", "FAILOVER") == "+OK"
            await asyncio.to_thread(until, lambda: cluster.holder is replica, "it did not take over")
        until(lambda: in_step(before), "the old one did not follow")

        opening = change(stored, "i1", replace(stored.run, intent=an_intent("op-1")))
        assert (await quiet.runs.apply(opening)).version == 1  # it had heard nothing of the new master

        await complete(quiet, "run-9", 1)


@asynccontextmanager
async def _quiet(cluster: Cluster) -> AsyncIterator[tuple[RedisStore, StoredRun]]:
    """A store that wants its intents held twice, and says nothing until it is used."""
    async with opened(cluster.url(cluster.other()), "bot-b", wait_replicas=1) as store:
        yield store, await begun(store, "run-9", "gpu-9")


async def test_given_an_intent_when_the_master_dies_and_the_replica_takes_over_then_it_is_there(
    cluster: Cluster,
) -> None:
    async with opened(cluster.url(cluster.other()), wait_replicas=1) as store:
        stored = await begun(store)
        opening = change(stored, "i1", replace(stored.run, intent=an_intent("op-1")))
        stored = await store.runs.apply(opening)
        before, replica = cluster.holder, cluster.replica
        before.kill()
        assert replica.say("CLUSTER", "FAILOVER", "TAKEOVER") == "+OK"

        wanted = change(stored, "o1", replace(stored.run, intent=None))
        stored = await insist(lambda: store.runs.apply(wanted))

        await complete(store, "run-1", 2)
        opening = change(stored, "i2", replace(stored.run, intent=an_intent("op-2")))
        intending = asyncio.create_task(insist(lambda: store.runs.apply(opening)))
        before.start()
        await asyncio.to_thread(until, lambda: in_step(before), "it did not follow")
        assert (await intending).version == 3
        until(lambda: is_well(before), "it did not come back")
