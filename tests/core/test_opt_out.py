"""What keeps the operator off a worker with IBM's driver: before it exists, and once it sweeps labels (B005, B075)."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from state.opt_out import (
    DRIVER,
    OPERANDS,
    is_operand,
    missing_labels,
    operator_present,
    opting_out,
    traces,
    without_opt_out,
)
from state.snapshot import Pod, Snapshot
from tests.builders import CLUSTER_POLICY, OPERANDS_RUN, START, node, operand, pod, release, two_workers

BOTH = {OPERANDS: "false", DRIVER: "false"}
PLUGIN = "nvidia.com/gpu.deploy.device-plugin"


@pytest.mark.parametrize(
    ("labels", "before", "after"),
    [
        (BOTH, True, True),
        ({OPERANDS: "false"}, False, True),
        ({DRIVER: "false"}, False, False),
        ({}, False, False),
        ({OPERANDS: "False", DRIVER: "False"}, False, False),
        ({OPERANDS: "", DRIVER: "false"}, False, False),
        ({OPERANDS: "false", DRIVER: ""}, False, True),
        ({OPERANDS: "no", DRIVER: "0"}, False, False),
        ({OPERANDS: "false", DRIVER: "true"}, False, True),
        ({OPERANDS: "true", DRIVER: "false"}, False, False),
        ({OPERANDS: "false", DRIVER: "pre-installed"}, False, True),
    ],
    ids=[
        "both",
        "only operands",
        "only driver",
        "none",
        "False",
        "empty operands",
        "empty driver",
        "no and 0",
        "driver true",
        "operands true",
        "driver pre-installed",
    ],
)
def test_given_labels_then_they_suffice_before_or_after_the_operator_came(
    labels: Mapping[str, str], before: bool, after: bool
) -> None:
    subject = node("a", "w1", labels=labels)

    assert (missing_labels(subject, operator=False) == {}) is before
    assert (missing_labels(subject, operator=True) == {}) is after


def test_given_a_label_is_missing_then_both_are_written_in_one_patch() -> None:
    assert missing_labels(node("a", "w1", labels={OPERANDS: "false"}), operator=False) == BOTH


def kubernetes(snapshot: Snapshot, **changes: object) -> Snapshot:
    return replace(snapshot, kubernetes=replace(snapshot.kubernetes, **changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "present"),
    [({}, False), ({"releases": (release(),)}, True), ({"cluster_policies": (CLUSTER_POLICY,)}, True)],
    ids=["nothing", "release", "policy"],
)
def test_given_release_or_policy_then_an_operator_is_at_work(changes: Mapping[str, object], present: bool) -> None:
    assert operator_present(kubernetes(two_workers(), **changes)) is present


@pytest.mark.parametrize(
    ("subject", "operates"),
    [
        *((operand(app, "a", created_at=START), True) for app in OPERANDS_RUN),
        (pod("d", "a", app="nvidia-driver-daemonset-6.8.0-ubuntu24.04", component="nvidia-driver"), True),
        (pod("d", "a", app="nvidia-gpu-driver-ubuntu24.04-1234", component="nvidia-driver"), True),
        (pod("o", "a", app="gpu-operator", component="gpu-operator", namespace="gpu-operator"), False),
        (pod("n", "a", app="", part="worker", namespace="gpu-operator"), False),
        (pod("b", "a"), False),
    ],
    ids=[*OPERANDS_RUN, "precompiled driver", "driver of a custom resource", "operator", "NFD worker", "workload"],
)
def test_given_a_pod_then_operands_are_told_from_operator_and_workloads(subject: Pod, operates: bool) -> None:
    assert is_operand(subject) is operates


def test_given_a_swept_node_then_nothing_of_the_operator_is_left() -> None:
    world = two_workers()
    first, second = world.kubernetes.nodes
    swept = replace(first, labels={OPERANDS: "false", "nvidia.com/gpu.present": "true"})
    nfd = pod("nfd-worker", first.name, gpus=0, app="", part="worker", namespace="gpu-operator")
    world = kubernetes(world, nodes=(swept, second), pods=(*world.kubernetes.pods, nfd))

    assert traces(world, swept) == ()


def test_given_an_unswept_node_then_labels_and_pods_are_named_but_for_finished_ones() -> None:
    world = two_workers()
    first, second = world.kubernetes.nodes
    dirty = replace(first, labels={OPERANDS: "false", PLUGIN: "true", DRIVER: "false"})
    driver = operand("nvidia-driver-daemonset", first.name, created_at=START)
    proof = operand("nvidia-cuda-validator", first.name, created_at=START, phase="Succeeded", ready=False)
    elsewhere = operand("nvidia-driver-daemonset", second.name, created_at=START)
    world = kubernetes(world, nodes=(dirty, second), pods=(driver, proof, elsewhere))

    assert traces(world, dirty) == (f"{PLUGIN}=true", driver.key)


def test_given_pods_of_an_earlier_node_of_the_same_name_then_they_are_no_trace() -> None:
    world = two_workers()
    first, second = world.kubernetes.nodes
    young = replace(first, created_at=START)
    old = operand("nvidia-driver-daemonset", first.name, created_at=START - timedelta(days=1))
    world = kubernetes(world, nodes=(young, second), pods=(old,))

    assert traces(world, young) == ()


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        (BOTH, (f"{OPERANDS}=false", f"{DRIVER}=false")),
        ({OPERANDS: "false"}, (f"{OPERANDS}=false",)),
        ({OPERANDS: ""}, ()),
        ({OPERANDS: "true", "team": "blue"}, ()),
        ({}, ()),
    ],
    ids=["both", "one", "empty", "true", "none"],
)
def test_given_labels_of_a_pool_then_those_that_opt_out_are_named(
    labels: Mapping[str, str], found: tuple[str, ...]
) -> None:
    assert opting_out(labels) == found


def test_given_labels_of_a_model_then_a_new_pool_takes_what_is_the_customers() -> None:
    labels = {**BOTH, PLUGIN: "true", "ibm-cloud.kubernetes.io/worker-pool-id": "p", "team": "blue"}

    assert without_opt_out(labels) == {"team": "blue"}
