"""The controllers while the API server is away, refuses their tokens, or a part of them crashes; misfortunes at run time."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from sandbox.controllers import run
from sandbox.controllers.afflictions import Afflictions
from sandbox.controllers.desk import Desk
from sandbox.scenario import load
from tests.sandbox.controllers_world import NODES, PODS, Inside, inside, until

Json = dict[str, Any]

NODE, CURRENT, OLD = "10.240.0.72", "1.36.0_1507", "1.35.4_1528"


async def _running(cluster: Inside, count: int) -> bool:
    placed = await cluster.placed()
    return [phase for _, phase in placed] == ["Running"] * count


async def test_given_an_outage_when_it_is_over_then_the_controllers_go_on(tmp_path: Path) -> None:
    async with inside(tmp_path) as cluster:
        await cluster.node(NODE, OLD)
        await cluster.deployment("one", 1, gpus=0)
        await until(lambda: _running(cluster, 1), "the first pod runs")

        await cluster.server.outage(0.5)
        await cluster.deployment("two", 1, gpus=0)

        await until(lambda: _running(cluster, 2), "the second pod runs")


async def test_given_refused_tokens_when_new_ones_are_issued_then_the_controllers_go_on(tmp_path: Path) -> None:
    async with inside(tmp_path) as cluster:
        await cluster.node(NODE, OLD)
        await until(lambda: _is_ready(cluster), "the node is Ready")

        cluster.revoke_controllers()
        await cluster.deployment("one", 1, gpus=0)

        await until(lambda: _running(cluster, 1), "the pod runs")


async def _is_ready(cluster: Inside) -> bool:
    node = await cluster.api.get(f"{NODES}/{NODE}")
    rows = {row["type"]: row["status"] for row in node["status"].get("conditions") or ()}
    return rows.get("Ready") == "True" and not node["spec"].get("taints")


class _Flaky:
    """A part that crashes at its first look."""

    built = 0
    looked = 0

    def __init__(self, _: Desk) -> None:
        _Flaky.built += 1

    async def reconcile(self) -> float | None:
        _Flaky.looked += 1
        if _Flaky.looked == 1:
            raise RuntimeError("boom")
        return None


async def test_given_a_part_that_crashes_when_time_passes_then_it_is_reported_and_built_anew(
    capsys: pytest.CaptureFixture[str],
) -> None:
    team = run._Team("system:test", {"flaky": _Flaky}, load("guide-example-1"), Afflictions())
    work = asyncio.create_task(team.run("http://127.0.0.1:1", lambda *_: "t", None))

    await until(_looked_twice, "it looks again")
    work.cancel()
    await asyncio.wait([work])

    assert _Flaky.built == 2
    assert "flaky crashed" in capsys.readouterr().err


async def _looked_twice() -> bool:
    return _Flaky.looked >= 2


async def test_given_a_silent_kubelet_when_it_speaks_again_then_the_node_is_ready_again(tmp_path: Path) -> None:
    async with inside(tmp_path) as cluster:
        await cluster.node(NODE, OLD)
        await until(lambda: _is_ready(cluster), "the node is Ready")

        silence = cluster.afflictions.add("kubelet-silent", node=NODE)
        await until(lambda: _is_unknown(cluster), "the node is given up")
        cluster.afflictions.remove(silence.id)

        await until(lambda: _is_ready(cluster), "the node is back")


async def _is_unknown(cluster: Inside) -> bool:
    node = await cluster.api.get(f"{NODES}/{NODE}")
    rows = {row["type"]: row["status"] for row in node["status"]["conditions"]}
    return rows["Ready"] == "Unknown" and bool(node["spec"].get("taints"))


async def test_given_broken_gpus_when_they_are_repaired_then_waiting_pods_run(tmp_path: Path) -> None:
    async with inside(tmp_path) as cluster:
        broken = cluster.afflictions.add("allocatable", node="1.35*", number=0)
        await cluster.node(NODE, OLD)
        await until(lambda: _shows(cluster, "0"), "no GPU is left")
        await cluster.deployment("burn", 1)
        await until(lambda: _is_refused(cluster), "the pod waits")

        cluster.afflictions.remove(broken.id)

        await until(lambda: _running(cluster, 1), "the pod runs")


async def _shows(cluster: Inside, gpus: str) -> bool:
    node = await cluster.api.get(f"{NODES}/{NODE}")
    return bool(node["status"]["allocatable"].get("nvidia.com/gpu") == gpus)


async def _is_refused(cluster: Inside) -> bool:
    rows = [row for pod in await cluster.items(PODS) for row in pod["status"].get("conditions") or ()]
    return any("Insufficient nvidia.com/gpu" in (row.get("message") or "") for row in rows)


async def test_given_a_job_when_its_pod_has_run_then_it_is_complete(tmp_path: Path) -> None:
    async with inside(tmp_path) as cluster:
        await cluster.node(NODE, OLD)
        container = {"name": "c", "image": "registry.invalid/job:1"}
        spec: Json = {"template": {"spec": {"restartPolicy": "Never", "containers": [container]}}}
        job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": spec}
        path = "/apis/batch/v1/namespaces/default/jobs"
        await cluster.api.post(path, job)

        async def complete() -> bool:
            found = await cluster.api.get(f"{path}/j")
            return any(row["type"] == "Complete" for row in (found.get("status") or {}).get("conditions") or ())

        await until(complete, "the Job is complete")
        pods = await cluster.items(PODS)
        status = (await cluster.api.get(f"{path}/j"))["status"]

        assert [pod["status"]["phase"] for pod in pods] == ["Succeeded"]
        assert not pods[0]["metadata"].get("finalizers")
        assert status["succeeded"] == 1
