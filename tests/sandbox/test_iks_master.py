"""The control-plane update: what IBM accepts, and what it looks like while it runs."""

import pytest

from tests.sandbox.iks_bench import Bench, bench, until


def _master(iks: Bench) -> tuple[str, str, str]:
    master = iks.cloud.clusters[iks.cluster].master
    return master.version, master.pending, master.state


async def _done(iks: Bench) -> None:
    await until(lambda: _master(iks)[1:] == ("", "deployed"))


async def test_given_an_update_when_running_then_the_version_is_pending() -> None:
    async with bench(speed=400.0) as iks:
        answer = await iks.post("/v2/updateMaster", version="1.36.0", force=False)
        row = await iks.get(f"/v2/getCluster?cluster={iks.cluster}")
        before = {worker["kubeVersion"]["target"] for worker in (await iks.workers()).values()}
        await _done(iks)
        after = await iks.get(f"/v2/getCluster?cluster={iks.cluster}")
        targets = {worker["kubeVersion"]["target"] for worker in (await iks.workers()).values()}

    assert answer == (204, None)
    assert (row["masterKubeVersion"], row["lifecycle"]["masterState"]) == ("1.36.0_1506 (pending)", "updating")
    assert (after["masterKubeVersion"], after["lifecycle"]["masterStatus"]) == ("1.36.0_1506", "Ready")
    assert (before, targets) == ({"1.35.4_1528"}, {"1.36.0_1507"})
    assert iks.side.done == [("restart", "v1.36.0+IKS")]


async def test_given_an_update_when_the_api_is_away_then_workers_may_read_unknown() -> None:
    async with bench(speed=200.0) as iks:
        await iks.post("/v2/updateMaster", version="1.36", force=False)
        await until(lambda: iks.side.done)
        meanwhile = {row["health"]["state"] for row in (await iks.workers()).values()}
        await _done(iks)
        afterwards = {row["health"]["state"] for row in (await iks.workers()).values()}

    assert (meanwhile, afterwards) == ({"unknown"}, {"normal"})


async def test_given_v1_when_put_then_it_updates_as_v2_does() -> None:
    async with bench() as iks:
        body = {"action": "update", "version": "1.36.0", "force": True}
        answer = await iks.call("PUT", f"/v1/clusters/{iks.cluster}", body)
        verbs = iks.verbs("iks")
        await _done(iks)

    assert (answer, verbs, _master(iks)[0]) == ((204, None), [("updateMaster", iks.cluster)], "1.36.0_1506")


@pytest.mark.parametrize(
    "version",
    ["1.37.0", "1.36.9", "1.34.9", "1.35.4", "1.36.0_1506", "latest", "1"],
    ids=["not offered", "no such patch", "back", "same", "with build", "word", "major only"],
)
async def test_given_a_version_ibm_does_not_take_when_asked_then_400(version: str) -> None:
    async with bench() as iks:
        status, body = await iks.post("/v2/updateMaster", version=version, force=False)

    assert (status, body["type"], _master(iks)) == (400, "BadRequest", ("1.35.4_1528", "", "deployed"))


async def test_given_a_running_update_when_asked_again_then_400_ef9cc() -> None:
    async with bench() as iks:
        await iks.post("/v2/updateMaster", version="1.36.0", force=False)
        status, body = await iks.post("/v2/updateMaster", version="1.36.0", force=False)
        await _done(iks)

    assert (status, body["code"], body["type"]) == (400, "Ef9cc", "BadRequest")
    assert [verb for verb in iks.verbs("world") if verb[0] == "master.updated"] == [("master.updated", iks.cluster)]


async def test_given_a_cancelled_update_when_over_then_the_old_version_stays_and_a_new_start_works() -> None:
    async with bench() as iks:
        iks.cloud.knobs.turn("master_end", {})
        await iks.post("/v2/updateMaster", version="1.36.0", force=False)
        await until(lambda: _master(iks)[2] == "update_cancelled")
        row = await iks.get(f"/v2/getCluster?cluster={iks.cluster}")
        again = await iks.post("/v2/updateMaster", version="1.36.0", force=False)
        await _done(iks)

    assert row["masterKubeVersion"] == "1.35.4_1528"
    assert row["lifecycle"]["masterStatus"].startswith("Version update canceled. CAE009:")
    assert (again[0], _master(iks)[0]) == (204, "1.36.0_1506")


async def test_given_no_version_when_asked_then_400() -> None:
    async with bench() as iks:
        status, _ = await iks.post("/v2/updateMaster", force=False)

    assert status == 400
