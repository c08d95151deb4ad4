"""Field names, status codes and bodies of IKS and IAM, as the reference of the API shows them."""

import asyncio
import base64
import json
from typing import Any

import pytest
import yaml

from sandbox.iks.iam import PROFILE, SUBJECT
from tests.sandbox.iks_bench import GRANT, bench

CLUSTER = {
    "id", "name", "crn", "region", "location", "dataCenter", "resourceGroup", "resourceGroupName", "provider", "type",
    "state", "status", "masterKubeVersion", "targetVersion", "versionEOS", "masterURL", "serviceEndpoints", "lifecycle",
    "workerCount", "workerZones", "vpcs", "podSubnet", "serviceSubnet", "disableAutoUpdate", "isPaid", "addons",
    "features", "ingress", "createdDate",
}  # fmt: skip
WORKER = {
    "id", "flavor", "location", "poolID", "poolName", "kubeVersion", "lifecycle", "health", "networkInterfaces",
}  # fmt: skip
LIFECYCLE = {
    "actualState", "desiredState", "message", "messageDate", "messageDetails", "messageDetailsDate", "pendingOperation",
    "reasonForDelete", "actualOperatingSystem", "desiredOperatingSystem",
}  # fmt: skip
POOL = {
    "id", "poolName", "flavor", "provider", "vpcID", "workerCount", "isolation", "operatingSystem", "autoscaleEnabled",
    "isBalanced", "labels", "taints", "lifecycle", "zones",
}  # fmt: skip
OLD = "test-d8397vk20kb65iocenn0-btspstggput-default-000001e4"


async def test_given_a_cluster_when_got_then_it_has_the_fields_of_the_reference() -> None:
    async with bench() as iks:
        row = await iks.get(f"/v2/getCluster?cluster={iks.cluster}&v1-compatible")
        same = await iks.get("/v2/vpc/getCluster?cluster=gpu-multi&showResources=true")

    assert set(row) >= CLUSTER
    assert same["id"] == row["id"]
    assert (row["masterKubeVersion"], row["lifecycle"]["masterState"]) == ("1.35.4_1528", "deployed")
    assert (row["status"], row["state"], row["workerCount"]) == ("All Workers Normal", "normal", 2)


async def test_given_clusters_when_listed_then_other_providers_are_empty() -> None:
    async with bench("guide") as iks:
        vpc = await iks.get("/v2/vpc/getClusters?provider=vpc-gen2")
        classic = await iks.get("/v2/classic/getClusters")

    assert ([row["name"] for row in vpc], classic) == (["gpu-single", "gpu-multi"], [])


async def test_given_workers_when_listed_then_rows_have_the_fields_of_the_reference() -> None:
    async with bench() as iks:
        row = (await iks.workers())[OLD]
        one = await iks.get(f"/v2/vpc/getWorker?cluster={iks.cluster}&worker={OLD}")

    assert set(row) >= WORKER
    assert set(row["lifecycle"]) == LIFECYCLE
    assert one == row
    assert row["kubeVersion"] == {
        "actual": "1.35.4_1528", "desired": "1.35.4_1528", "target": "1.35.4_1528", "eos": "", "masterEOS": "",
    }  # fmt: skip
    assert row["networkInterfaces"][0]["ipAddress"] == "10.240.0.64"
    assert row["health"] == {"state": "normal", "message": "Ready"}


async def test_given_a_pool_when_got_by_id_or_name_then_it_has_the_fields_of_the_reference() -> None:
    async with bench() as iks:
        by_name = await iks.get(f"/v2/vpc/getWorkerPool?cluster={iks.cluster}&workerpool=default")
        by_id = await iks.get(f"/v2/vpc/getWorkerPool?cluster={iks.cluster}&workerpool={by_name['id']}")

    assert set(by_name) >= POOL
    assert by_id == by_name
    assert by_name["labels"] == {"ibm-cloud.kubernetes.io/worker-pool-id": by_name["id"]}
    assert by_name["zones"][0]["autobalanceEnabled"]


