"""Node objects of workers, flavors, GPUs that a node shows, misfortunes of nodes."""

from typing import Any

import pytest

from sandbox.controllers.afflictions import Afflictions, Kind
from sandbox.controllers.devices import gpu_amounts
from sandbox.controllers.feature_labels import gpu_labels, system_labels
from sandbox.controllers.flavors import read_flavor
from sandbox.controllers.node_lifecycle import endures, wanted_taints
from sandbox.controllers.nodes import kubelet_reports, lost_status, node_manifest

Json = dict[str, Any]

ID = "test-d8397vk20kb65iocenn0-btspstggput-default-000001e4"


def _manifest(version: str = "1.36.0_1507", *, preinstalled: bool = False, **more: Any) -> Json:
    facts: Json = {"worker_id": ID, "ip": "10.240.0.64", "flavor": "gx3.16x80.l4", "version": version}
    place: Json = {"pool_id": "p1", "pool_name": "default", "zone": "us-south-1", "os": "UBUNTU_24_64"}
    return node_manifest(**facts, **place, preinstalled=preinstalled, **more)


@pytest.mark.parametrize(
    ("name", "cpus", "gpus", "product"),
    [
        ("gx3.16x80.l4", 16, 1, "NVIDIA-L4"),
        ("gx3.32x160.2l4", 32, 2, "NVIDIA-L4"),
        ("gx3.24x120.l40s", 24, 1, "NVIDIA-L40S"),
        ("gx3d.160x1792.8h200", 160, 8, "NVIDIA-H200"),
        ("gx2.16x128x2v100", 16, 2, "Tesla-V100-PCIE-16GB"),
        ("gx3d.160x1792.8gaudi3", 160, 0, ""),
        ("bx2.4x16", 4, 0, ""),
        ("nonsense", 4, 0, ""),
    ],
)
def test_given_a_flavor_when_it_is_read_then_its_gpus_are_known(name: str, cpus: int, gpus: int, product: str) -> None:
    kind = read_flavor(name)

    assert (kind.cpus, kind.gpus) == (cpus, gpus)
    assert (kind.model.product if kind.model else "") == product


def test_given_a_1_35_worker_when_it_registers_then_its_gpu_is_there_from_the_start() -> None:
    node = _manifest("1.35.4_1528", preinstalled=True)

    assert node["status"]["allocatable"]["nvidia.com/gpu"] == "1"
    assert node["status"]["allocatable"]["cpu"] == "15890m"
    assert node["status"]["nodeInfo"]["kubeletVersion"] == "v1.35.4+IKS"
    assert node["metadata"]["labels"]["ibm-cloud.kubernetes.io/gpu-enabled"] == "true"
    assert node["metadata"]["labels"]["ibm-cloud.kubernetes.io/worker-version"] == "1.35.4_1528"
    assert node["spec"]["providerID"].endswith(f"///d8397vk20kb65iocenn0/{ID}")


