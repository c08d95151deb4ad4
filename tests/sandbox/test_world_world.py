"""The whole pretend world: it comes up seeded, its parts reach each other, it goes down without a trace."""

import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml

from sandbox.endpoints import NAME, read
from sandbox.scenario import load
from sandbox.world import World
from tests.sandbox.iks_bench import GRANT, until

SPEED = 200.0
OLD = "test-d8397vk20kb65iocenn0-btspstggput-default-000001e4"


@asynccontextmanager
async def running(
    folder: Path, scenario: str = "guide-example-2", binaries: Path | None = None
) -> AsyncIterator[World]:
    world = World(load(scenario, SPEED), folder, binaries=binaries)
    try:
        await world.start(redis="redis://127.0.0.1:1/0")
        yield world
        assert world.background.failures == []
        assert world.cloud.background.failures == []
    finally:
        await world.aclose()


class Customer:
    """Somebody with an API key, as the bot is one."""

    def __init__(self, world: World, session: aiohttp.ClientSession) -> None:
        self._world = world
        self._session = session
        self._token = ""

    async def login(self) -> None:
        form = {"grant_type": GRANT, "apikey": self._world.endpoints.credentials["iam_api_key"]}
        async with self._session.post(f"{self._world.endpoints.iam}/identity/token", data=form) as answer:
            self._token = (await answer.json())["access_token"]

    async def iks(self, method: str, path: str, body: Any = None) -> tuple[int, str]:
        headers = {"Authorization": f"Bearer {self._token}"}
        url = self._world.endpoints.iks + path
        async with self._session.request(method, url, json=body, headers=headers) as answer:
            return answer.status, await answer.text()

    async def kubernetes(self, path: str) -> tuple[int, Any]:
        """Read from the API server with a kubeconfig of IKS's."""
        body = {"cluster": "gpu-multi", "format": "yaml", "admin": False}
        config = yaml.safe_load((await self.iks("POST", "/v2/applyRBACAndGetKubeconfig", body))[1])
        server = config["clusters"][0]["cluster"]
        trust = ssl.create_default_context(cadata=_decoded(server["certificate-authority-data"]))
        token = config["users"][0]["user"]["auth-provider"]["config"]["id-token"]
        headers = {"Authorization": f"Bearer {token}"}
        async with self._session.get(server["server"] + path, headers=headers, ssl=trust) as answer:
            return answer.status, await answer.json()


def _decoded(text: str) -> str:
    import base64

    return base64.b64decode(text).decode()


@asynccontextmanager
async def customer(world: World) -> AsyncIterator[Customer]:
    async with aiohttp.ClientSession() as session:
        made = Customer(world, session)
        await made.login()
        yield made


async def test_given_a_scenario_when_up_then_nodes_are_ready_and_workloads_run(tmp_path: Path) -> None:
    async with running(tmp_path) as world, customer(world) as somebody:
        nodes = (await somebody.kubernetes("/api/v1/nodes"))[1]["items"]
        pods = (await somebody.kubernetes("/api/v1/namespaces/default/pods"))[1]["items"]
        written = json.loads((tmp_path / NAME).read_text())
        found = read(tmp_path)
    gone = not (tmp_path / NAME).exists()

    assert [node["metadata"]["name"] for node in nodes] == ["10.240.0.64", "10.240.0.66"]
    assert [node["status"]["allocatable"]["nvidia.com/gpu"] for node in nodes] == ["1", "1"]
    assert [pod["status"]["phase"] for pod in pods] == ["Running", "Running"]
    assert {pod["spec"]["nodeName"] for pod in pods} == {"10.240.0.64", "10.240.0.66"}
    assert (found.as_json(), gone) == (written, True)


async def test_given_a_replacement_when_over_then_the_node_is_another(tmp_path: Path) -> None:
    async with running(tmp_path) as world, customer(world) as somebody:
        master = world.cloud.clusters["d84b2k7f0s3vq9h6m1r0"].master
        await somebody.iks("POST", "/v2/updateMaster", {"cluster": "gpu-multi", "version": "1.36.0"})
        await until(lambda: master.version == "1.36.0_1506")
        version = (await somebody.kubernetes("/version"))[1]["gitVersion"]
        order = {"cluster": "gpu-multi", "workerID": OLD, "update": True}
        accepted = await somebody.iks("POST", "/v2/vpc/replaceWorker", order)
        await until(lambda: ("worker.normal", OLD[:-8] + "00000371") in _world_notes(world))
        nodes = {node["metadata"]["name"]: node for node in (await somebody.kubernetes("/api/v1/nodes"))[1]["items"]}

    new = nodes["10.240.0.72"]
    assert (accepted, version, sorted(nodes)) == ((204, ""), "v1.36.0+IKS", ["10.240.0.66", "10.240.0.72"])
    assert new["metadata"]["labels"]["ibm-cloud.kubernetes.io/worker-version"] == "1.36.0_1507"
    assert new["status"]["nodeInfo"]["kubeletVersion"] == "v1.36.0+IKS"
    assert "nvidia.com/gpu" not in new["status"]["allocatable"]