async def test_given_dates_when_read_then_they_have_no_colon_in_the_zone() -> None:
    async with bench() as iks:
        row = await iks.get(f"/v2/getCluster?cluster={iks.cluster}")

    assert row["createdDate"].endswith("+0000")


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/v2/getCluster?cluster=nobody", 404, "G0004"),
        ("/v2/getCluster", 400, "E0000"),
        ("/v2/vpc/getWorkers?cluster=nobody", 404, "G0004"),
        ("/v2/no/such/call", 404, "E0000"),
    ],
    ids=["unknown cluster", "no cluster named", "workers of an unknown cluster", "unknown path"],
)
async def test_given_a_bad_call_when_made_then_the_error_body_is_ibms(path: str, status: int, code: str) -> None:
    async with bench() as iks:
        got, body = await iks.call("GET", path)

    assert (got, body["code"]) == (status, code)
    assert set(body) >= {"incidentID", "code", "description", "type"}


async def test_given_the_wrong_resource_group_when_asked_then_the_cluster_is_not_found() -> None:
    async with bench() as iks:
        path = f"/v2/getCluster?cluster={iks.cluster}"
        wrong = await iks.call("GET", path, None, **{"X-Auth-Resource-Group": "ffffffffffffffffffffffffffffffff"})
        listed = await iks.call("GET", "/v2/vpc/getClusters", None, **{"X-Auth-Resource-Group": "ffff"})
        right = await iks.call("GET", path, None, **{"X-Auth-Resource-Group": "a1b2c3d4e5f60718293a4b5c6d7e8f90"})

    assert (wrong[0], wrong[1]["code"], listed, right[0]) == (404, "G0004", (200, []), 200)


async def test_given_a_bad_token_when_used_then_401_with_a0003() -> None:
    async with bench() as iks:
        iks.accounts.revoke_all()
        status, body = await iks.call("GET", "/v2/vpc/getClusters")

    assert (status, body["code"], body["type"]) == (401, "A0003", "Authentication")


@pytest.mark.parametrize("text", ["{", "[]", '"x"', "null"])
async def test_given_a_body_that_is_no_object_when_posted_then_400(text: str) -> None:
    async with bench() as iks:
        sent = {"Authorization": f"Bearer {iks.token}"}
        async with iks.session.post(f"{iks.iks}/v2/updateMaster", data=text, headers=sent) as answer:
            body = await answer.json()

    assert (answer.status, body["type"]) == (400, "BadRequest")


async def test_given_an_api_key_when_exchanged_then_the_token_names_its_life() -> None:
    async with bench(speed=1.0) as iks:
        status, body = await iks.login()

    claims = body["access_token"].split(".")[1]
    assert (status, body["token_type"], body["expires_in"]) == (200, "Bearer", 3600)
    assert json.loads(base64.urlsafe_b64decode(claims + "=="))["exp"] == pytest.approx(body["expiration"], abs=2)


async def test_given_a_wrong_api_key_when_exchanged_then_iams_own_error() -> None:
    async with bench() as iks:
        status, body = await iks.login(grant_type=GRANT, apikey="wrong")

    assert (status, body["errorCode"]) == (400, "BXNIM0415E")
    assert set(body) == {"errorCode", "errorMessage", "errorDetails", "context"}


async def test_given_a_trusted_profile_when_assumed_then_its_subject_acts() -> None:
    async with bench() as iks:
        assume = GRANT.replace("apikey", "assume")
        status, body = await iks.login(grant_type=assume, access_token=iks.token, profile_id=PROFILE)
        iks.token = body["access_token"]
        await iks.post("/v2/vpc/replaceWorker", workerID=OLD, update=False)

    last = [entry for entry in iks.journal.entries() if entry.system == "iks"][-1]
    assert (status, last.actor) == (200, PROFILE)


async def test_given_an_unknown_grant_or_profile_when_asked_then_refused() -> None:
    async with bench() as iks:
        grant = await iks.login(grant_type="password", username="x")
        assume = GRANT.replace("apikey", "assume")
        profile = await iks.login(grant_type=assume, access_token=iks.token, profile_id="Profile-0")
        token = await iks.login(grant_type=assume, access_token="gone", profile_id=PROFILE)

    assert (grant[0], profile[0], token[0], token[1]["errorCode"]) == (400, 404, 401, "BXNIM0407E")


