"""Workloads are judged by owner, against what ran at plan time."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from state.reasons import Code
from state.recovery import still_away, turned_away, turned_off, unrecovered
from state.snapshot import Owner, Pod, Snapshot, Workload
from tests.builders import START, pod, two_workers, workload
from tests.core.worlds import LATER, at, change_node, fixed, join, kubernetes, leave, with_pods, without_pods

ADMISSION = "UnexpectedAdmissionError"
STATEFUL = Owner("StatefulSet", "default", "db")


def rejected(number: int, node: str = "10.240.1.1", **changes: Any) -> Pod:
    facts: dict[str, Any] = {"phase": "Failed", "ready": False, "reason": ADMISSION, "created_at": LATER, **changes}
    return pod(f"gpu-burn-7d-r{number}", node, **facts)


def short(available: int = 1, **changes: Any) -> Snapshot:
    """Example 2 when one of two pods is missing; w1 was replaced by n1, whose GPU is free."""
    world = join(leave(at(two_workers(), LATER), "w1"))
    return kubernetes(world, workloads=(replace(workload(available=available), **changes),))


@pytest.mark.parametrize(
    ("workloads", "missing"),
    [
        ((workload(available=2),), 0),
        ((workload(available=1),), 1),
        ((workload(desired=1, available=1),), 0),
        ((workload(desired=0, available=0),), 0),
        ((workload(desired=5, available=2),), 0),
        ((), 0),
        ((replace(workload(available=0), finished=True),), 0),
        ((workload("another", available=0),), 0),
    ],
    ids=[
        "back",
        "one short",
        "scaled down",
        "scaled to zero",
        "scaled up",
        "deleted",
        "B016 finished",
        "new, not ours",
    ],
)
def test_given_workloads_when_compared_then_only_those_that_ran_before_are_missed(
    workloads: tuple[Workload, ...], missing: int
) -> None:
    found = unrecovered(kubernetes(at(two_workers(), LATER), workloads=workloads), fixed())

    assert [r.code for r in found] == [Code.WORKLOAD_UNRECOVERED] * missing


def test_given_workloads_that_are_away_when_waited_for_then_one_speaks_for_itself_and_several_are_named() -> None:
    db = Owner("StatefulSet", "default", "db")
    before = kubernetes(two_workers(), workloads=(workload(), Workload(db, 1, 1)))
    one = kubernetes(before, workloads=(workload(available=1), Workload(db, 1, 1)))
    both = kubernetes(before, workloads=(workload(available=1), Workload(db, 1, 0)))

    assert still_away(before, fixed(before)) is None
    alone, several = still_away(one, fixed(before)), still_away(both, fixed(before))
    assert alone is not None
    assert alone.code is Code.WORKLOAD_UNRECOVERED
    assert several is not None
    assert (several.code, several.cause) == (Code.WAIT_WORKLOADS, alone)
    assert several.facts["workloads"] == ("Deployment default/gpu-burn", "StatefulSet default/db")


def test_given_an_owner_made_anew_under_the_same_name_when_compared_then_it_is_the_same_workload() -> None:
    again = replace(workload(available=1), owner=Owner("Deployment", "default", "gpu-burn", "another-uid"))

    assert len(unrecovered(kubernetes(two_workers(), workloads=(again,)), fixed())) == 1


def test_given_a_stateful_set_whose_pod_hangs_in_terminating_when_judged_then_it_is_not_back() -> None:
    """B030: its owner makes no other one until the old one is gone."""
    before = kubernetes(two_workers(), workloads=(Workload(STATEFUL, 1, 1),))
    hanging = pod("db-0", "10.240.0.64", owner=STATEFUL, deleting_since=LATER - timedelta(minutes=25))
    now = with_pods(kubernetes(at(before, LATER), workloads=(Workload(STATEFUL, 1, 0),)), hanging)

    (found,) = unrecovered(now, fixed(before))

    assert found.facts["workload"] == "StatefulSet default/db"
    assert (found.facts["have"], found.facts["want"]) == (0, 1)


def test_given_a_waiting_pod_when_told_then_the_schedulers_causes_stand_apart() -> None:
    waiting = pod("w", scheduled_message="0/2 nodes are available: 1 Insufficient nvidia.com/gpu, 1 Insufficient cpu.")

    (found,) = unrecovered(with_pods(short(), waiting), fixed())

    assert found.facts["scheduling"] == ("1 × Insufficient nvidia.com/gpu", "1 × Insufficient cpu")


def full(world: Snapshot) -> Snapshot:
    return with_pods(world, pod("other", "10.240.1.1", app="other", owner=None))


GPU_SHORT = "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."
WAITING: dict[str, Any] = {"scheduled_message": GPU_SHORT, "created_at": LATER - timedelta(minutes=20)}


@pytest.mark.parametrize(
    ("world", "waiting", "stuck"),
    [
        (short(), pod("w", **WAITING), True),
        (short(), pod("w", **{**WAITING, "scheduled_message": ""}), True),
        (short(), pod("w", **{**WAITING, "created_at": LATER - timedelta(seconds=5)}), False),
        (full(short()), pod("w", **WAITING), False),
        (change_node(short(), "n1", unschedulable=True), pod("w", **WAITING), False),
        (change_node(short(), "n1", ready=False), pod("w", **WAITING), False),
        (short(), pod("w", **{**WAITING, "scheduled_message": "0/1 nodes are available: 1 Insufficient cpu."}), False),
        (short(), pod("w", **WAITING, selector={"zone": "elsewhere"}), False),
        (short(), pod("w", gpus=0, **WAITING), False),
    ],
    ids=["room", "room, nothing said", "just made", "full", "closed", "not ready", "no cpu", "selector", "no gpus"],
)
def test_given_a_waiting_pod_and_a_free_gpu_when_told_then_the_scheduler_is_named_and_not_the_driver(
    world: Snapshot, waiting: Pod, stuck: bool
) -> None:
    """B028."""
    (found,) = unrecovered(with_pods(world, waiting), fixed())

    assert (found.cause is not None) is stuck
    if found.cause is not None:
        assert found.cause.code is Code.SCHEDULER_NOT_RETRIED
        assert found.cause.facts["pods"] == ("default/w",)


def test_given_39_rejected_pods_beside_one_that_runs_when_judged_then_recovered_and_one_number_is_left() -> None:
    """B032: judged by owner, not by pod count."""
    world = with_pods(short(available=2), *(rejected(n) for n in range(39)))
    taken = fixed()
    assert taken.baseline is not None

    assert unrecovered(world, taken) == ()
    assert turned_off(world, taken, world.iks.workers) is None
    assert len(turned_away(world, taken.baseline)) == 39


@pytest.mark.parametrize(
    ("pods", "count"),
    [
        ([rejected(n) for n in range(5)], 5),
        ([rejected(n) for n in range(12)], 12),
        ([rejected(n) for n in range(4)], None),
        ([rejected(n, created_at=START - timedelta(days=2)) for n in range(9)], None),
        ([rejected(n, reason="Evicted") for n in range(9)], None),
        ([rejected(n, owner=Owner("Deployment", "default", "other")) for n in range(9)], None),
        ([rejected(n, "10.240.0.66") for n in range(9)], None),
    ],
    ids=["five", "many", "four", "B026 older than the node", "another reason", "another workload", "another node"],
)
def test_given_rejected_pods_on_a_new_node_when_the_workload_is_missing_then_many_are_a_cause(
    pods: list[Pod], count: int | None
) -> None:
    """B037: the kubelet's bookkeeping is off; waiting does not help."""
    world = with_pods(short(), *pods)

    found = turned_off(world, fixed(), [w for w in world.iks.workers if w.id == "n1"])

    assert (found.facts["count"] if found else None) == count
    assert found is None or (found.code, found.text("node")) == (Code.ADMISSION_REFUSED, "10.240.1.1")


def test_given_no_pods_at_all_when_judged_then_the_workload_is_simply_missing() -> None:
    (found,) = unrecovered(without_pods(short(available=0), lambda p: p.app == "gpu-burn"), fixed())

    assert (found.cause, found.facts["scheduling"]) == (None, ())
