"""Raw objects become the core's values; what is missing or odd reads as absent and never raises."""

import json
import tracemalloc
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.adapters.kubernetes.budgets import project_budget
from bot.adapters.kubernetes.controllers import NUMBERS, project_controller, project_daemon_set
from bot.adapters.kubernetes.gpus import GpuNames, amount
from bot.adapters.kubernetes.nodes import has_gpus, project_node
from bot.adapters.kubernetes.operator import project_policy
from bot.adapters.kubernetes.pods import SeenPod, project_pod
from bot.adapters.kubernetes.records import Records, hold
from bot.adapters.kubernetes.releases import project_revision
from bot.adapters.kubernetes.volumes import local_claim
from state.snapshot import Pod, Taint
from tests.shell.bad_servers import DATA

Json = dict[str, Any]
NAMES = GpuNames()
GPU = "nvidia.com/gpu"
FAR_FROM_JSON = st.none() | st.booleans() | st.integers() | st.text(max_size=6) | st.lists(st.integers(), max_size=2)


def bug(name: str) -> Json:
    found: Json = json.loads((DATA / "bugs" / f"{name}.json").read_text())["input"]
    return found


def pod_of(raw: Json) -> Pod:
    return project_pod(raw, NAMES).pod


def test_given_b001_when_projected_then_capacity_and_allocatable_differ() -> None:
    node = project_node(bug("B001")["node"], NAMES)

    assert (node.allocatable, node.capacity) == ({GPU: 0}, {GPU: 1})
    assert node.ready


def test_given_b003_when_projected_then_a_missing_gpu_is_no_error_and_init_containers_tell_the_stage() -> None:
    node = project_node(bug("B003")["node"], NAMES)
    pods = {pod.name: pod for pod in map(pod_of, bug("B003")["pods"])}
    toolkit = pods["nvidia-container-toolkit-daemonset-k2c4p"]

    assert node.allocatable == {}
    assert node.labels["nvidia.com/gpu.deploy.driver"] == "pre-installed"
    assert has_gpus(node)
    assert (toolkit.phase, toolkit.ready) == ("Pending", False)
    assert [(found.name, found.state) for found in toolkit.init_containers] == [("driver-validation", "running")]
    assert [(found.state, found.reason) for found in toolkit.containers] == [("waiting", "PodInitializing")]


def test_given_b009_when_projected_then_taints_and_wanted_numbers_are_there() -> None:
    node = project_node(bug("B009")["node"], NAMES)
    sets = [project_daemon_set(raw) for raw in bug("B009")["daemonsets"]]

    assert node.taints == (Taint("nvidia.com/gpu", "true", "NoSchedule"),)
    assert {(found.desired, found.ready) for found in sets} == {(0, 0)}


def test_given_b012_when_projected_then_the_third_value_of_a_label_stays_as_it_is() -> None:
    labels = project_node(bug("B012")["node"], NAMES).labels

    assert labels["nvidia.com/gpu.deploy.device-plugin"] == "paused-for-driver-upgrade"


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["deleted first", "added first"])
def test_given_b026_when_a_name_comes_back_then_it_is_another_node(order: tuple[int, int]) -> None:
    events = bug("B026")["events"]
    records: Records[str] = Records()
    project = lambda raw: project_node(raw, NAMES).worker_id  # noqa: E731
    records.replace([hold(events[0]["object"], project)], "1")
    for number in order:
        held = hold(events[number]["object"], project)
        (records.remove if events[number]["type"] == "DELETED" else records.put)(held)

    assert records.values() == ("kube-d9x7kq2w10r4ncp1a5b0-mlprodeu-gpu-0000031f",)


def test_given_b026_when_projected_then_pods_are_older_than_their_node() -> None:
    node = project_node(bug("B026")["events"][1]["object"], NAMES)

    assert all(pod_of(raw).created_at < node.created_at for raw in bug("B026")["pods_after"])


def test_given_b052_when_projected_then_the_join_is_the_worker_id() -> None:
    node = project_node(bug("B052")["nodes"][0], NAMES)

    assert node.worker_id == bug("B052")["workers"][0]["id"]
    assert node.kubelet_version == "v1.35.4+IKS"


def test_given_b028_when_projected_then_the_pending_pod_is_known_as_such() -> None:
    pod = pod_of(bug("B028")["pods"][-1])

    assert (pod.phase, pod.node_name, pod.gpus) == ("Pending", "", {GPU: 1})
    assert project_node(bug("B028")["node"], NAMES).ready_since == datetime(2026, 11, 20, 9, 14, 2, tzinfo=UTC)


def container(gpus: int | str, **more: object) -> Json:
    return {"name": "c", "resources": {"limits": {GPU: gpus}}, **more}


@pytest.mark.parametrize(
    ("spec", "asked"),
    [
        ({"containers": [container(1), container("2")]}, {GPU: 3}),
        ({"containers": [container(1)], "initContainers": [container(4)]}, {GPU: 4}),
        ({"containers": [container(3)], "initContainers": [container(2), container(1)]}, {GPU: 3}),
        ({"containers": [container(1)], "initContainers": [container(1, restartPolicy="Always")]}, {GPU: 2}),
        (
            {"containers": [container(1)], "initContainers": [container(1, restartPolicy="Always"), container(3)]},
            {GPU: 4},
        ),
        (
            {"containers": [container(1)], "initContainers": [container(3), container(1, restartPolicy="Always")]},
            {GPU: 3},
        ),
        (
            {"containers": [{"resources": {"requests": {"nvidia.com/mig-1g.10gb": "2", "cpu": "4"}}}]},
            {"nvidia.com/mig-1g.10gb": 2},
        ),
        ({"containers": [{"resources": {"requests": {"nvidia.com/gpu.shared": "1"}}}]}, {"nvidia.com/gpu.shared": 1}),
        ({"containers": [container(0)]}, {}),
        ({"containers": [{"resources": None}, {"resources": {"limits": None}}]}, {}),
        ({"containers": None}, {}),
        ({}, {}),
    ],
)
def test_given_containers_when_counted_then_it_is_as_the_scheduler_counts(spec: Json, asked: Json) -> None:
    assert NAMES.asked(spec) == asked


