"""Orders for worker pools: create, resize, label, remove."""

import asyncio
from typing import Any

import pytest

from sandbox.iks.knobs import Knobs
from tests.sandbox.iks_bench import Bench, bench, until

SUBNET = "0717-4f9c7d1e-6a55-4a4f-9f0e-1c2d3e4f5a6b"
TEMPORARY = "test-d8397vk20kb65iocenn0-tempgpupool-default-00000371"


def _body(iks: Bench, **changes: Any) -> dict[str, Any]:
    return {
        "name": "temp-gpu-pool",
        "flavor": "gx3.16x80.l4",
        "vpcID": iks.cloud.clusters[iks.cluster].seed.vpc,
        "workerCount": 1,
        "operatingSystem": "UBUNTU_24_64",
        "entitlement": "",
        "labels": {"team": "vision"},
        "zones": [{"id": "us-south-1", "subnetID": SUBNET}],
        **changes,
    }


async def _create(iks: Bench, **changes: Any) -> tuple[int, Any]:
    return await iks.post("/v2/vpc/createWorkerPool", **_body(iks, **changes))


async def _ready(iks: Bench, worker_id: str) -> None:
    workers = iks.cloud.clusters[iks.cluster].workers
    await until(lambda: worker_id in workers and workers[worker_id].settled)


async def test_given_a_new_pool_when_created_then_its_rows_come_later_and_inherit_labels() -> None:
    async with bench("guide-example-1", speed=400.0) as iks:
        status, body = await _create(iks)
        pools = await iks.get(f"/v2/vpc/getWorkerPools?cluster={iks.cluster}")
        none = await iks.get(f"/v2/vpc/getWorkers?cluster={iks.cluster}&pool={body['workerPoolID']}")
        await _ready(iks, TEMPORARY)
        one = await iks.get(f"/v2/vpc/getWorkers?cluster={iks.cluster}&pool=temp-gpu-pool")

    assert (status, [pool["poolName"] for pool in pools], none) == (201, ["default", "temp-gpu-pool"], [])
    assert [row["id"] for row in one] == [TEMPORARY]
    assert iks.side.nodes["10.240.0.72"].labels == {"team": "vision"}


async def test_given_the_temporary_pool_when_removed_then_only_its_worker_goes() -> None:
    async with bench("guide-example-1") as iks:
        _, made = await _create(iks)
        await _ready(iks, TEMPORARY)
        answer = await iks.post("/v2/removeWorkerPool", workerpool=made["workerPoolID"])
        await until(lambda: iks.cloud.clusters[iks.cluster].pools[made["workerPoolID"]].state == "deleted")
        left = await iks.workers(deleted=False)
        gone = await iks.call("GET", f"/v2/vpc/getWorkerPool?cluster={iks.cluster}&workerpool=temp-gpu-pool")

    assert (answer, len(left), gone[0]) == ((204, None), 1, 404)
    assert gone[1]["description"] == "The specified worker pool could not be found."


async def test_given_a_pool_whose_worker_is_being_built_when_removed_then_400_e1437() -> None:
    async with bench("guide-example-1", speed=200.0) as iks:
        await _create(iks)
        await until(lambda: TEMPORARY in iks.cloud.clusters[iks.cluster].workers)
        status, body = await iks.post("/v2/removeWorkerPool", workerpool="temp-gpu-pool")

    assert (status, body["code"]) == (400, "E1437")


async def test_given_the_last_pool_when_removed_then_400_e1437() -> None:
    async with bench() as iks:
        status, body = await iks.call("DELETE", f"/v1/clusters/{iks.cluster}/workerpools/default")

    assert (status, body["code"]) == (400, "E1437")


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"name": "default"}, 409),
        ({"flavor": "gx9.1x1.none"}, 400),
        ({"vpcID": "r006-other"}, 400),
        ({"workerCount": "1"}, 400),
        ({"workerCount": True}, 400),
        ({"zones": [{"id": "us-south-1"}]}, 400),
        ({"zones": [{"id": "moon-1", "subnetID": SUBNET}]}, 400),
        ({"zones": "us-south-1"}, 400),
        ({"labels": {"n": 1}}, 400),
        ({"operatingSystem": "UBUNTU_20_64"}, 400),
        ({"name": ""}, 400),
    ],
)
async def test_given_a_bad_pool_when_created_then_refused(changes: dict[str, Any], status: int) -> None:
    async with bench() as iks:
        got, body = await _create(iks, **changes)
        pools = await iks.get(f"/v2/vpc/getWorkerPools?cluster={iks.cluster}")

    assert (got, len(pools)) == (status, 1)
    assert body["incidentID"]