def test_given_a_1_36_worker_when_it_registers_then_it_has_no_gpu_and_is_not_ready() -> None:
    node = _manifest(labels={"team": "ml"}, taints={"dedicated": "gpu:NoSchedule"})

    assert "nvidia.com/gpu" not in node["status"]["capacity"]
    assert node["metadata"]["labels"]["team"] == "ml"
    assert node["spec"]["taints"] == [
        {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"},
        {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"},
    ]


@pytest.mark.parametrize(
    ("shown", "host", "plugin", "healthy", "expected"),
    [
        ("", False, None, None, None),
        ("", False, False, None, None),
        ("", False, True, None, ("1", "1")),
        ("1", False, True, 0, ("1", "0")),
        ("1", False, None, None, ("1", "0")),
        ("1", True, None, None, ("1", "1")),
        ("1", True, None, 0, ("1", "0")),
    ],
    ids=["fresh", "not registered", "registered", "unhealthy", "plugin gone", "built in", "built in, broken"],
)
def test_given_a_plugin_or_none_when_gpus_are_shown_then_they_read_as_a_kubelets(
    shown: str, host: bool, plugin: bool | None, healthy: int | None, expected: tuple[str, str] | None
) -> None:
    node = _manifest(preinstalled=host)
    if shown:
        node["status"]["capacity"]["nvidia.com/gpu"] = shown

    assert gpu_amounts(node, plugin=plugin, healthy=healthy) == expected


def test_given_a_lost_node_when_its_status_is_written_then_no_kubelet_reports() -> None:
    node = _manifest()
    before = kubelet_reports(node)
    node["status"]["conditions"] = lost_status()["status"]["conditions"]

    assert before
    assert not kubelet_reports(node)


def _with(status: str, **spec: Any) -> Json:
    rows = [{"type": "Ready", "status": status}]
    return {"metadata": {"name": "n"}, "spec": spec, "status": {"conditions": rows}}


@pytest.mark.parametrize(
    ("node", "no_execute", "keys"),
    [
        (_with("True"), False, []),
        (_with("True", unschedulable=True), False, ["unschedulable:NoSchedule"]),
        (_with("False"), False, ["not-ready:NoSchedule"]),
        (_with("Unknown"), True, ["unreachable:NoSchedule", "unreachable:NoExecute"]),
        (_with("True", taints=[{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]), False, []),
    ],
    ids=["ready", "cordoned", "not ready", "lost", "back"],
)
def test_given_a_node_when_its_taints_are_judged_then_they_say_what_it_is(
    node: Json, no_execute: bool, keys: list[str]
) -> None:
    found = [
        f"{one['key'].removeprefix('node.kubernetes.io/')}:{one['effect']}"
        for one in wanted_taints(node, no_execute=no_execute)
    ]

    assert found == keys


def test_given_a_persons_taint_when_taints_are_judged_then_it_stays_as_it_is() -> None:
    own = {"key": "gpu", "value": "x", "effect": "NoSchedule", "timeAdded": "t"}

    assert wanted_taints(_with("True", taints=[own]), no_execute=False) == [own]


NO_EXECUTE = {"key": "maint", "effect": "NoExecute"}
UNREACHABLE = {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}


@pytest.mark.parametrize(
    ("tolerations", "taint", "seconds"),
    [
        ([], NO_EXECUTE, 0.0),
        ([{"operator": "Exists"}], NO_EXECUTE, None),
        ([{"key": "maint", "operator": "Exists", "tolerationSeconds": 4}], NO_EXECUTE, 4.0),
        ([], UNREACHABLE, 300.0),
        ([], {"key": "maint", "effect": "NoSchedule"}, None),
    ],
)
def test_given_a_taint_when_a_pod_endures_it_then_as_long_as_it_says(
    tolerations: list[Json], taint: Json, seconds: float | None
) -> None:
    assert endures({"spec": {"tolerations": tolerations}}, [taint]) == seconds


def test_given_a_gpu_node_when_features_are_told_then_the_pci_label_is_among_them() -> None:
    labels = system_labels(_manifest())

    assert labels["feature.node.kubernetes.io/pci-10de.present"] == "true"
    assert labels["feature.node.kubernetes.io/system-os_release.VERSION_ID"] == "24.04"
    assert "feature.node.kubernetes.io/pci-10de.present" not in system_labels(_manifest(), blind=True)


def test_given_a_working_driver_when_gpus_are_told_then_product_and_versions_are_there() -> None:
    labels = gpu_labels(_manifest(), "595.91.07")

    assert labels["nvidia.com/gpu.product"] == "NVIDIA-L4"
    assert labels["nvidia.com/cuda.driver-version.full"] == "595.91.07"
    assert labels["nvidia.com/gpu.memory"] == "23034"


@pytest.mark.parametrize(
    ("pattern", "hit"), [("10.240.0.64", True), ("1.36*", True), ("*-000001e4", True), ("def*", True), ("1.35*", False)]
)
def test_given_an_affliction_when_nodes_are_named_by_pattern_then_name_id_version_and_pool_count(
    pattern: str, hit: bool
) -> None:
    afflictions = Afflictions()
    afflictions.add("allocatable", node=pattern, number=0)

    assert (afflictions.on_node(Kind.ALLOCATABLE, _manifest()) is not None) == hit


def test_given_a_wrong_affliction_when_it_is_put_on_then_the_known_ones_are_named() -> None:
    afflictions = Afflictions()

    with pytest.raises(ValueError, match="known: image-pull"):
        afflictions.add("flood")
    with pytest.raises(ValueError, match="unknown: nodes"):
        afflictions.add("image-pull", nodes="*")
    assert afflictions.as_json() == []
