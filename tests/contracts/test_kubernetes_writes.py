"""The Kubernetes port's writes, on a pretend cluster over real HTTP. The journal of the server is the witness."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from state.errors import OutcomeUnknown, PermanentError, TransientError
from state.orders import CordonNode, EvictPod, LabelNode, UncordonNode
from state.reasons import Code
from tests.contracts.pretend_cluster import Json, Pretend, node, pod, pretend_cluster

OPERANDS, DRIVER = "nvidia.com/gpu.deploy.operands", "nvidia.com/gpu.deploy.driver"
OPT_OUT = {OPERANDS: "false", DRIVER: "false"}
PODS = "/api/v1/namespaces/default/pods"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"


@pytest.fixture
async def world() -> AsyncIterator[Pretend]:
    async with pretend_cluster() as made:
        await made.put("/api/v1/nodes", node("n"))
        yield made


async def uid(world: Pretend, path: str = "/api/v1/nodes/n") -> str:
    found: str = (await world.admin.get(path))["metadata"]["uid"]
    return found


def ours(world: Pretend) -> list[tuple[str, str]]:
    return [(entry.verb, entry.target) for entry in world.journal.entries() if entry.actor.startswith("IAM#")]


async def test_given_a_node_when_labelled_then_both_labels_are_written_in_one_patch(world: Pretend) -> None:
    await world.ours.label(LabelNode("n", await uid(world), "w-1", OPT_OUT))

    labels = (await world.admin.get("/api/v1/nodes/n"))["metadata"]["labels"]
    assert labels[OPERANDS] == labels[DRIVER] == "false"
    assert ours(world) == [("patch nodes", "n")]


async def test_given_labels_that_are_there_when_labelled_again_then_nothing_is_written(world: Pretend) -> None:
    order = LabelNode("n", await uid(world), "w-1", OPT_OUT)
    await world.ours.label(order)
    await world.ours.label(order)

    assert ours(world) == [("patch nodes", "n")]


async def test_given_labels_when_removed_then_they_are_absent_and_not_empty(world: Pretend) -> None:
    node_uid = await uid(world)
    await world.ours.label(LabelNode("n", node_uid, "w-1", OPT_OUT))
    await world.ours.label(LabelNode("n", node_uid, "w-1", {OPERANDS: None, DRIVER: None}))

    labels = (await world.admin.get("/api/v1/nodes/n"))["metadata"]["labels"]
    assert OPERANDS not in labels
    assert DRIVER not in labels


@pytest.mark.parametrize("kind", ["label", "cordon", "uncordon"])
async def test_given_another_node_of_the_same_name_when_written_to_then_it_is_refused(
    world: Pretend, kind: str
) -> None:
    calls = {
        "label": world.ours.label(LabelNode("n", "old-uid", "w-1", OPT_OUT)),
        "cordon": world.ours.cordon(CordonNode("n", "old-uid", "w-1")),
        "uncordon": world.ours.uncordon(UncordonNode("n", "old-uid", "w-1")),
    }
    call = calls.pop(kind)
    for other in calls.values():
        other.close()

    with pytest.raises(PermanentError) as caught:
        await call

    assert caught.value.reason.facts["status"] == 409
    assert ours(world) == []


async def test_given_a_node_that_is_gone_when_cordoned_then_it_is_refused(world: Pretend) -> None:
    with pytest.raises(PermanentError) as caught:
        await world.ours.cordon(CordonNode("no-such-node", "u", "w-1"))

    assert caught.value.reason.facts["status"] == 404


async def test_given_a_node_when_cordoned_twice_and_uncordoned_then_each_is_written_once_and_signed(
    world: Pretend,
) -> None:
    node_uid = await uid(world)
    await world.ours.cordon(CordonNode("n", node_uid, "w-1"))
    await world.ours.cordon(CordonNode("n", node_uid, "w-1"))
    seen = (await world.ours.look(fresh=True)).nodes[0]
    await world.ours.uncordon(UncordonNode("n", node_uid, "w-1"))
    after = (await world.ours.look(fresh=True)).nodes[0]

    assert (seen.unschedulable, seen.cordoned_by) == (True, "gpu-migrate")
    assert (after.unschedulable, after.cordoned_by) == (False, "")
    assert len(ours(world)) == 2


async def test_given_a_pod_when_evicted_then_it_is_deleted_and_a_second_time_is_fine(world: Pretend) -> None:
    await world.put(PODS, pod("p"))
    order = EvictPod("default", "p", await uid(world, f"{PODS}/p"), "n")
    await world.ours.evict(order)
    await world.ours.evict(order)

    assert ours(world)[0] == ("evict pods", "default/p")


async def test_given_another_pod_of_the_same_name_when_evicted_then_it_is_left_alone(world: Pretend) -> None:
    await world.put(PODS, pod("p", on="n"))
    await world.ours.evict(EvictPod("default", "p", "uid-of-the-one-before", "n"))

    found = await world.admin.get(f"{PODS}/p")
    assert "deletionTimestamp" not in found["metadata"]


async def test_given_a_budget_that_allows_nothing_when_evicted_then_it_is_named(world: Pretend) -> None:
    order = await guarded(world, "trainer-pdb")

    with pytest.raises(TransientError) as caught:
        await world.ours.evict(order)

    facts = caught.value.reason.facts
    assert caught.value.reason.code is Code.EVICTION_BLOCKED
    assert (facts["budget"], facts["pods"], facts["allowed"]) == ("default/trainer-pdb", ("default/p",), 0)
    assert caught.value.delay.total_seconds() == 15


async def test_given_a_budget_when_an_eviction_is_tried_dry_then_the_blocker_is_predicted_and_nothing_moves(
    world: Pretend,
) -> None:
    order = await guarded(world, "trainer-pdb")
    await world.put(PODS, pod("free", on="n"))
    free = EvictPod("default", "free", await uid(world, f"{PODS}/free"), "n")

    blocked = await world.ours.dry_run_evict(order)

    assert blocked is not None
    assert blocked.code is Code.EVICTION_BLOCKED
    assert await world.ours.dry_run_evict(free) is None
    assert "deletionTimestamp" not in (await world.admin.get(f"{PODS}/free"))["metadata"]


async def test_given_two_budgets_over_one_pod_when_evicted_then_the_misconfiguration_is_named(world: Pretend) -> None:
    await guarded(world, "one")
    order = await guarded(world, "two", make_pod=False)

    with pytest.raises(TransientError) as caught:
        await world.ours.evict(order)

    assert caught.value.reason.code is Code.EVICTION_MISCONFIGURED
    assert caught.value.reason.facts["budgets"] == ("default/one", "default/two")


async def test_given_budgets_when_looked_at_then_they_name_the_pods_they_guard(world: Pretend) -> None:
    order = await guarded(world, "trainer-pdb")

    budgets = (await world.ours.look()).budgets

    assert [(found.name, found.allowed, found.healthy, found.wanted, found.pods) for found in budgets] == [
        ("trainer-pdb", 0, 1, 1, (order.uid,))
    ]


@pytest.mark.parametrize("fault", [{"status": 503}, {"drop": True}, {"drop": True, "when": "after"}], ids=str)
async def test_given_a_write_whose_answer_is_lost_when_it_may_have_arrived_then_the_outcome_is_unknown(
    world: Pretend, fault: dict[str, Any]
) -> None:
    order = CordonNode("n", await uid(world), "w-1")
    world.faults.add(system="kubernetes", method="PATCH", **fault)

    with pytest.raises(OutcomeUnknown) as caught:
        await world.ours.cordon(order)

    assert caught.value.reason.code is Code.API_UNREACHABLE


async def test_given_a_conflict_when_written_to_then_the_node_is_read_again_and_written(world: Pretend) -> None:
    order = CordonNode("n", await uid(world), "w-1")
    world.faults.add(system="kubernetes", method="PATCH", status=409, body="{}", times=3)
    await world.ours.cordon(order)

    assert (await world.admin.get("/api/v1/nodes/n"))["spec"]["unschedulable"] is True


async def test_given_throttling_when_evicted_then_the_wait_is_the_one_asked_for(world: Pretend) -> None:
    await world.put(PODS, pod("p", on="n"))
    order = EvictPod("default", "p", await uid(world, f"{PODS}/p"), "n")
    world.faults.add(system="kubernetes", method="POST", status=429, body="{}", headers={"Retry-After": "3"})

    with pytest.raises(TransientError) as caught:
        await world.ours.evict(order)

    assert caught.value.reason.code is Code.EVICTION_THROTTLED
    assert caught.value.delay.total_seconds() == 3


async def guarded(world: Pretend, name: str, *, make_pod: bool = True) -> EvictPod:
    """Make a pod and a budget over it that allows nothing."""
    if make_pod:
        await world.put(PODS, pod("p", on="n", labels={"app": "trainer"}))
    budget: Json = {
        "metadata": {"name": name},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "trainer"}}},
        "status": {
            "disruptionsAllowed": 0,
            "currentHealthy": 1,
            "desiredHealthy": 1,
            "expectedPods": 1,
            "observedGeneration": 1,
        },
    }
    await world.put(BUDGETS, budget)
    return EvictPod("default", "p", await uid(world, f"{PODS}/p"), "n")
