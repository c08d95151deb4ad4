"""The whole inside of a cluster over HTTP: GPU Operator by real helm, evictions, budgets, lost nodes."""

from pathlib import Path
from typing import Any

import pytest

from sandbox.controllers.nodes import lost_status
from sandbox.kubernetes_client import STRATEGIC_PATCH, ApiError
from tests.sandbox.controllers_world import NODES, OPERATOR_PODS, OPT_OUT, PODS, Inside, inside, until

Json = dict[str, Any]

OLD_ONE, OLD_TWO, NEW = "10.240.0.64", "10.240.0.66", "10.240.0.72"
OLD, CURRENT = "1.35.4_1528", "1.36.0_1507"
POLICY = "/apis/nvidia.com/v1/clusterpolicies/cluster-policy"


def _operands(pods: list[Json]) -> set[str]:
    """Apps of operand pods."""
    apps = {pod["metadata"]["labels"].get("app", "") for pod in pods}
    return {app for app in apps if app.startswith("nvidia-") or app == "gpu-feature-discovery"}


async def _all_running(cluster: Inside, path: str, count: int) -> bool:
    placed = await cluster.placed(path)
    return len(placed) == count and all(phase == "Running" for _, phase in placed)


async def _gpus(cluster: Inside, ip: str) -> str:
    node = await cluster.api.get(f"{NODES}/{ip}")
    return str(node["status"]["allocatable"].get("nvidia.com/gpu", ""))


