"""One call to IKS: what is sent, how often, and what a failure of each kind is called."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from bot.adapters.iks.client import IksClient
from bot.adapters.iks.connections import Network
from bot.adapters.iks.iam import api_key
from bot.adapters.iks.limiter import Limiter
from bot.adapters.iks.rest import IksRest
from state.errors import GpuMigrateError, OutcomeUnknown, PermanentError, TransientError
from state.orders import CreatePool, RemovePool, ReplaceWorker, UpdateMaster
from state.reasons import Code
from tests.shell.scripted_server import HTML, Reply, Script, scripted

REPLACE = "/v2/vpc/replaceWorker"
MASTER = "/v2/updateMaster"
WORKERS = "/v2/vpc/getWorkers"
TOKEN = "/identity/token"
ORDER = ReplaceWorker("c1", "w1", "p1")
POOL_ORDER = CreatePool(
    cluster_id="c1",
    name="gpu-migrate-tmp",
    like_pool="p1",
    flavor="gx3.16x80.l4",
    vpc="r006-1",
    zone="us-south-1",
    subnet="0717-a",
    size=1,
    operating_system="UBUNTU_24_64",
    labels={
        "team": "vision",
        "nvidia.com/gpu.deploy.operands": "false",
        "nvidia.com/gpu.deploy.driver": "false",
        "ibm-cloud.kubernetes.io/worker-pool-id": "p1",
    },
)
MODEL = {
    "id": "p1",
    "taints": {"nvidia.com/gpu": "present:NoSchedule"},
    "workerVolumeEncryption": {"kmsInstanceID": "kms", "workerVolumeCRKID": "crk", "kmsAccountID": ""},
    "dedicatedHostPoolId": "",
}


def token(name: str) -> Reply:
    return Reply(body={"access_token": name, "expires_in": 3600})


@asynccontextmanager
async def iks(resource_group: str = "") -> AsyncIterator[tuple[IksRest, Script]]:
    async with scripted() as script:
        script.say(TOKEN, token("t1"), token("t2"), token("t3"))
        client = IksClient(script.url, script.url, api_key(lambda: "key"), Network())
        try:
            yield IksRest(client, resource_group), script
        finally:
            await client.aclose()


async def test_given_settings_when_called_then_headers_say_who_and_where() -> None:
    async with iks("a1b2") as (rest, script):
        script.say(REPLACE, Reply(204))
        await rest.replace_worker(ORDER)
        call = script.calls(REPLACE)[0]

    assert call.headers["Authorization"] == "Bearer t1"
    assert call.headers["X-Auth-Resource-Group"] == "a1b2"
    assert call.headers["Accept-Language"] == "en"
    assert call.json == {"cluster": "c1", "workerID": "w1", "update": True}


async def test_given_no_resource_group_when_called_then_the_header_is_left_out() -> None:
    async with iks() as (rest, script):
        script.say(MASTER, Reply(204))
        await rest.update_master(UpdateMaster("c1", "1.36.3_1525"))
        call = script.calls(MASTER)[0]

    assert "X-Auth-Resource-Group" not in call.headers
    assert call.json == {"cluster": "c1", "version": "1.36.3", "force": False}


@pytest.mark.parametrize("version", ["1.36", "", "latest", "1.36.x"])
async def test_given_no_full_version_when_ordered_then_nothing_is_sent(version: str) -> None:
    async with iks() as (rest, script):
        with pytest.raises(PermanentError):
            await rest.update_master(UpdateMaster("c1", version))

    assert script.asked == []


@pytest.mark.parametrize(
    "reply",
    [Reply(500), HTML, Reply(503, {"code": "A0002"}), Reply(drop=True), Reply(200, "<html/>", "text/html"), Reply(302)],
    ids=["500", "502 html", "503 json", "dropped", "200 html", "302"],
)
async def test_given_no_word_when_ordered_then_it_was_sent_once_and_nobody_knows(reply: Reply) -> None:
    """B043: a second replace would take a second worker away."""
    async with iks() as (rest, script):
        script.say(REPLACE, reply)
        with pytest.raises(OutcomeUnknown):
            await rest.replace_worker(ORDER)

        assert len(script.calls(REPLACE)) == 1


async def test_given_nobody_listens_when_ordered_then_nothing_happened() -> None:
    async with scripted() as script:
        script.say(TOKEN, token("t1"))
        client = IksClient("http://127.0.0.1:9", script.url, api_key(lambda: "key"), Network())
        with pytest.raises(TransientError):
            await IksRest(client).replace_worker(ORDER)
        await client.aclose()


async def test_given_an_expired_token_when_ordered_then_the_same_call_is_made_once_more() -> None:
    async with iks() as (rest, script):
        script.say(REPLACE, Reply(401, {"code": "A0003"}), Reply(204))
        await rest.replace_worker(ORDER)
        calls = script.calls(REPLACE)

    assert [call.headers["Authorization"] for call in calls] == ["Bearer t1", "Bearer t2"]


async def test_given_a_token_refused_twice_when_called_then_it_is_our_login() -> None:
    async with iks() as (rest, script):
        script.say(REPLACE, Reply(401, {"code": "A0003", "description": "invalid"}))
        script.say("/v2/getCluster", Reply(401, {"code": "A0003", "description": "invalid"}))
        errors = []
        for call in (rest.replace_worker(ORDER), rest.look("c1")):
            with pytest.raises(PermanentError) as caught:
                await call
            errors.append(caught.value.reason.code)

        assert errors == [Code.IKS_LOGIN, Code.IKS_LOGIN]
        assert len(script.calls(REPLACE)) == len(script.calls("/v2/getCluster")) == 2


async def test_given_orders_when_made_then_each_has_a_connection_of_its_own() -> None:
    async with iks() as (rest, script):
        script.say(REPLACE, Reply(204))
        for _ in range(3):
            await rest.replace_worker(ORDER)

        assert len({call.port for call in script.calls(REPLACE)}) == 3


async def test_given_429_when_read_then_the_wait_is_the_one_told() -> None:
    async with iks() as (rest, script):
        script.say("/v2/vpc/getClusters", Reply(429, headers={"Retry-After": "7"}))
        with pytest.raises(TransientError) as caught:
            await rest.resolve("gpu-lab")

    assert caught.value.delay == timedelta(seconds=7)


async def test_given_a_model_pool_when_its_like_is_created_then_only_wanted_things_are_copied() -> None:
    async with iks() as (rest, script):
        script.say("/v2/vpc/getWorkerPool", Reply(body=MODEL))
        script.say("/v2/vpc/createWorkerPool", Reply(201, {"workerPoolID": "p9"}))
        script.say("/v2/setWorkerPoolTaints", Reply(500), Reply(204))
        pool_id = await rest.create_pool(POOL_ORDER)
        body = script.calls("/v2/vpc/createWorkerPool")[0].json
        taints = script.calls("/v2/setWorkerPoolTaints")

    assert pool_id == "p9"
    assert body["labels"] == {"team": "vision"}
    assert body["zones"] == [{"id": "us-south-1", "subnetID": "0717-a"}]
    assert body["workerVolumeEncryption"] == {"kmsInstanceID": "kms", "workerVolumeCRKID": "crk"}
    assert "hostPool" not in body
    assert [call.json["taints"] for call in taints] == [{"nvidia.com/gpu": "present:NoSchedule"}] * 2


async def test_given_taints_are_refused_when_a_pool_was_created_then_its_id_is_still_the_answer() -> None:
    async with iks() as (rest, script):
        script.say("/v2/vpc/getWorkerPool", Reply(body=MODEL))
        script.say("/v2/vpc/createWorkerPool", Reply(201, {"workerPoolID": "p9"}))
        script.say("/v2/setWorkerPoolTaints", Reply(403))

        assert await rest.create_pool(POOL_ORDER) == "p9"
        assert len(script.calls("/v2/setWorkerPoolTaints")) == 3


@pytest.mark.parametrize("reply", [Reply(201, {}), Reply(201), Reply(200, "created", "text/plain")], ids=str)
async def test_given_no_id_in_the_answer_when_a_pool_was_created_then_it_has_to_be_looked_for(reply: Reply) -> None:
    async with iks() as (rest, script):
        script.say("/v2/vpc/getWorkerPool", Reply(body={}))
        script.say("/v2/vpc/createWorkerPool", reply)
        with pytest.raises(OutcomeUnknown):
            await rest.create_pool(POOL_ORDER)


async def test_given_the_model_is_gone_when_a_pool_is_ordered_then_none_is_created() -> None:
    async with iks() as (rest, script):
        script.say("/v2/vpc/getWorkerPool", Reply(404, {"code": "E0000"}))
        with pytest.raises(PermanentError):
            await rest.create_pool(POOL_ORDER)

        assert script.calls("/v2/vpc/createWorkerPool") == []


async def test_given_pending_operations_when_a_pool_is_removed_then_it_is_refused_for_now() -> None:
    """B046."""
    async with iks() as (rest, script):
        script.say("/v2/removeWorkerPool", Reply(400, {"code": "E1437", "description": "below the minimum"}))
        with pytest.raises(TransientError) as caught:
            await rest.remove_pool(RemovePool("c1", "p9", "tmp"))

    assert caught.value.reason.code is Code.IKS_BUSY


async def test_given_two_clusters_of_one_name_when_resolved_then_their_ids_are_named() -> None:
    async with iks() as (rest, script):
        rows = [{"id": "c1", "name": "lab"}, {"id": "c2", "name": "lab"}, {"id": "lab2", "name": "x"}]
        script.say("/v2/vpc/getClusters", Reply(body=rows))
        with pytest.raises(PermanentError) as caught:
            await rest.resolve("lab")
        by_id = await rest.resolve("c2")

    assert caught.value.reason.code is Code.CLUSTER_AMBIGUOUS
    assert caught.value.reason.facts["ids"] == ("c1", "c2")
    assert (by_id.id, by_id.name) == ("c2", "lab")


async def test_given_a_classic_cluster_when_looked_at_then_its_provider_is_told() -> None:
    async with iks() as (rest, script):
        script.say("/v2/vpc/getClusters", Reply(body=[]))
        script.say("/v2/getCluster", Reply(body={"id": "c3", "name": "old", "provider": "classic"}))
        ref = await rest.resolve("old")
        seen = await rest.look(ref.id)

    assert (ref.id, seen.provider, seen.workers) == ("c3", "classic", ())


async def test_given_a_short_pool_row_when_looked_at_then_the_pool_is_read_by_itself() -> None:
    async with iks() as (rest, script):
        script.say("/v2/getCluster", Reply(body={"id": "c1", "provider": "vpc-gen2"}))
        script.say(WORKERS, Reply(body="null"))
        script.say("/v2/vpc/getWorkerPools", Reply(body=[{"id": "p1", "poolName": "default"}]))
        script.say("/v2/vpc/getWorkerPool", Reply(body={**MODEL, "labels": {"team": "vision"}, "zones": []}))
        script.say("/v1/versions", Reply(body={"kubernetes": []}))
        script.say("/v1/clusters/c1/addons", Reply(body=[]))
        seen = await rest.look("c1")

    assert seen.pools[0].labels == {"team": "vision"}
    assert seen.workers == ()


@pytest.mark.parametrize(
    "reply",
    [HTML, Reply(200, "", "application/json"), Reply(200, '{"a":'), Reply(200, {"items": []}), Reply(500)],
    ids=["html", "nothing", "cut", "object", "500"],
)
async def test_given_workers_cannot_be_read_when_looked_at_then_there_is_no_view_without_workers(reply: Reply) -> None:
    async with iks() as (rest, script):
        script.say("/v2/getCluster", Reply(body={"id": "c1", "provider": "vpc-gen2"}))
        for path in ("/v2/vpc/getWorkerPools", "/v1/clusters/c1/addons", "/v1/versions"):
            script.say(path, Reply(body=[]))
        script.say(WORKERS, reply)
        with pytest.raises(GpuMigrateError) as caught:
            await rest.look("c1")

    assert isinstance(caught.value, TransientError)


async def test_given_the_window_is_full_when_one_more_asks_then_it_waits_for_the_first_to_leave() -> None:
    limiter = Limiter(requests=3, seconds=0.4)
    began = time.monotonic()
    await asyncio.gather(*(limiter.slot() for _ in range(7)))

    assert 0.8 <= time.monotonic() - began < 1.2