def _world_notes(world: World) -> list[tuple[str, str]]:
    return [(entry.verb, entry.target) for entry in world.journal.entries() if entry.system == "world"]


async def test_given_an_endpoint_that_moves_when_the_master_is_updated_then_old_kubeconfigs_fail(
    tmp_path: Path,
) -> None:
    async with running(tmp_path) as world, customer(world) as somebody:
        world.cloud.knobs.turn("endpoint_moves", True)
        master = world.cloud.clusters["d84b2k7f0s3vq9h6m1r0"].master
        old = world.sides["gpu-multi"].url
        await somebody.iks("POST", "/v2/updateMaster", {"cluster": "gpu-multi", "version": "1.36.0"})
        await until(lambda: master.version == "1.36.0_1506")
        row = json.loads((await somebody.iks("GET", "/v2/getCluster?cluster=gpu-multi"))[1])
        fresh = await somebody.kubernetes("/version")
        with pytest.raises(aiohttp.ClientConnectorError):
            async with aiohttp.ClientSession() as session:
                await session.get(f"{old}/version", ssl=False)

    assert (fresh[1]["gitVersion"], row["masterURL"] == old) == ("v1.36.0+IKS", False)


async def test_given_pool_labels_and_taints_when_set_then_the_nodes_have_them(tmp_path: Path) -> None:
    async with running(tmp_path) as world, customer(world) as somebody:
        place = {"cluster": "gpu-multi", "workerpool": "default"}
        await somebody.iks("POST", "/v2/setWorkerPoolLabels", {**place, "labels": {"team": "vision"}})
        await somebody.iks("POST", "/v2/setWorkerPoolTaints", {**place, "taints": {"gpu": "only:NoSchedule"}})
        node: dict[str, Any] = {}
        while "team" not in node.get("metadata", {}).get("labels", {}) or not node["spec"].get("taints"):
            node = (await somebody.kubernetes("/api/v1/nodes/10.240.0.64"))[1]

    assert node["metadata"]["labels"]["team"] == "vision"
    assert node["spec"]["taints"] == [{"key": "gpu", "value": "only", "effect": "NoSchedule"}]


async def test_given_the_control_server_when_asked_then_it_tells_and_spoils(tmp_path: Path) -> None:
    async with running(tmp_path) as world, customer(world) as somebody, aiohttp.ClientSession() as session:
        door = world.endpoints.control

        async def ask(method: str, path: str, body: Any = None) -> tuple[int, Any]:
            async with session.request(method, door + path, json=body) as answer:
                return answer.status, await answer.json()

        fault = await ask("POST", "/faults", {"system": "iks", "path": "getClusters", "status": 502, "body": "<html>"})
        spoiled = await somebody.iks("GET", "/v2/vpc/getClusters")
        healthy = await somebody.iks("GET", "/v2/vpc/getClusters")
        wrong = await ask("POST", "/faults", {"colour": "red"})
        knob = await ask("POST", "/knobs", {"name": "visible_lag", "value": 2})
        no_knob = await ask("POST", "/knobs", {"name": "gravity"})
        stranger = await ask("POST", "/acts/resize", {"cluster": "gpu-multi", "pool": "default", "size": 3})
        journal = (await ask("GET", "/journal?since=0&system=iks"))[1]
        affliction = await ask("POST", "/afflictions", {"cluster": "gpu-multi", "kind": "image-pull", "node": "*"})
        health = await ask("GET", "/healthz")

    assert (fault[0], spoiled, healthy[0]) == (201, (502, "<html>"), 200)
    assert (wrong[0], no_knob[0], knob[1]["visible_lag"]) == (400, 400, 2.0)
    assert "known" in no_knob[1]["error"]
    assert (stranger[0], journal[-1]["verb"], journal[-1]["actor"]) == (200, "resizeWorkerPool", "IBMid-660001STRANGER")
    assert [row["kind"] for row in affliction[1]["gpu-multi"]] == ["image-pull"]
    assert health == (200, {"ok": True, "failures": []})


async def test_given_objects_the_server_does_not_know_when_up_then_the_kind_is_named(tmp_path: Path) -> None:
    scenario = tmp_path / "odd.yaml"
    text = yaml.safe_load((Path("sandbox/scenarios") / "guide-example-1.yaml").read_text())
    text["clusters"][0]["objects"] = [{"apiVersion": "v1", "kind": "Unicorn", "metadata": {"name": "x"}}]
    scenario.write_text(yaml.safe_dump(text))

    with pytest.raises(RuntimeError, match="knows no Unicorn in v1"):
        async with running(tmp_path / "dir", str(scenario)):
            pass
