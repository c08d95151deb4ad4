"""Which pods a node gives up, what they would lose, and whether there is room elsewhere."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from state.placing import blocked_by_budget, free_gpus, losses, movable, without_room
from state.reasons import Code, reason
from state.snapshot import Budget, Node, Owner, Pod, Snapshot, Taint
from tests.builders import START, node, pod, two_workers
from tests.core.worlds import kubernetes

HERE = "10.240.0.64"
DAEMONS, JOB = Owner("DaemonSet", "default", "agent"), Owner("Job", "batch", "nightly")


@pytest.mark.parametrize(
    ("subject", "goes"),
    [
        (pod("p", HERE), True),
        (pod("p", HERE, gpus=0), True),
        (pod("p", HERE, owner=None), True),
        (pod("p", HERE, owner=JOB), True),
        (pod("p", HERE, owner=Owner("StatefulSet", "default", "db")), True),
        (pod("p", HERE, ready=False, phase="Pending"), True),
        (pod("p", HERE, deleting_since=START), True),
        (pod("p", HERE, owner=DAEMONS), False),
        (pod("p", HERE, owner=None, mirror=True), False),
        (pod("p", HERE, phase="Succeeded"), False),
        (pod("p", HERE, phase="Failed"), False),
        (pod("p", "10.240.0.66"), False),
        (pod("p"), False),
        (pod("p", HERE, created_at=START - timedelta(days=60)), False),
    ],
    ids=[
        "GPU workload",
        "without GPUs",
        "bare",
        "Job",
        "StatefulSet",
        "starting",
        "leaving already",
        "B036 DaemonSet",
        "B036 mirror",
        "succeeded",
        "failed",
        "elsewhere",
        "nowhere",
        "B026 older than the node",
    ],
)
def test_given_a_pod_then_it_has_to_go_or_not(subject: Pod, goes: bool) -> None:
    world = kubernetes(two_workers(), pods=(subject,))

    assert (movable(world, world.kubernetes.nodes[0]) == (subject,)) is goes


@pytest.mark.parametrize(
    ("subject", "codes"),
    [
        (pod("p", HERE), []),
        (pod("p", HERE, owner=None), [Code.BARE_PODS]),
        (pod("p", HERE, owner=JOB), [Code.JOBS_RUNNING]),
        (pod("p", HERE, empty_dir=("cache",)), [Code.EMPTY_DIR]),
        (pod("p", HERE, host_local=("data",)), [Code.HOST_LOCAL]),
        (
            pod("p", HERE, owner=None, empty_dir=("cache",), host_local=("data",)),
            [Code.BARE_PODS, Code.EMPTY_DIR, Code.HOST_LOCAL],
        ),
        (pod("p", HERE, owner=None, empty_dir=("tmp",), namespace="gpu-operator"), []),
    ],
    ids=["ordinary", "bare", "Job", "B036 emptyDir", "host path", "several at once", "the operator's own"],
)
def test_given_a_pod_then_each_loss_is_named_of_its_own(subject: Pod, codes: list[Code]) -> None:
    found = losses((subject,), frozenset({"gpu-operator"})).reasons()

    assert [r.code for r in found] == codes
    assert all(r.facts["pods"] == ("default/p",) for r in found)


CLOSED = Budget("serving", "api", allowed=0, healthy=1, wanted=2, pods=("uid-p",))


@pytest.mark.parametrize(
    ("budget", "ready", "blocks"),
    [
        (CLOSED, True, True),
        (CLOSED, False, True),
        (replace(CLOSED, always_allow=True), False, False),
        (replace(CLOSED, always_allow=True), True, True),
        (replace(CLOSED, healthy=2), False, False),
        (replace(CLOSED, healthy=2), True, True),
        (replace(CLOSED, healthy=0, wanted=0), False, True),
        (replace(CLOSED, allowed=1, healthy=3), True, False),
        (replace(CLOSED, pods=("uid-other",)), True, False),
    ],
    ids=[
        "B025 well pod of an unwell workload",
        "B025 broken pod, default policy",
        "B025 broken pod, always allowed",
        "well pod, always allowed",
        "broken pod of a workload with enough",
        "just enough",
        "nothing counted yet",
        "one may go",
        "another's budget",
    ],
)
def test_given_a_budget_then_whether_it_holds_the_pod(budget: Budget, ready: bool, blocks: bool) -> None:
    subject = pod("p", HERE, ready=ready)
    world = kubernetes(two_workers(), pods=(subject,), budgets=(budget,))

    expected = (reason(Code.PDB_BLOCKS, pod="default/p", budget="serving/api", allowed=0),) if blocks else ()
    assert blocked_by_budget(world, (subject,)) == expected


@pytest.mark.parametrize(
    ("pods", "free"),
    [
        ((), 7),
        ((pod("a", HERE, gpus=3),), 4),
        ((pod("a", HERE, gpus=8),), 0),
        ((pod("a", HERE, gpus=4), pod("b", HERE, gpus=4)), 0),
        ((pod("a", HERE, gpus=4, phase="Succeeded"), pod("b", HERE, gpus=4, phase="Failed")), 7),
        ((pod("a", HERE, gpus=2, phase="Pending", ready=False),), 5),
        ((pod("a", HERE, gpus=2, deleting_since=START),), 5),
        ((pod("a", gpus=2),), 7),
    ],
    ids=["empty", "some", "B019 more than healthy ones", "B019 several", "finished", "starting", "leaving", "nowhere"],
)
def test_given_pods_on_a_node_then_free_gpus_never_fall_below_zero(pods: tuple[Pod, ...], free: int) -> None:
    """A leaving pod still holds its GPUs: the kubelet gives them back when it is gone."""
    seven = node(HERE, "w1", gpus=8, allocatable={"nvidia.com/gpu": 7})
    world = kubernetes(two_workers(), nodes=(seven,), pods=pods)

    assert free_gpus(world, seven) == {"nvidia.com/gpu": free}


def room(**changes: Any) -> Snapshot:
    """A cluster with one node of two free GPUs."""
    facts: dict[str, Any] = {"gpus": 2, "labels": {"zone": "a"}, **changes}
    return kubernetes(two_workers(), nodes=(node(HERE, "w1", **facts),), pods=())


TAINT = Taint("nvidia.com/gpu", "true", "NoSchedule")
SLICE, SHARED = {"nvidia.com/mig-1g.18gb": 1}, {"nvidia.com/gpu.shared": 1}


def pinned(*tolerations: tuple[str, str, str, str], **selector: str) -> Pod:
    return pod("p", selector=selector, tolerations=tolerations)


def wanting(gpus: Mapping[str, int]) -> Pod:
    return replace(pod("p"), gpus=gpus)


@pytest.mark.parametrize(
    ("world", "subject", "fits"),
    [
        (room(), pod("p"), True),
        (room(), pod("p", gpus=2), True),
        (room(), pod("p", gpus=3), False),
        (room(gpus=0), pod("p"), False),
        (room(unschedulable=True), pod("p"), False),
        (room(ready=False), pod("p"), False),
        (room(), pinned(zone="a"), True),
        (room(), pinned(zone="b"), False),
        (room(), pinned(pool="x"), False),
        (room(taints=(TAINT,)), pod("p"), False),
        (room(taints=(replace(TAINT, effect="PreferNoSchedule"),)), pod("p"), True),
        (room(taints=(TAINT,)), pinned(("nvidia.com/gpu", "Exists", "", "NoSchedule")), True),
        (room(taints=(TAINT,)), pinned(("nvidia.com/gpu", "Exists", "", "")), True),
        (room(taints=(TAINT,)), pinned(("", "Exists", "", "")), True),
        (room(taints=(TAINT,)), pinned(("nvidia.com/gpu", "Equal", "true", "NoSchedule")), True),
        (room(taints=(TAINT,)), pinned(("nvidia.com/gpu", "", "true", "NoSchedule")), True),
        (room(taints=(TAINT,)), pinned(("nvidia.com/gpu", "Equal", "present", "NoSchedule")), False),
        (room(taints=(TAINT,)), pinned(("nvidia.com/gpu", "Exists", "", "NoExecute")), False),
        (room(taints=(TAINT,)), pinned(("dedicated", "Exists", "", "")), False),
        (
            room(taints=(TAINT, Taint("dedicated", "ml", "NoExecute"))),
            pinned(("nvidia.com/gpu", "Exists", "", "")),
            False,
        ),
        (room(allocatable=SLICE), wanting(SLICE), True),
        (room(), wanting(SLICE), False),
        (room(allocatable=SLICE), pod("p"), False),
        (room(allocatable=SHARED), wanting(SHARED), True),
        (room(allocatable={**SLICE, **SHARED}), wanting({**SLICE, **SHARED}), True),
    ],
    ids=[
        "room",
        "just room",
        "too many",
        "no GPUs",
        "closed",
        "not ready",
        "selector",
        "another zone",
        "label missing",
        "taint",
        "soft taint",
        "exists",
        "exists, any effect",
        "exists, any key",
        "equal",
        "equal by default",
        "B009 another value",
        "another effect",
        "another key",
        "one of two taints",
        "slice",
        "slice, but whole GPUs here",
        "whole GPU, but slices here",
        "shared",
        "two kinds",
    ],
)
def test_given_a_node_then_whether_the_pod_would_find_its_place(world: Snapshot, subject: Pod, fits: bool) -> None:
    assert (without_room(world, (subject,), frozenset()) == ()) is fits


def test_given_the_node_is_about_to_be_closed_then_it_offers_nothing() -> None:
    assert without_room(room(), (pod("p"),), frozenset({HERE})) == (pod("p"),)


def test_given_less_room_than_pods_then_the_greatest_are_placed_first_and_each_gpu_once() -> None:
    small, great, other = pod("small"), pod("great", gpus=2), pod("other", gpus=0)

    assert without_room(room(), (small, great, other), frozenset()) == (small,)


def test_given_two_nodes_then_room_is_not_added_up_for_one_pod() -> None:
    two: tuple[Node, ...] = (node("a", "w1"), node("b", "w2"))
    world = kubernetes(two_workers(), nodes=two, pods=())

    assert without_room(world, (pod("one"), pod("two")), frozenset()) == ()
    assert without_room(world, (pod("both", gpus=2),), frozenset()) == (pod("both", gpus=2),)
