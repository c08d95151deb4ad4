"""What a new driver version does to nodes that already run the operator's driver."""

from pathlib import Path
from typing import Any

import pytest

from sandbox.controllers.driver_upgrade import STATE, Patient, slots, uses_gpu
from tests.sandbox.controllers_world import NODES, OPERATOR_PODS, PODS, Inside, inside, until

Json = dict[str, Any]

NEW, CURRENT = "10.240.0.72", "1.36.0_1507"
POLICY = "/apis/nvidia.com/v1/clusterpolicies/cluster-policy"


def _patient(state: str, *, cordoned: bool = False) -> Patient:
    rows = [{"type": "Ready", "status": "True"}]
    meta = {"name": "n", "labels": {STATE: state}}
    node = {"metadata": meta, "spec": {"unschedulable": cordoned}, "status": {"conditions": rows}}
    return Patient(node, {}, outdated=True, here=())


@pytest.mark.parametrize(
    ("states", "cordoned", "rules", "free"),
    [
        (["upgrade-required"] * 4, 0, {}, 1),
        (["cordon-required", *["upgrade-required"] * 3], 0, {}, 0),
        (["upgrade-required"] * 4, 1, {}, 0),
        (["upgrade-required"] * 4, 0, {"maxParallelUpgrades": 0, "maxUnavailable": "50%"}, 2),
        (["upgrade-required"] * 4, 0, {"autoUpgrade": False}, 0),
    ],
    ids=["one", "busy", "one is away", "as many as may be away", "switched off"],
)
def test_given_nodes_to_upgrade_when_slots_are_counted_then_both_limits_hold(
    states: list[str], cordoned: int, rules: Json, free: int
) -> None:
    patients = [_patient(state, cordoned=number < cordoned) for number, state in enumerate(states)]
    policy = {"spec": {"driver": {"upgradePolicy": {"maxUnavailable": "25%", **rules}}}}

    assert slots(patients, policy) == free


@pytest.mark.parametrize(
    ("name", "counts"), [("nvidia.com/gpu", True), ("nvidia.com/mig-1g.10gb", True), ("cpu", False)]
)
def test_given_a_pod_when_its_requests_are_read_then_gpus_and_slices_count(name: str, counts: bool) -> None:
    container = {"name": "c", "resources": {"limits": {name: "1"}}}

    assert uses_gpu({"spec": {"containers": [container]}}) == counts


async def _settled(cluster: Inside, version: str) -> bool:
    """The workload runs, on a node that is open, upgraded and runs this driver."""
    node = await cluster.api.get(f"{NODES}/{NEW}")
    drivers = [pod for pod in await cluster.items(OPERATOR_PODS) if "driver-daemonset" in pod["metadata"]["name"]]
    images = [pod["spec"]["containers"][0]["image"] for pod in drivers]
    done = node["metadata"]["labels"].get(STATE) == "upgrade-done" and not node["spec"].get("unschedulable")
    running = await cluster.placed() == [(NEW, "Running")]
    return running and done and images == [f"nvcr.io/nvidia/driver:{version}-ubuntu24.04"]


async def test_given_a_new_driver_version_when_the_operator_sees_it_then_it_empties_the_node_and_restarts_the_driver(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as cluster:
        await cluster.node(NEW, CURRENT)
        await cluster.deployment("gpu-burn", 1)
        await cluster.install()
        await until(lambda: _settled(cluster, "595.91.07"), "the workload runs on the operator's driver")
        first = (await cluster.items(PODS))[0]["metadata"]["name"]

        await cluster.api.patch(POLICY, {"spec": {"driver": {"version": "595.99.01"}}})
        await until(lambda: _settled(cluster, "595.99.01"), "the workload runs on the new driver")

        entries = [entry for entry in cluster.journal.entries() if entry.actor == "gpu-operator"]
        states = [entry.request["body"]["metadata"]["labels"][STATE] for entry in entries if _tells(entry.request)]
        assert states[-8:] == [
            "upgrade-required",
            "cordon-required",
            "wait-for-jobs-required",
            "pod-deletion-required",
            "pod-restart-required",
            "validation-required",
            "uncordon-required",
            "upgrade-done",
        ]
        assert [entry.target for entry in entries if entry.verb.startswith("evict")] == [f"default/{first}"]


def _tells(request: Json) -> bool:
    body = request.get("body")
    metadata = body.get("metadata") if isinstance(body, dict) else None
    return isinstance(metadata, dict) and STATE in (metadata.get("labels") or {})
