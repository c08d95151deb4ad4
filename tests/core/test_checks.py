"""The last look before an order: what forbids it, asked of clusters that changed since the plan."""

from dataclasses import replace

import pytest

from state.fleet import others_unready
from state.planner import plan
from state.reasons import Code
from state.run import Approval, Decision, Run, StepKind, StepPhase
from state.snapshot import ClusterPolicy, Snapshot
from tests.builders import (
    CLUSTER_POLICY,
    OPTED_OUT,
    START,
    master,
    operand,
    pod,
    pool,
    release,
    run,
    two_workers,
    worker,
)
from tests.core.checks import Change, checked, same, updated
from tests.core.worlds import change_node, change_worker, iks, join, kubernetes, leave, with_pods


def ready_for_master() -> Snapshot:
    """Labelled, with an operator at rest."""
    world = kubernetes(two_workers(), releases=(release(),), cluster_policies=(CLUSTER_POLICY,))
    return change_node(change_node(world, "w1", labels=OPTED_OUT), "w2", labels=OPTED_OUT)


def approved(world: Snapshot, worker_id: str = "w1") -> Run:
    """A run in which somebody has agreed to give up this worker."""
    planned = plan(run(), world)
    answer = Approval("r-1:1", 1, f"move-workloads/{worker_id}", START, (), decision=Decision.APPROVED)
    steps = tuple(
        replace(s, approval=answer.id, phase=StepPhase.DONE) if s.key == answer.step_key else s for s in planned.steps
    )
    return replace(planned, steps=steps, approvals=(answer,))


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        (same, []),
        (lambda w: change_node(w, "w2", labels={"nvidia.com/gpu.deploy.driver": None}), [Code.OLD_NODE_UNLABELLED]),
        (lambda w: kubernetes(w, releases=(release(), release(name="b"))), [Code.RELEASES_MANY]),
        (
            lambda w: kubernetes(w, cluster_policies=(ClusterPolicy("p", "ready", release="nvidia/old"),)),
            [Code.FOREIGN_OPERATOR],
        ),
        (lambda w: change_worker(join(w, "w3"), "w3", version="1.35.4_1528"), [Code.OLD_NODE_UNLABELLED]),
    ],
    ids=["fit", "B005 a label is missing", "B089 two releases", "B089 policy without release", "B004 newcomer"],
)
def test_given_the_operator_is_due_when_looked_then_unlabelled_nodes_and_second_operators_forbid_it(
    change: Change, codes: list[Code]
) -> None:
    world = kubernetes(ready_for_master(), releases=(), cluster_policies=())

    assert checked(StepKind.INSTALL_OPERATOR, change(world), plan(run(), two_workers())) == codes


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        (same, []),
        (lambda w: iks(w, master=master(state="ca_rotation")), [Code.MASTER_BUSY]),
        (lambda w: iks(w, master=master(pending=True)), [Code.MASTER_BUSY]),
        (lambda w: iks(w, master=master(health="error")), [Code.MASTER_BUSY]),
        (lambda w: kubernetes(w, releases=(), cluster_policies=()), [Code.WAIT_RELEASE]),
        (
            lambda w: change_node(w, "w1", labels={"nvidia.com/gpu.deploy.operands": "False"}),
            [Code.OLD_NODE_UNLABELLED],
        ),
        (
            lambda w: change_node(w, "w1", labels={"nvidia.com/gpu.deploy.dcgm": "true"}),
            [Code.OPERATOR_LABELLED_NODE_DIRTY],
        ),
        (
            lambda w: with_pods(w, operand("nvidia-driver-daemonset", "10.240.0.64", created_at=START)),
            [Code.OPERATOR_LABELLED_NODE_DIRTY],
        ),
    ],
    ids=["fit", "B041 busy", "changing", "unwell", "no operator", "B005 False", "deploy label", "operand"],
)
def test_given_the_control_plane_is_due_when_looked_then_it_must_be_at_rest_and_old_nodes_clean(
    change: Change, codes: list[Code]
) -> None:
    assert checked(StepKind.UPDATE_MASTER, change(ready_for_master()), plan(run(), two_workers())) == codes


def test_given_no_target_version_when_looked_then_the_control_plane_is_left_alone() -> None:
    subject = replace(plan(run(), two_workers()), target_version="")

    assert checked(StepKind.UPDATE_MASTER, ready_for_master(), subject) == [Code.NO_TARGET_YET]


