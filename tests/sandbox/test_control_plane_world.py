"""The world with its cluster on a real control plane: it comes up, its tokens end, its master is updated, pods move."""

import asyncio
import os
import ssl
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from sandbox import processes
from sandbox.control_plane import PLANES
from sandbox.iks.ports import Access
from sandbox.kubernetes_client import Api, ApiError
from sandbox.world import World
from tests.sandbox.control_plane import assets
from tests.sandbox.iks_bench import until
from tests.sandbox.kubernetes_scene import tool
from tests.sandbox.test_world_world import customer, running

pytestmark = pytest.mark.control_plane

CLUSTER = "gpu-multi"
PODS = "/api/v1/namespaces/default/pods"


@pytest_asyncio.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with running(tmp_path, binaries=assets()) as opened:
        yield opened


def user(access: Access) -> Api:
    return Api(access.url, access.token, ssl.create_default_context(cadata=access.ca), agent="test")


async def status_of(api: Api, path: str) -> int:
    """The HTTP status of a read."""
    try:
        await api.get(path)
    except ApiError as refused:
        return refused.status
    return 200


async def test_given_a_kubeconfig_of_iks_when_used_then_rbac_gives_what_ibm_gives(world: World) -> None:
    async with customer(world) as somebody:
        answers = [
            await somebody.kubernetes(path) for path in ("/version", "/api/v1/nodes", "/apis/apps/v1/deployments")
        ]

    assert [status for status, _ in answers] == [200, 200, 200]
    assert answers[0][1]["gitVersion"] == "v1.35.4+IKS"
    assert [node["metadata"]["name"] for node in answers[1][1]["items"]] == ["10.240.0.64", "10.240.0.66"]


async def test_given_a_token_whose_time_is_over_when_used_then_the_real_server_refuses_it(world: World) -> None:
    api = user(world.sides[CLUSTER].access("IAM#IBMid-1", 3.0, admin=False))
    try:
        first, deadline = await status_of(api, PODS), time.monotonic() + 30.0  # the server remembers tokens for 10 s
        while await status_of(api, PODS) != 401 and time.monotonic() < deadline:
            await asyncio.sleep(0.2)
        last = await status_of(api, PODS)
    finally:
        await api.aclose()

    assert (first, last) == (200, 401)


async def test_given_a_master_update_when_done_then_watches_broke_and_the_version_is_new(world: World) -> None:
    api, broke = user(world.sides[CLUSTER].access("IAM#IBMid-1", 600.0, admin=False)), asyncio.Event()

    async def watch() -> None:
        try:
            async for _ in api.watch(PODS):
                pass
        except ApiError:
            broke.set()

    watching = asyncio.create_task(watch())
    try:
        async with customer(world) as somebody:
            master = next(one for one in world.cloud.clusters.values() if one.name == CLUSTER).master
            await somebody.iks("POST", "/v2/updateMaster", {"cluster": CLUSTER, "version": "1.36.0"})
            await until(lambda: master.version == "1.36.0_1506")
            version = (await somebody.kubernetes("/version"))[1]
        async with asyncio.timeout(10):
            await broke.wait()
    finally:
        watching.cancel()
        await asyncio.wait([watching])
        await api.aclose()

    assert (version["gitVersion"], version["minor"]) == ("v1.36.0+IKS", "36")


async def test_given_a_node_when_real_kubectl_drains_it_then_the_journal_has_the_evictions(world: World) -> None:
    config = world.endpoints.kubeconfigs[CLUSTER]
    words = ("drain", "10.240.0.64", "--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout=60s")
    process = await asyncio.create_subprocess_exec(
        tool("kubectl"),
        *words,
        env={**os.environ, "KUBECONFIG": config},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(90):
        out = (await process.communicate())[0].decode()
    evicted = [row.target for row in world.journal.entries() if row.verb == "evict pods" and row.status == 201]
    cordoned = [
        row.request["body"]
        for row in world.journal.entries()
        if row.verb == "patch nodes" and row.actor == "system:admin"
    ]

    assert (process.returncode, "drained" in out) == (0, True), out
    assert len(evicted) == 1
    assert evicted[0].startswith("default/gpu-burn")
    assert cordoned == [{"spec": {"unschedulable": True}}]


async def test_given_a_silent_kubelet_when_it_speaks_again_then_real_controllers_tainted_the_node_meanwhile(
    world: World,
) -> None:
    async def seen() -> tuple[str, list[str]]:
        node = await world.apis[CLUSTER].get("/api/v1/nodes/10.240.0.64")
        ready = next(row["status"] for row in node["status"]["conditions"] if row["type"] == "Ready")
        return ready, sorted({taint["key"] for taint in node["spec"].get("taints") or ()})

    async def becomes(wanted: tuple[str, list[str]]) -> tuple[str, list[str]]:
        deadline = time.monotonic() + 30.0
        while (found := await seen()) != wanted and time.monotonic() < deadline:
            await asyncio.sleep(0.1)
        return found

    silence = world.afflictions[CLUSTER].add("kubelet-silent", node="10.240.0.64")
    lost = await becomes(("Unknown", ["node.kubernetes.io/unreachable"]))
    world.afflictions[CLUSTER].remove(silence.id)
    back = await becomes(("True", []))

    assert lost == ("Unknown", ["node.kubernetes.io/unreachable"])
    assert back == ("True", [])


async def test_given_a_world_when_over_then_no_program_of_its_control_plane_is_left(tmp_path: Path) -> None:
    async with running(tmp_path, binaries=assets()):
        saved = [processes.saved(path) for path in (tmp_path / PLANES).rglob("*.pid")]

    assert len(saved) == 4
    assert [process.alive() for process in saved if process] == [False] * 4