async def test_given_a_kubeconfig_when_asked_without_admin_then_its_token_ends_within_the_hour() -> None:
    async with bench(speed=1.0) as iks:
        sent = {"Authorization": f"Bearer {iks.token}"}
        body = {"cluster": iks.cluster, "format": "yaml", "admin": False, "endpointType": "public"}
        async with iks.session.post(f"{iks.iks}/v2/applyRBACAndGetKubeconfig", json=body, headers=sent) as answer:
            config = yaml.safe_load(await answer.text())
        status = await iks.get(f"/v2/getRBACStatus?cluster={iks.cluster}")

    user: dict[str, Any] = config["users"][0]["user"]
    assert user["auth-provider"]["config"]["id-token"] == f"token-of-IAM#{SUBJECT}-False"
    assert config["clusters"][0]["cluster"]["server"] == "https://127.0.0.1:6443"
    assert "certificate-authority-data" in config["clusters"][0]["cluster"]
    assert (iks.side.lives, status) == ([(f"IAM#{SUBJECT}", 3600.0)], {"synchronized": True, "error": False})


async def test_given_other_formats_when_asked_then_json_and_zip_come() -> None:
    async with bench() as iks:
        as_json = await iks.get(f"/v2/getKubeconfig?cluster={iks.cluster}&admin=true")
        sent = {"Authorization": f"Bearer {iks.token}"}
        async with iks.session.get(f"{iks.iks}/v1/clusters/{iks.cluster}/config", headers=sent) as answer:
            raw = await answer.read()

    assert as_json["users"][0]["user"]["token"] == "token-of-admin-True"
    assert raw[:2] == b"PK"


async def test_given_the_rest_of_the_catalogue_when_read_then_it_has_the_fields_of_the_reference() -> None:
    async with bench() as iks:
        versions = await iks.get("/v1/versions")
        flat = await iks.get("/v2/getVersions")
        flavors = {row["name"]: row for row in await iks.get("/v2/getFlavors?zone=us-south-1&provider=vpc-gen2")}
        subnets = await iks.get(f"/v2/vpc/getSubnets?vpc={iks.cloud.clusters[iks.cluster].seed.vpc}&zone=us-south-1")
        owner = await iks.get(f"/v1/logging/{iks.cluster}/clusterkeyowner")
        quota = await iks.get("/v2/getQuota")

    assert versions["kubernetes"] == flat
    assert {"major": 1, "minor": 36, "patch": 0, "default": True, "end_of_service": ""} in flat
    assert flavors["gx3.32x160.2l4"]["gpus"] == [{"Count": 2, "Type": "L4"}]
    assert (subnets[0]["zone"], bool(subnets[0]["publicGatewayID"])) == ("us-south-1", True)
    assert (set(owner), set(quota[0])) == ({"id", "name", "email"}, {"type", "infrastructure", "regions"})


async def test_given_too_many_calls_when_made_then_429_with_retry_after() -> None:
    async with bench(speed=1.0) as iks:
        sent = {"Authorization": f"Bearer {iks.token}"}

        async def once() -> tuple[int, str | None]:
            async with iks.session.get(f"{iks.iks}/v1/versions", headers=sent) as answer:
                return answer.status, answer.headers.get("Retry-After")

        answers = await asyncio.gather(*(once() for _ in range(205)))

    assert (answers.count((200, None)), answers.count((429, "1"))) == (200, 5)


async def test_given_the_outbound_switch_when_posted_then_204_and_remembered() -> None:
    async with bench() as iks:
        status = await iks.post("/network/v2/outbound-traffic-protection", operation="disable-outbound-protection")
        wrong = await iks.post("/network/v2/outbound-traffic-protection", operation="both")

    assert (status, wrong[0], iks.cloud.clusters[iks.cluster].outbound_protection) == ((204, None), 400, False)
