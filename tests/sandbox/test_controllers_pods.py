"""Single pods over HTTP: bound by hand, gated, preempted, evicted by taint, stuck, numbered, one per node."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.controllers_world import NODES, PODS, Inside, inside, until

Json = dict[str, Any]

NODE, OTHER, OLD = "10.240.0.64", "10.240.0.66", "1.35.4_1528"


async def _pod(cluster: Inside, name: str, *, gpus: int = 1, **spec: Any) -> None:
    resources = {"limits": {"nvidia.com/gpu": str(gpus)}} if gpus else {}
    container = {"name": "main", "image": "registry.invalid/x:1", "resources": resources}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container], **spec}}
    await cluster.api.post(PODS, body)


async def _status(cluster: Inside, name: str) -> Json:
    found = [pod for pod in await cluster.items(PODS) if pod["metadata"]["name"] == name]
    return dict(found[0]["status"]) if found else {"phase": "gone"}


def _phase(cluster: Inside, name: str, phase: str) -> Callable[[], Awaitable[bool]]:
    async def holds() -> bool:
        return (await _status(cluster, name)).get("phase") == phase

    return holds


async def _scheduled(cluster: Inside, name: str) -> Json:
    rows = (await _status(cluster, name)).get("conditions") or []
    return next((row for row in rows if row["type"] == "PodScheduled"), {})


async def test_given_a_pod_bound_by_hand_when_the_node_lacks_gpus_then_its_kubelet_refuses_it(tmp_path: Path) -> None:
    async with inside(tmp_path) as cluster:
        await cluster.node(NODE, OLD)
        await _pod(cluster, "direct", gpus=2, nodeName=NODE)

        await until(_phase(cluster, "direct", "Failed"), "the pod is refused")

        status = await _status(cluster, "direct")
        assert status["reason"] == "OutOfnvidia.com/gpu"
        assert status["message"].endswith("resource: nvidia.com/gpu, requested: 2, used: 0, capacity: 1")


async def test_given_a_gated_pod_when_the_gate_is_opened_then_it_runs(tmp_path: Path) -> None:
    async with inside(tmp_path) as cluster:
        await cluster.node(NODE, OLD)
        await _pod(cluster, "gated", schedulingGates=[{"name": "quota"}])
        await _pod(cluster, "foreign", gpus=0, schedulerName="volcano")

        async def gated() -> bool:
            return (await _scheduled(cluster, "gated")).get("reason") == "SchedulingGated"

        await until(gated, "the pod is gated")
        await cluster.api.patch(f"{PODS}/gated", {"spec": {"schedulingGates": None}})

        await until(_phase(cluster, "gated", "Running"), "the pod runs")
        assert await _scheduled(cluster, "foreign") == {}


async def test_given_a_greater_pod_when_the_only_gpu_is_taken_by_a_lesser_then_the_lesser_goes(tmp_path: Path) -> None:
    async with inside(tmp_path) as cluster:
        await cluster.node(NODE, OLD)
        await _pod(cluster, "lesser")
        await until(_phase(cluster, "lesser", "Running"), "the lesser runs")

        await _pod(cluster, "greater", priorityClassName="system-cluster-critical")

        await until(_phase(cluster, "greater", "Running"), "the greater runs")
        assert (await _status(cluster, "lesser"))["phase"] == "gone"


@pytest.mark.parametrize("tolerates", [True, False], ids=["tolerates", "does not"])
async def test_given_a_no_execute_taint_when_a_pod_does_not_tolerate_it_then_it_goes(
    tolerates: bool, tmp_path: Path
) -> None:
    async with inside(tmp_path) as cluster:
        await cluster.node(NODE, OLD)
        await _pod(cluster, "watchman", gpus=0)
        rule = {"key": "maint", "operator": "Exists"}
        await _pod(cluster, "one", gpus=0, tolerations=[rule] if tolerates else [])
        await until(_phase(cluster, "one", "Running"), "the pod runs")
        await until(_phase(cluster, "watchman", "Running"), "the other runs")

        await cluster.api.patch(f"{NODES}/{NODE}", {"spec": {"taints": [{"key": "maint", "effect": "NoExecute"}]}})
        await until(_phase(cluster, "watchman", "gone"), "the taint is acted on")
        if not tolerates:
            await until(_phase(cluster, "one", "gone"), "the pod is deleted")

        assert (await _status(cluster, "one"))["phase"] == ("Running" if tolerates else "gone")


async def test_given_a_stuck_pod_when_it_is_deleted_then_it_goes_only_when_it_is_freed(tmp_path: Path) -> None:
    async with inside(tmp_path) as cluster:
        await cluster.node(NODE, OLD)
        await _pod(cluster, "stuck", gpus=0)
        await _pod(cluster, "free", gpus=0)
        for name in ("stuck", "free"):
            await until(_phase(cluster, name, "Running"), "the pods run")
        rope = cluster.afflictions.add("stuck-terminating", pod="stuck")

        await cluster.api.delete(f"{PODS}/stuck")
        await cluster.api.delete(f"{PODS}/free")
        await until(_phase(cluster, "free", "gone"), "the free pod goes")
        held = (await _status(cluster, "stuck"))["phase"]
        cluster.afflictions.remove(rope.id)

        await until(_phase(cluster, "stuck", "gone"), "the freed pod goes")
        assert held == "Running"


async def test_given_a_stateful_set_when_a_pod_is_deleted_then_its_name_comes_back(tmp_path: Path) -> None:
    async with inside(tmp_path) as cluster:
        await cluster.node(NODE, OLD)
        template = {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        spec = {"replicas": 2, "serviceName": "db", "selector": {"matchLabels": {"app": "db"}}, "template": template}
        body = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}, "spec": spec}
        await cluster.api.post("/apis/apps/v1/namespaces/default/statefulsets", body)
        await until(_phase(cluster, "db-1", "Running"), "both pods run")
        first = (await cluster.api.get(f"{PODS}/db-0"))["metadata"]["uid"]

        await cluster.api.delete(f"{PODS}/db-0")

        async def again() -> bool:
            found = [pod for pod in await cluster.items(PODS) if pod["metadata"]["name"] == "db-0"]
            return bool(found) and found[0]["metadata"]["uid"] != first and found[0]["status"]["phase"] == "Running"

        await until(again, "db-0 is there again")


async def test_given_a_daemon_set_when_a_node_loses_the_label_then_only_that_pod_goes(tmp_path: Path) -> None:
    async with inside(tmp_path) as cluster:
        for ip in (NODE, OTHER):
            await cluster.node(ip, OLD, {"role": "gpu"})
        spec: Json = {"nodeSelector": {"role": "gpu"}, "containers": [{"name": "c", "image": "i"}]}
        template = {"metadata": {"labels": {"app": "ds"}}, "spec": spec}
        body = {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": {"name": "ds"},
            "spec": {"selector": {"matchLabels": {"app": "ds"}}, "template": template},
        }
        await cluster.api.post("/apis/apps/v1/namespaces/default/daemonsets", body)

        async def on(*names: str) -> bool:
            return await cluster.placed() == [(name, "Running") for name in names]

        await until(lambda: on(NODE, OTHER), "one pod on each node")
        await cluster.api.patch(f"{NODES}/{NODE}", {"metadata": {"labels": {"role": None}}})
        await until(lambda: on(OTHER), "the pod of the other node stays alone")
        status = (await cluster.api.get("/apis/apps/v1/namespaces/default/daemonsets/ds"))["status"]

        assert status["desiredNumberScheduled"] == 1
