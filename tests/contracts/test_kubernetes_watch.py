"""The Kubernetes port's watch, on a pretend cluster over real HTTP."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from sandbox.tokens import MASTERS
from tests.contracts.pretend_cluster import Pretend, node, pod, pretend_cluster, until

PODS = "/api/v1/namespaces/default/pods"


class Nudges:
    """Counts how often `changed` was called."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> None:
        self.count += 1


@asynccontextmanager
async def watching(world: Pretend) -> AsyncIterator[Nudges]:
    nudges = Nudges()
    task = asyncio.create_task(world.ours.watch(nudges))
    try:
        await until(lambda: _synced(world))
        yield nudges
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def _synced(world: Pretend) -> bool:
    tallies = world.ours.tallies()
    return bool(tallies) and all(tally.watches for tally in tallies.values())


@pytest.fixture
async def world() -> AsyncIterator[Pretend]:
    async with pretend_cluster() as made:
        await made.put("/api/v1/nodes", node("n", gpus=0))
        yield made


async def test_given_a_watch_when_a_node_changes_then_a_nudge_comes_within_a_second_and_looks_see_it(
    world: Pretend,
) -> None:
    async with watching(world) as nudges:
        before = nudges.count
        await world.admin.patch("/api/v1/nodes/n", {"metadata": {"labels": {"x": "y"}}}, "application/merge-patch+json")
        took = await until(lambda: nudges.count > before)

        assert took <= 1
        assert (await world.ours.look()).nodes[0].labels["x"] == "y"


async def test_given_a_watch_when_pods_come_and_go_then_looks_follow(world: Pretend) -> None:
    async with watching(world) as nudges:
        await world.put(PODS, pod("p"))
        await until(lambda: nudges.count >= 2)
        there = [found.name for found in (await world.ours.look()).pods]
        before = nudges.count
        await world.admin.delete(f"{PODS}/p", {"gracePeriodSeconds": 0})
        await until(lambda: nudges.count > before)

        assert there == ["p"]
        assert (await world.ours.look()).pods == ()


async def test_given_a_watch_when_looking_often_then_nodes_and_pods_are_not_listed_again(world: Pretend) -> None:
    async with watching(world):
        for _ in range(5):
            await world.ours.look()

        assert [tally.lists for tally in world.ours.tallies().values()] == [1, 1]


async def test_given_an_outage_when_the_server_is_back_then_the_watch_goes_on_by_itself(world: Pretend) -> None:
    async with watching(world) as nudges:
        await world.server.outage(0.5)
        await world.put("/api/v1/nodes", node("late"))
        before = nudges.count
        await until(lambda: nudges.count > before, seconds=10)

        assert sorted(found.name for found in (await world.ours.look()).nodes) == ["late", "n"]


async def test_given_renewed_access_when_watching_then_all_begins_anew_on_a_fresh_kubeconfig(world: Pretend) -> None:
    async with watching(world):
        world.token = world.tokens.issue("another", (MASTERS,))
        world.ours.renew_access()
        await until(lambda: len(world.fetched) == 2)
        await until(lambda: _synced(world))

        assert (await world.ours.look()).nodes[0].name == "n"
        assert len(world.fetched) == 2
