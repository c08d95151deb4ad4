"""The IKS adapter against the pretend IKS: both sides read the same API."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from bot.adapters.iks.client import IksClient
from bot.adapters.iks.connections import Network
from bot.adapters.iks.iam import api_key
from bot.adapters.iks.rest import IksRest
from bot.ports import ClusterRef, Iks
from sandbox.iks.iam import API_KEY
from state.errors import OutcomeUnknown, PermanentError, TransientError
from state.orders import CreatePool, RemovePool, ReplaceWorker, UpdateMaster
from state.reasons import Code
from state.snapshot import IksView
from tests.sandbox.iks_bench import Bench, bench

SECONDS = 15.0


@asynccontextmanager
async def rest(key: str = API_KEY, resource_group: str = "") -> AsyncIterator[tuple[IksRest, Bench]]:
    async with bench() as world:
        client = IksClient(world.iks, world.iam, api_key(lambda: key), Network())
        try:
            yield IksRest(client, resource_group), world
        finally:
            await client.aclose()


async def until_gone(iks: Iks, world: Bench, worker: str) -> IksView:
    """Look until the worker's replacement is normal and it is gone itself."""
    async with asyncio.timeout(SECONDS):
        while True:
            view = await iks.look(world.cluster)
            if all(row.normal for row in view.workers) and worker not in {row.id for row in view.workers}:
                return view
            await asyncio.sleep(0.05)


async def until_master(iks: Iks, world: Bench, minor: str) -> IksView:
    async with asyncio.timeout(SECONDS):
        while True:
            view = await iks.look(world.cluster)
            if view.master.version.startswith(minor) and not view.master.pending and view.master.state == "deployed":
                return view
            await asyncio.sleep(0.05)


async def until_filled(iks: Iks, world: Bench, pool_id: str) -> IksView:
    async with asyncio.timeout(SECONDS):
        while True:
            view = await iks.look(world.cluster)
            workers = [row for row in view.workers if row.pool_id == pool_id]
            if workers and all(row.normal for row in workers):
                return view
            await asyncio.sleep(0.05)


async def test_given_a_name_when_resolved_then_the_id_is_found_and_found_again() -> None:
    async with rest() as (iks, world):
        by_name = await iks.resolve("gpu-multi")
        by_id = await iks.resolve(world.cluster)

    assert by_name == by_id == ClusterRef(world.cluster, "gpu-multi")


@pytest.mark.parametrize("group", ["", "0000000000000000"], ids=["unknown name", "other resource group"])
async def test_given_nothing_to_see_when_resolved_then_ibms_words_are_kept(group: str) -> None:
    async with rest(resource_group=group) as (iks, _):
        with pytest.raises(PermanentError) as caught:
            await iks.resolve("gpu-multi" if group else "nobody")

    assert caught.value.reason.code is Code.CLUSTER_NOT_FOUND
    assert caught.value.reason.text("code") == "G0004"
    assert caught.value.reason.text("incident")


async def test_given_the_guides_cluster_when_looked_at_then_everything_is_there() -> None:
    async with rest() as (iks, world):
        view = await iks.look(world.cluster)

    assert (view.cluster_name, view.offering, view.provider) == ("gpu-multi", "kubernetes", "vpc-gen2")
    assert (view.master.version, view.master.state, view.master.health) == ("1.35.4_1528", "deployed", "normal")
    assert len(view.workers) == 2
    assert all(worker.normal and worker.ip and worker.pool_id == view.pools[0].id for worker in view.workers)
    assert view.pools[0].size == 2
    assert view.pools[0].zones[0].subnet
    assert view.pools[0].autobalanced is True
    assert any((row.major, row.minor) == (1, 36) for row in view.versions)


async def test_given_an_updated_master_when_a_worker_is_replaced_then_its_successor_runs_the_target() -> None:
    async with rest() as (iks, world):
        before = await iks.look(world.cluster)
        version = next(row for row in before.versions if row.minor == 36)
        await iks.update_master(UpdateMaster(world.cluster, f"1.36.{version.patch}"))
        await until_master(iks, world, "1.36.")
        old = before.workers[0]
        await iks.replace_worker(ReplaceWorker(world.cluster, old.id, old.pool_id))
        after = await until_gone(iks, world, old.id)

    assert len(after.workers) == 2
    assert {row.version.partition("_")[0] for row in after.workers if row.id not in {w.id for w in before.workers}}
    assert [verb for verb, _ in world.verbs("iks")] == ["updateMaster", "replaceWorker"]