@pytest.mark.parametrize("key", ["workerpool", "workerPoolID"])
async def test_given_a_pool_without_zone_when_one_is_added_then_workers_come(key: str) -> None:
    async with bench("guide-example-1") as iks:
        _, made = await _create(iks, zones=[])
        await asyncio.sleep(iks.cloud.scenario.seconds("pool_rows") * 2)
        before = len(await iks.workers())
        zone = {"id": "us-south-1", "subnetID": SUBNET, key: made["workerPoolID"]}
        added = await iks.post("/v2/vpc/createWorkerPoolZone", **zone)
        await _ready(iks, TEMPORARY)

    assert (before, added) == (1, (201, {}))


async def test_given_a_resize_when_made_then_workers_follow_the_number() -> None:
    async with bench() as iks:
        up = await iks.post("/v2/resizeWorkerPool", workerpool="default", size=3)
        await _ready(iks, "test-d8397vk20kb65iocenn0-btspstggput-default-00000371")
        down = await iks.call(
            "PATCH", f"/v1/clusters/{iks.cluster}/workerpools/default", {"state": "resizing", "sizePerZone": 1}
        )
        await until(lambda: len(iks.side.nodes) == 0)
        left = [row for row in (await iks.workers()).values() if row["lifecycle"]["desiredState"] == "deployed"]
        nothing = await iks.post("/v2/resizeWorkerPool", workerpool="default", size=0)

    assert (up[0], down[0], len(left), nothing[1]["code"]) == (202, 202, 1, "E1437")


async def test_given_pool_labels_and_taints_when_set_then_nodes_follow() -> None:
    async with bench() as iks:
        await iks.post("/v2/setWorkerPoolLabels", workerpool="default", labels={"a": "1", "b": "2"})
        labels = await iks.post("/v2/setWorkerPoolLabels", workerpool="default", labels={"a": "3"})
        taints = await iks.post(
            "/v2/setWorkerPoolTaints", workerpool="default", taints={"nvidia.com/gpu": "present:NoSchedule"}
        )
        system = await iks.post(
            "/v2/setWorkerPoolLabels", workerpool="default", labels={"ibm-cloud.kubernetes.io/zone": "x"}
        )
        pool = await iks.get(f"/v2/vpc/getWorkerPool?cluster={iks.cluster}&workerpool=default")
        await until(lambda: len(iks.side.done) == 6)

    assert (labels, taints, system[0]) == ((204, None), (204, None), 400)
    assert {key: value for key, value in pool["labels"].items() if "ibm" not in key} == {"a": "3"}
    assert pool["taints"] == {"nvidia.com/gpu": "present:NoSchedule"}
    assert ("relabel", "10.240.0.64", "[('a', '3'), ('b', None)]") in iks.side.done


async def test_given_made_up_successors_when_the_scenario_has_none_left_then_ids_and_addresses_are_fresh() -> None:
    async with bench() as iks:
        await iks.post("/v2/resizeWorkerPool", workerpool="default", size=6)
        await until(lambda: len(iks.side.nodes) == 4)
        rows = await iks.workers()

    addresses = [row["networkInterfaces"][0]["ipAddress"] for row in rows.values()]
    assert len(set(addresses)) == 6
    assert any(name.startswith("kube-d84b2k7f0s3vq9h6m1r0-gpumulti-default-") for name in rows)


def test_given_an_unknown_knob_when_turned_then_the_known_ones_are_named() -> None:
    knobs = Knobs()

    with pytest.raises(ValueError, match="successor_after"):
        knobs.turn("gravity", 0)
    with pytest.raises(ValueError, match="accepted"):
        knobs.turn("successor_after", "never")
    with pytest.raises(ValueError, match="unexpected"):
        knobs.turn("new_worker", {"colour": "red"})


def test_given_turned_knobs_when_cleared_then_all_is_well() -> None:
    knobs = Knobs()
    knobs.turn("visible_lag", 3)
    knobs.turn("new_worker", {"times": 2})

    knobs.clear()

    assert knobs == Knobs()
