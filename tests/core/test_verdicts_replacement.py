"""What a replacement and the whole say: back, not yet, or not by itself."""

from dataclasses import replace
from datetime import timedelta

import pytest

from state.planner import plan
from state.reasons import Code
from state.run import Run, StepKind
from state.snapshot import Owner, Snapshot
from state.steps.step import Broken, Done, Verdict, Waiting
from tests.builders import (
    OLD,
    START,
    pod,
    run,
    two_workers,
    worker,
)
from tests.core.verdicts import ask, outcome
from tests.core.worlds import at, change_node, change_worker, iks, join, kubernetes, leave, with_pods, without_pods

LATER = START + timedelta(minutes=30)


def stable(worker_id: str = "n1") -> Run:
    """A plan for example 2 that has seen the successor healthy for long enough."""
    return replace(plan(run(), two_workers()), healthy_since={worker_id: START})


REPLACED = at(join(leave(two_workers(), "w1")), LATER)
BURN = Owner("Deployment", "default", "gpu-burn")


def refused(world: Snapshot, number: int) -> Snapshot:
    """A workload that is not back, and pods of it that the new node's kubelet turned away."""
    (found,) = world.kubernetes.workloads
    pods = (
        pod(
            f"r{n}",
            "10.240.1.1",
            owner=BURN,
            phase="Failed",
            ready=False,
            reason="UnexpectedAdmissionError",
            created_at=LATER,
        )
        for n in range(number)
    )
    return with_pods(kubernetes(world, workloads=(replace(found, available=1),)), *pods)


REPLACEMENT: dict[str, tuple[Snapshot, type[Verdict], Code | None]] = {
    "not begun": (at(two_workers(), LATER), Waiting, Code.WAIT_OLD_WORKER_GONE),
    "old one gone, new one not listed": (at(leave(two_workers(), "w1"), LATER), Waiting, Code.WAIT_SUCCESSOR),
    "being provisioned": (
        change_worker(REPLACED, "n1", state="provisioning", health="", version=""),
        Waiting,
        Code.WAIT_WORKER,
    ),
    "B053 unknown word": (change_worker(REPLACED, "n1", state="provision_pending"), Waiting, Code.WAIT_WORKER),
    "no node": (kubernetes(REPLACED, nodes=REPLACED.kubernetes.nodes[:-1]), Waiting, Code.WAIT_NODE_READY),
    "no GPUs": (change_node(REPLACED, "n1", allocatable={}, capacity={}, ready_since=LATER), Waiting, Code.WAIT_GPUS),
    "normal before IKS tells its version": (
        change_node(change_worker(REPLACED, "n1", version=""), "n1", allocatable={}, capacity={}, ready_since=LATER),
        Waiting,
        Code.WAIT_GPUS,
    ),
    "old minor again": (change_worker(REPLACED, "n1", version=OLD), Broken, Code.SUCCESSOR_WRONG_MINOR),
    "old minor by its kubelet": (
        change_node(change_worker(REPLACED, "n1", version=""), "n1", kubelet_version="v1.35.4+IKS"),
        Broken,
        Code.SUCCESSOR_WRONG_MINOR,
    ),
    "a workload is short": (refused(REPLACED, 4), Waiting, Code.WORKLOAD_UNRECOVERED),
    "B037 pods turned away": (refused(REPLACED, 5), Broken, Code.ADMISSION_REFUSED),
    "back": (REPLACED, Done, None),
}


@pytest.mark.parametrize(("world", "verdict", "code"), REPLACEMENT.values(), ids=REPLACEMENT.keys())
def test_given_a_replacement_when_looked_at_then_it_says_how_far_it_is(
    world: Snapshot, verdict: type[Verdict], code: Code | None
) -> None:
    found = ask(StepKind.REPLACE_WORKER, world, stable(), "w1")

    assert outcome(found) == (verdict, code)


def test_given_a_kubelet_that_turns_pods_away_then_node_and_number_are_named() -> None:
    found = ask(StepKind.REPLACE_WORKER, refused(REPLACED, 7), stable(), "w1")

    assert isinstance(found, Broken)
    assert (found.why.facts["node"], found.why.facts["count"]) == ("10.240.1.1", 7)


MIGRATED = at(join(join(leave(leave(two_workers(), "w1"), "w2")), "n2", "10.240.1.2"), LATER)


@pytest.mark.parametrize(
    ("world", "verdict", "code"),
    [
        (MIGRATED, Done, None),
        (iks(MIGRATED, workers=(*MIGRATED.iks.workers, worker("w9", OLD))), Waiting, Code.WAIT_WORKER),
        (change_node(MIGRATED, "n2", ready=False), Waiting, Code.WAIT_NODE_READY),
        (without_pods(MIGRATED, lambda p: p.app == "nvidia-operator-validator"), Waiting, Code.WAIT_GPUS),
        (leave(MIGRATED, "n2"), Waiting, Code.POOL_SHORT),
        (
            kubernetes(MIGRATED, workloads=(replace(two_workers().kubernetes.workloads[0], available=1),)),
            Waiting,
            Code.WORKLOAD_UNRECOVERED,
        ),
        (change_worker(MIGRATED, "n2", version=""), Waiting, Code.WAIT_WORKER),
    ],
    ids=["all back", "one old", "not ready", "no validator", "B052 one fewer", "workload short", "version not told"],
)
def test_given_a_migrated_cluster_when_seen_whole_then_everything_has_to_be_back(
    world: Snapshot, verdict: type[Verdict], code: Code | None
) -> None:
    subject = replace(stable(), healthy_since={"n1": START, "n2": START})

    assert outcome(ask(StepKind.VERIFY_MIGRATION, world, subject)) == (verdict, code)


def test_given_a_node_that_is_good_for_a_moment_then_it_has_to_last() -> None:
    found = ask(StepKind.REPLACE_WORKER, REPLACED, replace(stable(), healthy_since={"n1": LATER}), "w1")

    assert outcome(found) == (Waiting, Code.WAIT_STABLE)
