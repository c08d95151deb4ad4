"""Orders for workers: replace, remove, and what happens to them in time."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from sandbox.iks.model import Worker
from sandbox.scenario import load
from tests.sandbox.iks_bench import Bench, bench, until

OLD = "test-d8397vk20kb65iocenn0-btspstggput-default-000001e4"
NEW = "test-d8397vk20kb65iocenn0-btspstggput-default-00000371"


def _worker(iks: Bench, worker_id: str) -> Worker | None:
    return next(iter(iks.cloud.clusters.values())).workers.get(worker_id)


async def _to(iks: Bench, worker_id: str, state: str) -> None:
    def there() -> bool:
        worker = _worker(iks, worker_id)
        return worker is not None and state in (worker.state, worker.health)

    await until(there)


async def _master_at_136(iks: Bench) -> None:
    await iks.post("/v2/updateMaster", version="1.36.0", force=False)
    await until(lambda: iks.cloud.clusters[iks.cluster].master.version == "1.36.0_1506")


async def _replaced(iks: Bench, *, update: bool = True) -> dict[str, Any]:
    assert (await iks.post("/v2/vpc/replaceWorker", workerID=OLD, update=update)) == (204, None)
    await _to(iks, NEW, "normal")
    await _to(iks, OLD, "deleted")
    return await iks.workers()


async def test_given_a_replacement_when_over_then_id_ip_and_version_are_new() -> None:
    async with bench() as iks:
        await _master_at_136(iks)
        rows = await _replaced(iks)

    assert rows[OLD]["lifecycle"]["actualState"] == "deleted"
    assert rows[OLD]["lifecycle"]["reasonForDelete"] == "worker_replace"
    assert rows[NEW]["kubeVersion"] == {
        "actual": "1.36.0_1507", "desired": "1.36.0_1507", "target": "1.36.0_1507", "eos": "", "masterEOS": "",
    }  # fmt: skip
    assert rows[NEW]["networkInterfaces"][0]["ipAddress"] == "10.240.0.72"
    assert rows[NEW]["health"] == {"state": "normal", "message": "Ready"}
    assert rows[NEW]["lifecycle"]["actualOperatingSystem"] == "UBUNTU_24_64"


async def test_given_a_replacement_when_watched_then_states_come_in_order() -> None:
    seen: list[tuple[str, str]] = []
    async with bench(speed=600.0) as iks:
        await iks.post("/v2/vpc/replaceWorker", workerID=OLD, update=False)
        async with asyncio.timeout(10):
            while ("deployed", "normal") not in seen:
                worker = _worker(iks, NEW)
                if worker is not None and (worker.state, worker.health) not in seen:
                    seen.append((worker.state, worker.health))
                await asyncio.sleep(0.002)

    assert seen == [
        ("provision_pending", ""),
        ("provisioning", ""),
        ("provisioned", ""),
        ("deploying", ""),
        ("deployed", ""),
        ("deployed", "unknown"),
        ("deployed", "normal"),
    ]


async def test_given_a_replacement_when_under_way_then_the_node_is_lost_left_and_joined() -> None:
    async with bench() as iks:
        await _replaced(iks, update=False)

    assert iks.side.done == [("lost", "10.240.0.64"), ("leave", "10.240.0.64", OLD), ("join", "10.240.0.72")]
    assert iks.side.nodes["10.240.0.72"].preinstalled


async def test_given_a_new_row_when_just_made_then_it_has_no_address_and_no_version() -> None:
    async with bench(speed=200.0) as iks:
        await iks.post("/v2/vpc/replaceWorker", workerID=OLD, update=False)
        await _to(iks, NEW, "provision_pending")
        row = (await iks.workers())[NEW]

    assert (row["networkInterfaces"], row["kubeVersion"]["actual"], row["health"]["state"]) == ([], "", "")
    assert row["lifecycle"]["message"] == "Waiting to provision"


@pytest.mark.parametrize(("order", "both"), [("deleted", False), ("accepted", True)])
async def test_given_either_order_when_replaced_then_old_and_new_rows_overlap_or_not(order: str, both: bool) -> None:
    async with bench() as iks:
        iks.cloud.knobs.turn("successor_after", order)
        await iks.post("/v2/vpc/replaceWorker", workerID=OLD, update=False)
        await until(lambda: _worker(iks, NEW) is not None)
        old = _worker(iks, OLD)

    assert old is not None
    assert (old.state != "deleted") is both


async def test_given_update_false_when_replaced_then_the_minor_stays() -> None:
    async with bench() as iks:
        await _master_at_136(iks)
        rows = await _replaced(iks, update=False)

    assert rows[NEW]["kubeVersion"]["actual"] == "1.35.4_1528"
    assert rows[NEW]["kubeVersion"]["target"] == "1.36.0_1507"


async def test_given_autobalance_off_when_replaced_then_nothing_comes_back_until_rebalanced() -> None:
    async with bench() as iks:
        next(iter(iks.cloud.clusters[iks.cluster].pools.values())).zones[0].autobalance = False
        await iks.post("/v2/vpc/replaceWorker", workerID=OLD, update=True)
        await _to(iks, OLD, "deleted")
        short = await iks.workers(deleted=False)
        pool = await iks.get(f"/v2/vpc/getWorkerPool?cluster={iks.cluster}&workerpool=default")
        answer = await iks.post("/v2/rebalanceWorkerPool", workerpool="default")
        await _to(iks, NEW, "normal")

    assert (len(short), pool["isBalanced"], pool["zones"][0]["autobalanceEnabled"]) == (1, False, False)
    assert answer == (204, None)


async def test_given_a_worker_that_leaves_when_ordered_again_then_409_and_one_successor() -> None:
    async with bench() as iks:
        await iks.post("/v2/vpc/replaceWorker", workerID=OLD, update=True)
        status, body = await iks.post("/v2/vpc/replaceWorker", workerID=OLD, update=True)
        await _to(iks, NEW, "normal")
        await _to(iks, OLD, "deleted")
        rows = await iks.workers()

    assert (status, body["type"], len(rows)) == (409, "Conflict", 3)


async def test_given_a_lag_when_ordered_twice_then_both_are_accepted_and_two_come() -> None:
    async with bench() as iks:
        iks.cloud.knobs.turn("visible_lag", 0.2)
        first = await iks.post("/v2/vpc/replaceWorker", workerID=OLD, update=True)
        unseen = (await iks.workers())[OLD]["lifecycle"]["desiredState"]
        second = await iks.post("/v2/vpc/replaceWorker", workerID=OLD, update=True)
        await _to(iks, OLD, "deleted")
        rows = await iks.workers()

    assert (first[0], second[0], unseen, len(rows)) == (204, 204, "deployed", 4)


async def test_given_an_unknown_or_new_worker_when_ordered_then_refused() -> None:
    async with bench(speed=100.0) as iks:
        unknown = await iks.post("/v2/vpc/replaceWorker", workerID="nobody", update=True)
        await iks.post("/v2/vpc/replaceWorker", workerID=OLD, update=True)
        await _to(iks, NEW, "provision_pending")
        early = await iks.post("/v2/vpc/replaceWorker", workerID=NEW, update=True)

    assert (unknown[0], unknown[1]["description"]) == (404, "The specified worker node could not be found.")
    assert early[0] == 409


async def test_given_no_quota_when_replaced_then_the_new_worker_fails_and_can_be_replaced() -> None:
    async with bench() as iks:
        iks.cloud.knobs.turn("new_worker", {})
        await iks.post("/v2/vpc/replaceWorker", workerID=OLD, update=True)
        await _to(iks, NEW, "provision_failed")
        failed = (await iks.workers())[NEW]
        again = await iks.post("/v2/vpc/replaceWorker", workerID=NEW, update=True)
        await until(lambda: len(iks.side.nodes) == 1 or None)

    assert failed["lifecycle"]["message"].startswith("The user account has insufficient infrastructure quota")
    assert "gx3.16x80.l4" in failed["lifecycle"]["message"]
    assert again == (204, None)


async def test_given_knobs_in_a_scenario_when_loaded_then_they_are_turned() -> None:
    scenario = replace(load("guide-example-2", 2000.0), knobs=({"name": "new_worker", "value": {"times": -1}},))
    async with bench(scenario) as iks:
        await iks.post("/v2/vpc/replaceWorker", workerID=OLD, update=True)
        await _to(iks, NEW, "provision_failed")

    assert iks.cloud.knobs.new_workers[0].times == -1


async def test_given_a_removed_worker_when_over_then_autobalance_is_off() -> None:
    async with bench() as iks:
        status = await iks.post("/v2/removeWorker", workerID=OLD)
        await _to(iks, OLD, "deleted")
        left = await iks.workers(deleted=False)
        pool = await iks.get(f"/v2/vpc/getWorkerPool?cluster={iks.cluster}&workerpool=default")

    assert (status[0], len(left), pool["zones"][0]["autobalanceEnabled"]) == (204, 1, False)


async def test_given_a_deleted_worker_when_forgotten_then_404() -> None:
    async with bench(speed=5000.0) as iks:
        await iks.post("/v2/vpc/replaceWorker", workerID=OLD, update=True)
        await _to(iks, OLD, "deleted")
        listed = await iks.workers(deleted=False)
        read = await iks.call("GET", f"/v2/vpc/getWorker?cluster={iks.cluster}&worker={OLD}")
        await until(lambda: _worker(iks, OLD) is None)
        gone = await iks.call("GET", f"/v2/vpc/getWorker?cluster={iks.cluster}&worker={OLD}")

    assert (OLD in listed, read[0], gone[0]) == (False, 200, 404)


async def test_given_orders_when_journalled_then_actor_target_and_cluster_are_there() -> None:
    async with bench() as iks:
        await iks.post("/v2/vpc/replaceWorker", workerID=OLD, update=True)
        await iks.post("/v2/vpc/replaceWorker", workerID=OLD, update=True)
        entries = [entry for entry in iks.journal.entries() if entry.system == "iks"]

    assert [(e.verb, e.target, e.cluster, e.status) for e in entries] == [
        ("replaceWorker", OLD, "gpu-multi", 204),
        ("replaceWorker", OLD, "gpu-multi", 409),
    ]
    assert entries[0].actor.startswith("ServiceId-")
    assert entries[0].request["body"]["update"] is True