BOUND_TO = {"nvidia.com/gpu-driver-upgrade-state": "upgrade-failed"}


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        (same, []),
        (lambda w: iks(w, master=master()), [Code.MASTER_NOT_THERE]),
        (lambda w: iks(w, master=master("1.36.0_1506", pending=True)), [Code.MASTER_NOT_THERE]),
        (lambda w: change_node(w, "w1", labels=BOUND_TO), [Code.UPGRADE_FAILED]),
        (lambda w: change_node(w, "w2", labels=BOUND_TO), []),
        (lambda w: change_node(w, "w2", ready=False), [Code.OTHERS_UNREADY]),
        (lambda w: change_worker(w, "w2", health="critical"), [Code.OTHERS_UNREADY]),
        (lambda w: leave(w, "w2"), [Code.POOL_SHORT, Code.LAST_GPU_WORKER]),
        (join, [Code.OTHERS_UNREADY]),
        (
            lambda w: with_pods(w, operand("nvidia-driver-daemonset", "10.240.0.66", created_at=START)),
            [Code.OPERAND_ON_OLD_NODE],
        ),
        (
            lambda w: with_pods(
                w, operand("nvidia-driver-daemonset-6.8", "10.240.0.66", created_at=START, component="nvidia-driver")
            ),
            [Code.OPERAND_ON_OLD_NODE],
        ),
    ],
    ids=[
        "fit",
        "control plane old",
        "control plane changing",
        "B013 upgrade failed",
        "B013 of another worker",
        "another not ready",
        "another unwell",
        "B052 the only one",
        "another not stable",
        "B004 driver on an old node",
        "B004 precompiled driver on an old node",
    ],
)
def test_given_a_worker_is_due_when_looked_then_nobody_else_may_be_away(change: Change, codes: list[Code]) -> None:
    world = updated(two_workers())

    assert checked(StepKind.MOVE_WORKLOADS, change(world), plan(run(), world)) == codes


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (lambda w: change_node(w, "w2", ready=False), Code.WAIT_NODE_READY),
        (lambda w: change_worker(w, "w2", health="critical"), Code.WAIT_WORKER),
    ],
    ids=["not ready", "unwell"],
)
def test_given_others_that_are_away_when_looked_then_all_are_named_with_what_the_first_waits_for(
    change: Change, cause: Code
) -> None:
    world = updated(two_workers())
    away = iks(change(world), workers=(*change(world).iks.workers, worker("x", "", state="provisioning")))

    (found,) = others_unready(away, plan(run(), world), "w1")

    assert found.code is Code.OTHERS_UNREADY
    assert found.facts == {"nodes": ("10.240.0.66", "x")}
    assert found.cause is not None
    assert (found.cause.code, found.cause.text("worker")) == (cause, "w2")


def emptied() -> Snapshot:
    """w1 is closed and empty."""
    world = updated(two_workers())
    return change_node(kubernetes(world, pods=world.kubernetes.pods[1:]), "w1", unschedulable=True)


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        (same, []),
        (lambda w: iks(w, master=master()), [Code.MASTER_NOT_THERE]),
        (lambda w: change_node(w, "w1", unschedulable=False, cordoned_by="k8s-driver-manager"), [Code.CORDON_LIFTED]),
        (lambda w: with_pods(w, pod("late", "10.240.0.64")), [Code.NEW_PODS]),
        (lambda w: change_worker(w, "w1", pending_operation="reboot"), [Code.WAIT_WORKER]),
        (lambda w: iks(w, pools=(pool(autobalanced=False),)), [Code.REBALANCE_OFF]),
        (lambda w: iks(w, pools=(pool(autoscaled=True),)), [Code.AUTOSCALER]),
        (lambda w: iks(w, pools=(pool(labels={"nvidia.com/gpu.deploy.operands": "false"}),)), [Code.POOL_LABELS]),
        (lambda w: iks(w, pools=(pool(size=3),)), [Code.POOL_SHORT]),
        (lambda w: change_node(w, "w2", ready=False), [Code.OTHERS_UNREADY]),
        (
            lambda w: iks(w, workers=(*w.iks.workers, worker("x", "", state="provisioning"))),
            [Code.STRANGER, Code.OTHERS_UNREADY],
        ),
        (
            lambda w: with_pods(w, operand("nvidia-driver-daemonset", "10.240.0.66", created_at=START)),
            [Code.OPERAND_ON_OLD_NODE],
        ),
    ],
    ids=[
        "fit",
        "control plane old",
        "B007 cordon lifted",
        "a pod came",
        "another operation",
        "no rebalancing",
        "autoscaled",
        "B055 pool labels",
        "B052 one fewer",
        "another not ready",
        "somebody else replaced one",
        "B004 driver on an old node",
    ],
)
def test_given_a_machine_is_about_to_be_deleted_when_looked_then_all_must_still_be_so(
    change: Change, codes: list[Code]
) -> None:
    assert checked(StepKind.REPLACE_WORKER, change(emptied()), approved(updated(two_workers()))) == codes


def test_given_nobody_agreed_when_looked_then_no_machine_is_deleted() -> None:
    found = checked(StepKind.REPLACE_WORKER, emptied(), plan(run(), updated(two_workers())))

    assert found == [Code.WAIT_APPROVAL]
