"""What the steps before a worker's turn say: as they want it, not yet, or not by itself."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from state.opt_out import DRIVER, OPERANDS
from state.reasons import Code
from state.run import StepKind
from state.snapshot import Pod, Snapshot
from state.steps.step import Broken, Done, Verdict, Waiting
from tests.builders import (
    CLUSTER_POLICY,
    OLD,
    OPTED_OUT,
    START,
    master,
    operand,
    pod,
    release,
    two_workers,
)
from tests.core.verdicts import ask, outcome
from tests.core.worlds import at, change_node, change_worker, iks, join, kubernetes, with_pods


def opted(world: Snapshot, **labels: str) -> Snapshot:
    return change_node(change_node(world, "w1", labels=OPTED_OUT), "w2", labels=labels or OPTED_OUT)


LABELLED = opted(two_workers())
OPERATOR = pod("gpu-operator-1", "10.240.0.99", gpus=0, app="gpu-operator", namespace="gpu-operator")


def nfd(part: str, **changes: Any) -> Pod:
    return replace(OPERATOR, name=f"nfd-{part}", uid=f"uid-nfd-{part}", app="", part=part, **changes)


def installed(world: Snapshot, *pods: Pod, **changes: Any) -> Snapshot:
    found = kubernetes(world, releases=(release(**changes),), cluster_policies=(CLUSTER_POLICY,))
    return with_pods(found, *(pods or (OPERATOR, nfd("master"), nfd("worker"), nfd("gc"))))


SWEPT = installed(opted(two_workers()))
SWEPT = change_node(change_node(SWEPT, "w1", labels={DRIVER: None}), "w2", labels={DRIVER: None})
WEBHOOK = "operation cannot complete: broken webhook application, see https://ibm.biz/master_webhook"


def controlled(version: str = "1.36.0_1506", api: str = "v1.36.0+IKS", **changes: Any) -> Snapshot:
    return kubernetes(iks(SWEPT, master=master(version, **changes)), version=api)


ROWS: dict[str, tuple[StepKind, Snapshot, type[Verdict], Code | None]] = {
    "nothing labelled": (StepKind.LABEL_NODES, two_workers(), Waiting, Code.WAIT_LABELS),
    "labelled": (StepKind.LABEL_NODES, LABELLED, Done, None),
    "B005 one label before the operator": (
        StepKind.LABEL_NODES,
        opted(two_workers(), **{OPERANDS: "false"}),
        Waiting,
        Code.WAIT_LABELS,
    ),
    "B005 one label after it": (StepKind.LABEL_NODES, SWEPT, Done, None),
    "B004 another old node": (
        StepKind.LABEL_NODES,
        change_worker(join(SWEPT, "w3"), "w3", version=OLD),
        Waiting,
        Code.WAIT_LABELS,
    ),
    "B004 an old node before IKS tells its version": (
        StepKind.LABEL_NODES,
        change_node(change_worker(join(SWEPT, "w3"), "w3", version=""), "w3", kubelet_version="v1.35.4+IKS"),
        Waiting,
        Code.WAIT_LABELS,
    ),
    "a new node before IKS tells its version": (
        StepKind.LABEL_NODES,
        change_worker(join(SWEPT, "w3"), "w3", version=""),
        Done,
        None,
    ),
    "no release": (StepKind.INSTALL_OPERATOR, LABELLED, Waiting, Code.WAIT_RELEASE),
    "B086 being installed": (
        StepKind.INSTALL_OPERATOR,
        at(installed(LABELLED, status="pending-install"), START + timedelta(minutes=2)),
        Waiting,
        Code.WAIT_RELEASE,
    ),
    "B086 pending for 40 minutes": (
        StepKind.INSTALL_OPERATOR,
        at(installed(LABELLED, status="pending-install"), START + timedelta(minutes=40)),
        Broken,
        Code.RELEASE_STUCK,
    ),
    "pending, no time told": (
        StepKind.INSTALL_OPERATOR,
        installed(LABELLED, status="pending-install", updated_at=None),
        Waiting,
        Code.WAIT_RELEASE,
    ),
    "B088 failed though it runs": (
        StepKind.INSTALL_OPERATOR,
        installed(LABELLED, status="failed"),
        Broken,
        Code.RELEASE_FAILED,
    ),
    "no operator pod": (
        StepKind.INSTALL_OPERATOR,
        installed(LABELLED, nfd("master")),
        Waiting,
        Code.WAIT_OPERATOR_PODS,
    ),
    "an NFD pod is not ready": (
        StepKind.INSTALL_OPERATOR,
        installed(SWEPT, OPERATOR, nfd("worker", ready=False)),
        Waiting,
        Code.WAIT_OPERATOR_PODS,
    ),
    "an old NFD pod leaves": (
        StepKind.INSTALL_OPERATOR,
        installed(SWEPT, OPERATOR, nfd("worker", ready=False, deleting_since=START)),
        Done,
        None,
    ),
    "deploy label on an old node": (
        StepKind.INSTALL_OPERATOR,
        change_node(SWEPT, "w1", labels={"nvidia.com/gpu.deploy.dcgm": "true"}),
        Waiting,
        Code.WAIT_NODE_CLEAN,
    ),
    "operand on an old node": (
        StepKind.INSTALL_OPERATOR,
        with_pods(SWEPT, operand("nvidia-driver-daemonset", "10.240.0.64", created_at=START)),
        Waiting,
        Code.WAIT_NODE_CLEAN,
    ),
    "operator at rest": (StepKind.INSTALL_OPERATOR, SWEPT, Done, None),
    "control plane not asked": (StepKind.UPDATE_MASTER, SWEPT, Waiting, Code.WAIT_MASTER),
    "control plane under way": (
        StepKind.UPDATE_MASTER,
        controlled(pending=True, state="updating"),
        Waiting,
        Code.WAIT_MASTER,
    ),
    "B039 target version shown while it is rolled out": (
        StepKind.UPDATE_MASTER,
        controlled(pending=True),
        Waiting,
        Code.WAIT_MASTER,
    ),
    "control plane unwell": (StepKind.UPDATE_MASTER, controlled(health="error"), Waiting, Code.WAIT_MASTER),
    "B039 API server still old": (
        StepKind.UPDATE_MASTER,
        controlled(api="v1.35.4+IKS"),
        Waiting,
        Code.WAIT_API_VERSION,
    ),
    "B051 webhook": (
        StepKind.UPDATE_MASTER,
        controlled(OLD, pending=True, state="updating", status=WEBHOOK),
        Broken,
        Code.MASTER_BLOCKED,
    ),
    "update cancelled": (
        StepKind.UPDATE_MASTER,
        controlled(OLD, state="update_cancelled"),
        Broken,
        Code.MASTER_BLOCKED,
    ),
    "control plane there": (StepKind.UPDATE_MASTER, controlled(), Done, None),
}


@pytest.mark.parametrize(("kind", "world", "verdict", "code"), ROWS.values(), ids=ROWS.keys())
def test_given_a_cluster_when_a_step_looks_then_it_says_how_far_it_is(
    kind: StepKind, world: Snapshot, verdict: type[Verdict], code: Code | None
) -> None:
    assert outcome(ask(kind, world)) == (verdict, code)
