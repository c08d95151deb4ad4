"""One row per stage of the chain that makes a node's GPUs usable, with the words that name the cause."""

from dataclasses import replace
from datetime import timedelta

import pytest

from state.opt_out import DRIVER, OPERANDS
from state.readiness import PAUSED, Stage
from state.snapshot import Taint
from tests.builders import container, pod
from tests.core.gpu_node import (
    BORN,
    NAME,
    Change,
    both,
    ended,
    healthy,
    labels,
    nfd_worker,
    on_node,
    pods,
    running,
    unready,
    verdict,
    waiting,
    without,
)

NFD, PLUGIN = "feature.node.kubernetes.io/pci-10de.present", "nvidia.com/gpu.deploy.device-plugin"
DRIVER_APP, TOOLKIT, VALIDATOR, PLUGIN_APP = (
    "nvidia-driver-daemonset",
    "nvidia-container-toolkit-daemonset",
    "nvidia-operator-validator",
    "nvidia-device-plugin-daemonset",
)
NONE: dict[str, int] = {}
TAINTED = on_node(labels={}, taints=(Taint("nvidia.com/gpu", "true", "NoSchedule"),), allocatable=NONE, capacity=NONE)

CHAIN: dict[str, tuple[Change, Stage, tuple[str, ...]]] = {
    "no node": (
        lambda s: replace(s, kubernetes=replace(s.kubernetes, nodes=())),
        Stage.NODE_MISSING,
        (),
    ),
    "node not ready": (on_node(ready=False), Stage.NODE_NOT_READY, ()),
    "opted out by a pool label": (labels({OPERANDS: "false"}), Stage.OPTED_OUT, (f"{OPERANDS}=false",)),
    "B009 taint of another value": (TAINTED, Stage.NO_NFD_POD, ("nvidia.com/gpu=true:NoSchedule",)),
    "NFD worker not ready": (
        both(labels(without=(NFD,)), pods(lambda p: (*p, nfd_worker(ready=False)))),
        Stage.NO_NFD_LABEL,
        (nfd_worker().key,),
    ),
    "NFD says false": (labels({NFD: "false"}), Stage.NO_NFD_POD, ()),
    "NFD names the class too": (
        labels({"feature.node.kubernetes.io/pci-0302_10de.present": "true"}, without=(NFD,)),
        Stage.HEALTHY,
        (),
    ),
    "operator has not labelled": (labels(without=("nvidia.com/gpu.present",)), Stage.NOT_LABELLED, ("gpu.present=",)),
    "B017 operator took it back": (
        labels({"nvidia.com/gpu.present": "false"}),
        Stage.NOT_LABELLED,
        ("gpu.present=false",),
    ),
    "no deploy label yet": (labels(without=(DRIVER,)), Stage.NOT_LABELLED, (DRIVER,)),
    "B003 pre-installed": (
        both(labels({DRIVER: "pre-installed"}), without(DRIVER_APP), on_node(allocatable=NONE, capacity=NONE)),
        Stage.DRIVER_LABEL,
        (f"{DRIVER}=pre-installed",),
    ),
    "driver switched off": (labels({DRIVER: "false"}), Stage.DRIVER_LABEL, (f"{DRIVER}=false",)),
    "F23 empty driver label": (labels({DRIVER: ""}), Stage.DRIVER_LABEL, (f"{DRIVER}=",)),
    "B012 held back": (labels({PLUGIN: PAUSED}), Stage.HELD_BACK, (f"{PLUGIN}={PAUSED}",)),
    "B012 held back with a prefix": (labels({DRIVER: f"true_{PAUSED}"}), Stage.HELD_BACK, (DRIVER, PAUSED)),
    "no driver pod": (without(DRIVER_APP), Stage.NO_DRIVER_POD, ()),
    "driver pod repelled": (
        both(without(DRIVER_APP), on_node(taints=(Taint("dedicated", "ml", "NoExecute"),))),
        Stage.NO_DRIVER_POD,
        ("dedicated=ml:NoExecute",),
    ),
    "driver pod leaving": (unready(DRIVER_APP, ready=True, deleting_since=BORN), Stage.NO_DRIVER_POD, ()),
    "driver image": (
        unready(DRIVER_APP, main=(waiting("nvidia-driver-ctr", "ImagePullBackOff", message="nvcr.io/x:580 refused"),)),
        Stage.IMAGE_PULL,
        ("nvidia-driver-ctr", "ImagePullBackOff", "nvcr.io/x:580 refused"),
    ),
    "driver manager": (
        unready(DRIVER_APP, init=(waiting("k8s-driver-manager", "CrashLoopBackOff", 2),)),
        Stage.DRIVER_MANAGER,
        ("k8s-driver-manager", "restarts=2"),
    ),
    "driver manager at work": (
        unready(DRIVER_APP, init=(running("k8s-driver-manager"),)),
        Stage.DRIVER_STARTING,
        (DRIVER_APP,),
    ),
    "driver builds": (
        unready(DRIVER_APP, init=(ended("k8s-driver-manager"),), main=(container(ready=False, restarts=1),)),
        Stage.DRIVER_STARTING,
        (DRIVER_APP,),
    ),
    "driver crashes": (
        unready(DRIVER_APP, main=(container("nvidia-driver-ctr", ready=False, restarts=3),)),
        Stage.DRIVER_CRASHES,
        ("nvidia-driver-ctr", "restarts=3"),
    ),
    "no toolkit pod": (without(TOOLKIT), Stage.TOOLKIT, ()),
    "toolkit waits for the driver": (
        unready(TOOLKIT, init=(running("driver-validation"),)),
        Stage.TOOLKIT,
        ("Init:driver-validation",),
    ),
    "toolkit image": (
        unready(TOOLKIT, main=(waiting("nvidia-container-toolkit-ctr", "ErrImagePull"),)),
        Stage.IMAGE_PULL,
        ("nvidia-container-toolkit-ctr",),
    ),
    "B011 validator crashes in init": (
        both(
            unready(
                VALIDATOR,
                init=(ended("driver-validation"), waiting("toolkit-validation", "CrashLoopBackOff", 9)),
            ),
            unready(PLUGIN_APP, init=(running("toolkit-validation"),)),
        ),
        Stage.VALIDATOR,
        ("Init:toolkit-validation", "CrashLoopBackOff", "restarts=9"),
    ),
    "plugin waits": (
        both(
            unready(PLUGIN_APP, init=(running("toolkit-validation"),)),
            unready(VALIDATOR, init=(running("toolkit-validation"),)),
        ),
        Stage.DEVICE_PLUGIN,
        (PLUGIN_APP, "Init:toolkit-validation"),
    ),
    "F23 empty plugin label": (
        both(labels({PLUGIN: ""}), without(PLUGIN_APP)),
        Stage.DEVICE_PLUGIN,
        (f"{PLUGIN}=",),
    ),
    "plugin image": (
        unready(PLUGIN_APP, main=(waiting("nvidia-device-plugin", "InvalidImageName"),)),
        Stage.IMAGE_PULL,
        ("nvidia-device-plugin",),
    ),
    "B095 not registered": (on_node(allocatable=NONE, capacity=NONE), Stage.NOT_REGISTERED, ("nvidia.com/gpu",)),
    "B096 zero until the plugin registers": (
        on_node(allocatable={"nvidia.com/gpu": 0}, capacity={"nvidia.com/gpu": 0}),
        Stage.NOT_REGISTERED,
        ("nvidia.com/gpu",),
    ),
    "B001 capacity full, allocatable 0": (
        on_node(allocatable={"nvidia.com/gpu": 0}),
        Stage.UNHEALTHY_GPU,
        ("have=0", "want=1", "resource=nvidia.com/gpu"),
    ),
    "no validator pod": (without(VALIDATOR), Stage.VALIDATOR, ()),
    "validator at its third": (
        unready(VALIDATOR, init=(ended("driver-validation"), ended("toolkit-validation"), running("cuda-validation"))),
        Stage.VALIDATOR,
        ("Init:cuda-validation",),
    ),
    "B013 upgrade-state proves nothing": (
        both(without(DRIVER_APP), labels({"nvidia.com/gpu-driver-upgrade-state": "upgrade-done"})),
        Stage.NO_DRIVER_POD,
        (),
    ),
    "B013 nor spoils anything": (
        labels({"nvidia.com/gpu-driver-upgrade-state": "upgrade-required"}),
        Stage.HEALTHY,
        (),
    ),
    "B018 without info labels": (lambda s: s, Stage.HEALTHY, ()),
    "driver by component alone": (
        pods(lambda p: tuple(replace(x, app="nvidia-driver-daemonset-6.8") if x.app == DRIVER_APP else x for x in p)),
        Stage.HEALTHY,
        (),
    ),
    "B026 pods older than the node": (on_node(created_at=BORN + timedelta(minutes=1)), Stage.NO_DRIVER_POD, ()),
    "B016 a failed one-shot pod beside them": (
        pods(lambda p: (*p, pod("nvidia-cuda-validator-x", NAME, gpus=0, app="nvidia-cuda-validator", phase="Failed"))),
        Stage.HEALTHY,
        (),
    ),
}


