"""The mark on a worker's node, on a pretend cluster over real HTTP: the server decides between two bots."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from state.marks import RUN
from tests.contracts.pretend_cluster import Pretend, node, pretend_cluster

NODE = "/api/v1/nodes/n"
MERGE = "application/merge-patch+json"


@pytest.fixture
async def world() -> AsyncIterator[Pretend]:
    async with pretend_cluster() as made:
        await made.put("/api/v1/nodes", node("n"))
        yield made


def facts(run: str, *, age: timedelta = timedelta(), op: int = 1) -> dict[str, str]:
    renewed = (datetime.now(UTC) - age).isoformat()
    return {
        "run": run,
        "instance": f"bot of {run}",
        "fence": "3",
        "op": f"{run}:op{op}",
        "renewed": renewed,
        "seconds": "60",
    }


async def annotations(world: Pretend) -> dict[str, str]:
    found: dict[str, str] = (await world.admin.get(NODE))["metadata"].get("annotations", {})
    return found


async def test_given_a_worker_when_claimed_then_its_node_says_run_instance_fence_and_operation(world: Pretend) -> None:
    await world.admin.patch(NODE, {"metadata": {"annotations": {"other/x": "1"}}}, MERGE)
    there = await world.ours.claim_worker("w-1", facts("r-1"))

    assert {name: there[f"gpu-migrate/{name}"] for name in ("run", "instance", "fence", "op")} == {
        "run": "r-1",
        "instance": "bot of r-1",
        "fence": "3",
        "op": "r-1:op1",
    }
    assert (await world.ours.look(fresh=True)).nodes[0].annotations == there
    assert await annotations(world) == {"other/x": "1", **there}


async def test_given_our_own_mark_when_claimed_again_then_the_newer_operation_stands(world: Pretend) -> None:
    await world.ours.claim_worker("w-1", facts("r-1"))
    there = await world.ours.claim_worker("w-1", facts("r-1", op=7))

    assert there["gpu-migrate/op"] == "r-1:op7"


async def test_given_a_fresh_mark_of_another_run_when_claimed_then_it_stays(world: Pretend) -> None:
    theirs = await world.ours.claim_worker("w-1", facts("r-1"))
    there = await world.ours.claim_worker("w-1", facts("r-2"))

    assert there == theirs == await annotations(world)


async def test_given_an_old_mark_of_another_run_when_claimed_then_it_is_ours(world: Pretend) -> None:
    await world.ours.claim_worker("w-1", facts("r-1", age=timedelta(minutes=2)))
    there = await world.ours.claim_worker("w-1", facts("r-2"))

    assert there[RUN] == "r-2"


async def test_given_two_bots_at_once_when_both_claim_then_one_of_them_has_it(world: Pretend) -> None:
    found = await asyncio.gather(*(world.ours.claim_worker("w-1", facts(f"r-{number}")) for number in range(4)))

    assert len({there[RUN] for there in found}) == 1


async def test_given_a_worker_without_a_node_when_claimed_then_nothing_is_marked(world: Pretend) -> None:
    assert await world.ours.claim_worker("w-2", facts("r-1")) == {}


async def test_given_an_ended_run_when_unclaimed_then_only_its_marks_are_gone(world: Pretend) -> None:
    await world.put("/api/v1/nodes", node("m", worker="w-2"))
    await world.ours.claim_worker("w-1", facts("r-1"))
    await world.ours.claim_worker("w-2", facts("r-2"))
    watching = asyncio.create_task(world.ours.watch(lambda: None))
    async with asyncio.timeout(10):
        while len(await marked(world)) != 2 or world.ours.tallies().get("nodes") is None:
            await asyncio.sleep(0.01)
        while await marked(world) != {"r-2"}:  # the watch may not have come so far yet
            await world.ours.unclaim("r-1")
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)

    assert await marked(world) == {"r-2"}


async def marked(world: Pretend) -> set[str]:
    found = (await world.admin.get("/api/v1/nodes"))["items"]
    return {row["metadata"]["annotations"][RUN] for row in found if RUN in row["metadata"].get("annotations", {})}