async def test_given_opted_out_nodes_when_the_operator_comes_then_operands_run_on_the_new_node_alone(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as cluster:
        await cluster.node(OLD_ONE, OLD, OPT_OUT)
        await cluster.node(OLD_TWO, OLD, OPT_OUT)
        await cluster.deployment("gpu-burn", 2)
        await until(lambda: _all_running(cluster, PODS, 2), "the workload runs on IBM's driver")

        await cluster.install()
        await until(lambda: _judged(cluster, OLD_ONE), "the operator has judged the old nodes")

        assert await _all_running(cluster, OPERATOR_PODS, 5)
        assert _operands(await cluster.items(OPERATOR_PODS)) == set()
        old = await cluster.labels(OLD_ONE)
        assert old["nvidia.com/gpu.deploy.operands"] == "false"
        assert not [key for key, value in old.items() if key.startswith("nvidia.com/gpu.deploy.") and value == "true"]

        await cluster.node(NEW, CURRENT)
        await cluster.api.patch("/apis/apps/v1/namespaces/default/deployments/gpu-burn", {"spec": {"replicas": 3}})
        await until(lambda: _all_running(cluster, PODS, 3), "the third pod runs on the new node")
        await until(lambda: _validated(cluster), "the operands are all well")

        order = [key.removeprefix(f"{NEW}/nvidia-") for key in cluster.readies if key.startswith(f"{NEW}/nvidia-")]
        assert order[:2] == ["driver-daemonset", "container-toolkit-daemonset"]
        assert order.index("device-plugin-daemonset") < order.index("operator-validator")
        assert {pod["spec"]["nodeName"] for pod in await _operand_pods(cluster)} == {NEW}
        assert await _gpus(cluster, NEW) == "1"
        assert (await cluster.labels(NEW))["nvidia.com/gpu.product"] == "NVIDIA-L4"

        await cluster.helm("uninstall", "gpu-operator", "-n", "gpu-operator", "--timeout", "80s")
        await until(lambda: _none(cluster, OPERATOR_PODS), "the operands go with the release")
        await until(lambda: _pruned(cluster), "NFD's labels go, too")
        assert (await cluster.labels(NEW))["nvidia.com/gpu.deploy.driver"] == "true"
        assert await _gpus(cluster, NEW) == "0"
        assert await _gpus(cluster, OLD_ONE) == "1"


async def _judged(cluster: Inside, ip: str) -> bool:
    labels = await cluster.labels(ip)
    return labels.get("nvidia.com/gpu.present") == "true" and "nvidia.com/gpu.deploy.driver" not in labels


async def _operand_pods(cluster: Inside) -> list[Json]:
    return [pod for pod in await cluster.items(OPERATOR_PODS) if _operands([pod])]


async def _validated(cluster: Inside) -> bool:
    status = (await cluster.api.get(POLICY)).get("status", {})
    rows = {row["type"]: row["status"] for row in status.get("conditions", ())}
    product = "nvidia.com/gpu.product" in await cluster.labels(NEW)
    return status.get("state") == "ready" and rows == {"Ready": "True", "Error": "False"} and product


async def _pruned(cluster: Inside) -> bool:
    return not [key for key in await cluster.labels(NEW) if key.startswith("feature.node.kubernetes.io/")]


async def _none(cluster: Inside, path: str) -> bool:
    return not await cluster.items(path)


async def test_given_a_1_35_node_without_labels_when_the_operator_comes_then_the_driver_alone_stays_away(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as cluster:
        await cluster.node(OLD_ONE, OLD)

        await cluster.install()
        await until(lambda: _collides(cluster), "IBM's driver is found and the other operands run")

        assert await _gpus(cluster, OLD_ONE) == "1"


async def _collides(cluster: Inside) -> bool:
    marked = (await cluster.labels(OLD_ONE)).get("nvidia.com/gpu.deploy.driver") == "pre-installed"
    apps = _operands(await cluster.items(OPERATOR_PODS))
    return marked and "nvidia-driver-daemonset" not in apps and "nvidia-device-plugin-daemonset" in apps


async def test_given_a_cordoned_node_when_pods_are_evicted_then_they_move_and_the_budget_is_kept(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as cluster:
        for ip in (OLD_ONE, OLD_TWO):
            await cluster.node(ip, OLD)
        await cluster.deployment("web", 2, gpus=0)
        await until(lambda: _all_running(cluster, PODS, 2), "both pods run")
        spec = {"minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}}
        budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web"}, "spec": spec}
        await cluster.api.post("/apis/policy/v1/namespaces/default/poddisruptionbudgets", budget)
        await until(lambda: _budget_is(cluster, 0), "the budget allows nothing")
        await cluster.api.patch(f"{NODES}/{OLD_ONE}", {"spec": {"unschedulable": True}})
        pod = next(one for one in await cluster.items(PODS) if one["spec"]["nodeName"] == OLD_ONE)

        with pytest.raises(ApiError) as refused:
            await _evict(cluster, pod)
        await cluster.api.patch(
            "/apis/policy/v1/namespaces/default/poddisruptionbudgets/web", {"spec": {"minAvailable": 1}}
        )
        await until(lambda: _budget_is(cluster, 1), "the budget allows one")
        await _evict(cluster, pod)
        await until(lambda: _settled_on(cluster, OLD_TWO), "both pods run on the other node")

        assert refused.value.status == 429
        assert refused.value.body["details"]["causes"][0]["reason"] == "DisruptionBudget"


async def _evict(cluster: Inside, pod: Json) -> None:
    meta = {"name": pod["metadata"]["name"], "namespace": "default"}
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": meta}
    await cluster.api.post(f"{PODS}/{meta['name']}/eviction", body)


async def _budget_is(cluster: Inside, allowed: int) -> bool:
    budget = await cluster.api.get("/apis/policy/v1/namespaces/default/poddisruptionbudgets/web")
    status = budget.get("status") or {}
    current = status.get("observedGeneration") == budget["metadata"]["generation"]
    return current and status.get("disruptionsAllowed") == allowed


async def _settled_on(cluster: Inside, ip: str) -> bool:
    return await cluster.placed() == [(ip, "Running"), (ip, "Running")]


async def test_given_a_lost_node_when_its_object_goes_then_its_pods_are_collected_and_replaced(tmp_path: Path) -> None:
    async with inside(tmp_path) as cluster:
        await cluster.node(OLD_ONE, OLD)
        await cluster.deployment("web", 1, gpus=0)
        await until(lambda: _all_running(cluster, PODS, 1), "the pod runs")
        first = (await cluster.items(PODS))[0]
        await cluster.node(OLD_TWO, OLD)

        await cluster.api.patch(f"{NODES}/{OLD_ONE}/status", lost_status(), STRATEGIC_PATCH)
        await until(lambda: _tainted(cluster), "the lost node is tainted")
        await cluster.api.delete(f"{NODES}/{OLD_ONE}")
        await until(lambda: _moved(cluster, first), "the pod runs elsewhere")

        actors = {entry.actor for entry in cluster.journal.entries() if entry.verb.startswith("delete pods")}
        assert actors == {"system:controller"}


async def _tainted(cluster: Inside) -> bool:
    node = await cluster.api.get(f"{NODES}/{OLD_ONE}")
    keys = [taint["key"] for taint in node["spec"].get("taints") or ()]
    return "node.kubernetes.io/unreachable" in keys


async def _moved(cluster: Inside, first: Json) -> bool:
    pods = await cluster.items(PODS)
    gone = first["metadata"]["uid"] not in {pod["metadata"]["uid"] for pod in pods}
    return gone and await cluster.placed() == [(OLD_TWO, "Running")]
