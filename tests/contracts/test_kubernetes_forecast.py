"""Evictions foreseen on a pretend cluster over real HTTP: blockers are named, nothing moves, nothing is journalled."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.forecast import foresee
from state.reasons import Code
from state.snapshot import Snapshot
from tests.builders import iks, pool, worker
from tests.contracts.pretend_cluster import Pretend, node, pod, pretend_cluster

PODS = "/api/v1/namespaces/default/pods"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"


@pytest.fixture
async def world() -> AsyncIterator[Pretend]:
    async with pretend_cluster() as made:
        await made.put("/api/v1/nodes", node("n", worker="w1"))
        for name in ("free", "guarded"):
            await made.put(PODS, pod(name, on="n", labels={"app": name}))
        budget = {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "keep", "namespace": "default"},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "guarded"}}},
            "status": {"disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1},
        }
        made_budget = await made.put(BUDGETS, budget)
        seen = {"status": {**budget["status"], "observedGeneration": made_budget["metadata"]["generation"]}}  # type: ignore[dict-item]
        await made.admin.patch(f"{BUDGETS}/keep/status", seen, "application/merge-patch+json")
        yield made


async def snapshot(world: Pretend) -> Snapshot:
    return Snapshot(datetime.now(UTC), iks((worker("w1"),), (pool(size=1),)), await world.ours.look())


def ours(world: Pretend) -> list[str]:
    return [entry.verb for entry in world.journal.entries() if entry.actor.startswith("IAM#")]


async def test_given_a_budget_when_foreseen_then_its_pod_is_named_and_nothing_moves(world: Pretend) -> None:
    seen = await snapshot(world)
    uids = {p.uid: p.name for p in seen.kubernetes.pods}

    foreseen = await foresee(world.ours, seen, "1.36")

    found = {uids[f.uid]: f.blocked.code if f.blocked else None for f in foreseen.forecast}
    assert found == {"free": None, "guarded": Code.EVICTION_BLOCKED}
    assert next(f.blocked.text("budget") for f in foreseen.forecast if f.blocked) == "default/keep"
    assert ours(world) == []
    assert {p.name for p in (await world.ours.look(fresh=True)).pods} == {"free", "guarded"}


async def test_given_a_worker_on_the_target_when_foreseen_then_nobody_is_asked(world: Pretend) -> None:
    seen = await snapshot(world)
    there = replace(seen, iks=iks((worker("w1", "1.36.0_1507"),), (pool(size=1),)))

    assert (await foresee(world.ours, there, "1.36")).forecast == ()


async def test_given_an_identity_that_is_refused_when_foreseen_then_nothing_is_known_and_nothing_fails() -> None:
    async with pretend_cluster() as made:
        await made.put("/api/v1/nodes", node("n", worker="w1"))
        await made.put(PODS, pod("free", on="n"))
        seen = await snapshot(made)
        made.tokens.revoke(made.token)

        assert (await foresee(made.ours, seen, "1.36")).forecast == ()
