"""The journal's promises about beginnings: one active run per cluster, one run per signal."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from state.errors import RunConflict
from state.journal import StoredRun
from state.run import RunPhase
from state.store import RedisStore
from tests.stored import a_run, begun, change, opened
from tests.valkey import Valkey


@pytest.fixture
async def store(valkey: Valkey) -> AsyncIterator[RedisStore]:
    async with opened(valkey.url) as store:
        yield store


async def test_given_no_run_when_created_then_it_is_active_and_due(store: RedisStore) -> None:
    assert await store.runs.create(a_run(), "e1") is None

    assert await store.runs.load("run-1") == StoredRun(a_run(), 0, 0)
    assert await store.runs.active("gpu-1") == "run-1"
    assert await store.runs.actives() == ("run-1",)
    assert await store.ownership.due() == ("run-1",)


async def test_given_an_active_run_when_another_is_created_for_its_cluster_then_the_first_is_named(
    store: RedisStore,
) -> None:
    await store.runs.create(a_run(), "e1")

    assert await store.runs.create(a_run("run-2"), "e2") == "run-1"
    assert await store.runs.load("run-2") is None


async def test_given_the_same_event_when_created_again_then_one_run_exists_even_after_it_ended(
    store: RedisStore,
) -> None:
    stored = await begun(store)
    await store.runs.apply(change(stored, "end", replace(stored.run, phase=RunPhase.ABORTED)))

    assert await store.runs.create(a_run(), "start-run-1") is None
    assert await store.runs.create(a_run("run-9"), "start-run-1") is None
    assert await store.runs.actives() == ()
    assert await store.runs.load("run-9") is None


async def test_given_fifty_starts_at_once_when_created_then_one_wins(store: RedisStore) -> None:
    answers = await asyncio.gather(*(store.runs.create(a_run(f"run-{i}"), f"e{i}") for i in range(50)))

    winner = await store.runs.active("gpu-1")
    assert answers.count(None) == 1
    assert set(answers) == {None, winner}


async def test_given_a_resolved_id_when_claimed_then_the_run_is_found_by_it(store: RedisStore) -> None:
    stored = await begun(store)

    assert await store.runs.claim_cluster(stored, "iks-1") is None
    assert await store.runs.claim_cluster(stored, "iks-1") is None
    assert await store.runs.active("iks-1") == "run-1"


async def test_given_one_cluster_under_two_names_when_both_claim_it_then_the_second_hears_of_the_first(
    store: RedisStore,
) -> None:
    first = await begun(store)
    second = await begun(store, "run-2", "gpu-one-by-another-name")
    await store.runs.claim_cluster(first, "iks-1")

    assert await store.runs.claim_cluster(second, "iks-1") == "run-1"
    assert await store.runs.create(a_run("run-3", "iks-1"), "e3") == "run-1"


async def test_given_another_owner_when_claimed_then_conflict(store: RedisStore) -> None:
    stored = await begun(store)

    with pytest.raises(RunConflict):
        await store.runs.claim_cluster(replace(stored, fence=stored.fence - 1), "iks-1")