@pytest.mark.parametrize(("change", "stage", "told"), CHAIN.values(), ids=CHAIN.keys())
def test_given_a_node_when_judged_then_the_first_cause_is_named(
    change: Change, stage: Stage, told: tuple[str, ...]
) -> None:
    found = verdict(change(healthy()))

    assert found.stage is stage
    assert all(word in str(found.reason) for word in told), found.reason


def test_given_all_stages_then_each_has_a_row() -> None:
    tested = {stage for _, stage, _ in CHAIN.values()} | {Stage.FEWER_GPUS}

    assert set(Stage) == tested


def test_given_both_a_new_and_a_leaving_driver_pod_then_the_new_one_counts() -> None:
    world = healthy()
    new, *rest = world.kubernetes.pods
    old = replace(new, name="old", uid="uid-old", ready=False, deleting_since=BORN)
    world = replace(world, kubernetes=replace(world.kubernetes, pods=(new, old, *rest)))

    assert verdict(world).healthy


def test_given_a_pod_that_was_turned_away_after_the_one_that_runs_then_the_running_one_counts() -> None:
    """B016, B032: what has failed stays in the list."""
    world = healthy()
    plugin = next(p for p in world.kubernetes.pods if p.app == PLUGIN_APP)
    failed = replace(plugin, name="failed", uid="uid-failed", ready=False, phase="Failed", created_at=world.at)

    assert verdict(pods(lambda found: (*found, failed))(world)).healthy