async def test_given_a_model_pool_when_its_like_is_made_and_removed_then_it_comes_and_goes() -> None:
    async with rest() as (iks, world):
        model = (await iks.look(world.cluster)).pools[0]
        order = CreatePool(
            cluster_id=world.cluster,
            name="gpu-migrate-tmp",
            like_pool=model.id,
            flavor=model.flavor,
            vpc=model.vpc,
            zone=model.zones[0].id,
            subnet=model.zones[0].subnet,
            size=1,
            operating_system=model.operating_system,
            labels=model.labels,
        )
        pool_id = await iks.create_pool(order)
        made = await until_filled(iks, world, pool_id)
        await iks.remove_pool(RemovePool(world.cluster, pool_id, order.name))
        async with asyncio.timeout(SECONDS):
            while any(pool.id == pool_id and pool.state != "deleted" for pool in (await iks.look(world.cluster)).pools):
                await asyncio.sleep(0.05)

    assert pool_id in {pool.id for pool in made.pools}
    assert [verb for verb, _ in world.verbs("iks")] == ["createWorkerPool", "removeWorkerPool"]


async def test_given_a_busy_master_when_a_worker_is_replaced_then_it_is_refused_for_now() -> None:
    async with rest() as (iks, world):
        await iks.update_master(UpdateMaster(world.cluster, "1.36.0"))
        with pytest.raises((TransientError, PermanentError)) as caught:
            await iks.update_master(UpdateMaster(world.cluster, "1.36.0"))

    assert caught.value.reason.code in (Code.IKS_BUSY, Code.IKS_REFUSED)


async def test_given_a_lost_answer_when_replaced_then_the_outcome_is_unknown_and_the_call_was_one() -> None:
    async with rest() as (iks, world):
        worker = (await iks.look(world.cluster)).workers[0]
        world.faults.add(system="iks", path="replaceWorker", when="after", drop=True)
        with pytest.raises(OutcomeUnknown):
            await iks.replace_worker(ReplaceWorker(world.cluster, worker.id, worker.pool_id))

        assert [verb for verb, _ in world.verbs("iks")] == ["replaceWorker"]


async def test_given_revoked_tokens_when_looked_at_then_a_new_one_is_fetched_silently() -> None:
    async with rest() as (iks, world):
        await iks.look(world.cluster)
        world.accounts.revoke_all()
        view = await iks.look(world.cluster)

    assert len(view.workers) == 2


async def test_given_a_wrong_key_when_looked_at_then_it_is_our_login() -> None:
    async with rest(key="wrong-key") as (iks, world):
        with pytest.raises(PermanentError) as caught:
            await iks.look(world.cluster)

    assert caught.value.reason.code is Code.IKS_LOGIN
    assert "wrong-key" not in str(caught.value)


async def test_given_access_when_a_kubeconfig_is_fetched_then_it_is_no_admins() -> None:
    async with rest() as (iks, world):
        config = await iks.kubeconfig(world.cluster)

    assert b"id-token" in config.raw
    assert b"/admin" not in config.raw
    assert "id-token" not in repr(config)


async def test_given_no_rbac_call_when_a_kubeconfig_is_fetched_then_the_older_call_serves() -> None:
    async with rest() as (iks, world):
        world.faults.add(system="iks", path="applyRBAC", status=404, body='{"code":"E0000"}')
        config = await iks.kubeconfig(world.cluster)

    assert b"clusters" in config.raw


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 500},
        {"status": 502, "body": "<html></html>", "headers": {"Content-Type": "text/html"}},
        {"drop": True},
    ],
    ids=["500", "html", "drop"],
)
async def test_given_a_failing_read_when_looked_at_then_it_may_pass(fault: dict[str, object]) -> None:
    async with rest() as (iks, world):
        world.faults.add(system="iks", path="getWorkers", times=3, **fault)
        with pytest.raises(TransientError):
            await iks.look(world.cluster)
        world.faults.remove()

        assert len((await iks.look(world.cluster)).workers) == 2