def test_given_a_renamed_resource_when_configured_then_it_counts() -> None:
    spec = {"containers": [{"resources": {"limits": {"example.com/tesla": "1", "nvidia.com/other": "1"}}}]}

    assert GpuNames(["example.com/tesla"]).asked(spec) == {"example.com/tesla": 1}


@pytest.mark.parametrize(
    ("value", "number"),
    [("8", 8), (8, 8), ("2k", 2000), ("", 0), ("-1", 0), ("1.5", 0), (None, 0), (True, 0), ("²", 0)],
)
def test_given_a_quantity_when_read_then_it_is_whole_devices_or_none(value: object, number: int) -> None:
    assert amount(value) == number


def test_given_a_pod_that_is_being_deleted_when_projected_then_it_is_told_since_when() -> None:
    raw = {"metadata": {"deletionTimestamp": "2026-11-20T10:01:00Z", "deletionGracePeriodSeconds": 60}}

    assert pod_of(raw).deleting_since == datetime(2026, 11, 20, 10, 0, tzinfo=UTC)


def test_given_volumes_when_projected_then_what_would_be_lost_or_cannot_move_is_named() -> None:
    volumes = [
        {"name": "scratch", "emptyDir": {}},
        {"name": "shm", "emptyDir": {"medium": "Memory"}},
        {"name": "disk", "hostPath": {"path": "/data"}},
        {"name": "claim", "persistentVolumeClaim": {"claimName": "local-1"}},
        {"name": "gone", "emptyDir": None},
        {"name": "fleeting", "ephemeral": {"volumeClaimTemplate": {}}},
    ]
    seen = project_pod({"metadata": {"name": "p"}, "spec": {"volumes": volumes}}, NAMES)

    assert (seen.pod.empty_dir, seen.pod.host_local) == (("scratch",), ("disk",))
    assert seen.claims == ("local-1", "p-fleeting")
    assert local_claim({"spec": {"local": {}, "claimRef": {"namespace": "a", "name": "local-1"}}}) == "a/local-1"
    assert local_claim({"spec": {"csi": {}, "claimRef": {"namespace": "a", "name": "x"}}}) is None


def test_given_conditions_when_projected_then_why_a_pod_waits_is_told() -> None:
    scheduled = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes" * 99}
    pod = pod_of(
        {"metadata": {"annotations": {"kubernetes.io/config.mirror": "x"}}, "status": {"conditions": [scheduled]}}
    )

    assert (pod.scheduled_reason, pod.mirror) == ("Unschedulable", True)
    assert len(pod.scheduled_message) == 300


def test_given_signs_of_a_gpu_when_judged_then_each_one_counts() -> None:
    def labelled(**labels: str) -> bool:
        return has_gpus(
            project_node({"metadata": {"labels": {k.replace("__", "/"): v for k, v in labels.items()}}}, NAMES)
        )

    assert has_gpus(project_node({"metadata": {"labels": {"node.kubernetes.io/instance-type": "gx3.16x80.l4"}}}, NAMES))
    assert has_gpus(project_node({"metadata": {"labels": {"ibm-cloud.kubernetes.io/gpu-enabled": "true"}}}, NAMES))
    assert has_gpus(project_node({"status": {"capacity": {GPU: "0"}}}, NAMES))
    assert not has_gpus(project_node({"metadata": {"labels": {"node.kubernetes.io/instance-type": "bx2.4x16"}}}, NAMES))
    assert not labelled(x="y")


SHAPES = ("metadata", "spec", "status", "labels", "conditions", "containers", "template", "ownerReferences", "selector")


@settings(max_examples=150, deadline=None)
@given(
    st.recursive(
        FAR_FROM_JSON,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(SHAPES), inner, max_size=4),
        max_leaves=12,
    ).map(lambda value: value if isinstance(value, dict) else {"metadata": value, "spec": value, "status": value})
)
def test_given_any_json_when_projected_then_nothing_is_raised(raw: Json) -> None:
    project_node(raw, NAMES)
    project_pod(raw, NAMES)
    project_budget(raw)
    project_daemon_set(raw)
    project_policy(raw)
    project_revision(raw)
    local_claim(raw)
    for kind in NUMBERS:
        project_controller(kind, raw, NAMES)


def test_given_thousands_of_pods_when_kept_then_each_takes_little_memory() -> None:
    raw = bug("B001")["pods"][0]
    raw["spec"]["tolerations"] = [{"key": f"k{n}", "operator": "Exists", "effect": "NoExecute"} for n in range(5)]
    texts = [json.dumps(raw).replace("x07q", f"x{number:05d}") for number in range(1000)]
    records: Records[SeenPod] = Records()
    tracemalloc.start()
    records.replace([hold(json.loads(text), project) for text in texts], "1")
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()

    assert len(records) == 1000
    assert used / 1000 <= 2048


def project(raw: Mapping[str, Any]) -> SeenPod:
    return project_pod(raw, NAMES)
