"""The pretend API server as its world uses it: tokens, rights, outages, versions, the journal, odd requests."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox.faults import Faults
from sandbox.journal import Journal
from sandbox.kubernetes.server import KubernetesServer
from sandbox.kubernetes_client import Api, ApiError
from sandbox.serving import serve
from sandbox.tokens import MASTERS, Tokens
from tests.sandbox.conformance.objects import config_map, eviction, pod

MAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
RBAC = "/apis/rbac.authorization.k8s.io/v1"


class Cluster:
    """A pretend cluster and an administrator's client of it."""

    def __init__(self, url: str, admin: str) -> None:
        self.tokens, self.journal, self.faults = Tokens(), Journal(), Faults()
        self.server = KubernetesServer("gpu-test", self.journal, self.faults, self.tokens)
        self.url, self.admin = url, admin
        self.api = Api(url, admin)

    def as_user(self, user: str, life: float | None = None) -> Api:
        return Api(self.url, self.tokens.issue(user, life=life))


@pytest_asyncio.fixture
async def cluster() -> AsyncIterator[Cluster]:
    made = Cluster("", "")
    served = await serve(made.server.app())
    made.url, made.admin = served.url, made.tokens.issue("system:admin", (MASTERS,))
    made.api = Api(made.url, made.admin)
    yield made
    await made.api.aclose()
    await served.aclose()


async def refused(call: Any) -> int:
    with pytest.raises(ApiError) as error:
        await call
    return error.value.status


# ------------------------------------------------------------------ who asks


async def test_given_a_token_that_lives_shortly_when_its_time_is_over_then_401(cluster: Cluster) -> None:
    user = cluster.as_user("IAM#bot", life=0.2)
    before = await user.get("/version")
    await asyncio.sleep(0.25)

    status = await refused(user.get("/version"))
    await user.aclose()

    assert before["gitVersion"] == "v1.35.4+IKS"
    assert status == 401


async def test_given_a_revoked_token_when_used_then_401(cluster: Cluster) -> None:
    token = cluster.tokens.issue("someone")
    cluster.tokens.revoke(token)
    user = Api(cluster.url, token)

    status = await refused(user.get("/version"))
    await user.aclose()

    assert status == 401


async def test_given_a_role_binding_when_a_user_asks_then_it_holds_in_its_namespace_only(cluster: Cluster) -> None:
    role = {
        "metadata": {"name": "reader"},
        "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]}],
    }
    binding = {
        "metadata": {"name": "reader"},
        "subjects": [{"kind": "User", "name": "IAM#bot"}],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
    }
    await cluster.api.post(f"{RBAC}/namespaces/default/roles", role)
    await cluster.api.post(f"{RBAC}/namespaces/default/rolebindings", binding)
    user = cluster.as_user("IAM#bot")

    listed = await user.get(MAPS)
    elsewhere = await refused(user.get("/api/v1/namespaces/kube-system/configmaps"))
    writing = await refused(user.post(MAPS, config_map("a")))
    await user.aclose()

    assert listed["items"] == []
    assert (elsewhere, writing) == (403, 403)


# ------------------------------------------------------------------ outages and versions


async def test_given_an_outage_when_it_is_over_then_watches_were_cut_and_requests_work_again(cluster: Cluster) -> None:
    headers = {"Authorization": f"Bearer {cluster.admin}"}
    async with aiohttp.ClientSession(cluster.url, headers=headers) as http:
        watch = await http.get(MAPS, params={"watch": "true"})
        dark = asyncio.create_task(cluster.server.outage(0.5))
        began = time.monotonic()
        with pytest.raises(aiohttp.ClientError):
            await watch.content.readline()
        cut_after = time.monotonic() - began
        with pytest.raises(aiohttp.ClientError):
            await http.get(MAPS)
        await dark
        again = await http.get(MAPS)
        watch.close()

    assert cut_after < 0.4
    assert again.status == 200


async def test_given_a_master_update_when_the_version_is_set_then_clients_see_it(cluster: Cluster) -> None:
    cluster.server.set_version("v1.36.1+IKS")

    version = await cluster.api.get("/version")

    assert (version["gitVersion"], version["minor"]) == ("v1.36.1+IKS", "36")


async def test_given_a_forgotten_history_when_a_watch_continues_from_before_then_410_in_the_stream(
    cluster: Cluster,
) -> None:
    version = (await cluster.api.get(MAPS))["metadata"]["resourceVersion"]
    await cluster.api.post(MAPS, config_map("a"))
    cluster.server.forget_history()
    headers = {"Authorization": f"Bearer {cluster.admin}"}

    async with aiohttp.ClientSession(cluster.url, headers=headers) as http:
        answer = await http.get(MAPS, params={"watch": "true", "resourceVersion": version, "timeoutSeconds": "5"})
        line = json.loads(await answer.content.readline())
        rest = await answer.content.read()

    assert (answer.status, line["type"], line["object"]["code"], rest) == (200, "ERROR", 410, b"")


# ------------------------------------------------------------------ the journal and faults


async def test_given_writes_when_they_are_taken_or_refused_then_the_journal_tells_each_once(cluster: Cluster) -> None:
    await cluster.api.post(PODS, pod("a", node="10.0.0.1"))
    await cluster.api.get(PODS)
    await refused(cluster.api.post(PODS, pod("a")))
    await cluster.api.post(f"{PODS}/a/eviction", eviction("a", "default"))
    secret = {"metadata": {"name": "s"}, "stringData": {"password": "hush"}}
    await cluster.api.post("/api/v1/namespaces/default/secrets", secret)

    rows = [(row.verb, row.target, row.status, row.actor, row.cluster) for row in cluster.journal.entries()]
    assert rows == [
        ("create pods", "default/a", 201, "system:admin", "gpu-test"),
        ("create pods", "default/a", 409, "system:admin", "gpu-test"),
        ("evict pods", "default/a", 201, "system:admin", "gpu-test"),
        ("create secrets", "default/s", 201, "system:admin", "gpu-test"),
    ]
    assert "hush" not in json.dumps(cluster.journal.as_json())


async def test_given_a_fault_after_the_effect_when_posting_then_the_caller_fails_and_the_object_is_there(
    cluster: Cluster,
) -> None:
    cluster.faults.add(system="kubernetes", method="POST", path=MAPS, when="after", status=500, body="lost")

    status = await refused(cluster.api.post(MAPS, config_map("a")))

    assert status == 500
    assert (await cluster.api.get(f"{MAPS}/a"))["data"] == {"a": "1"}


# ------------------------------------------------------------------ odd requests

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["1Gi", "a/b/c", "500m"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["metadata", "name", "labels", "spec", "status", "containers", "env", "$patch", "finalizers", "conditions"]
    ), inner, max_size=4),
    max_leaves=8,
)  # fmt: skip
CONTENT = ("application/merge-patch+json", "application/strategic-merge-patch+json", "application/json-patch+json")


async def ask(cluster: Cluster, value: Any) -> list[int]:
    """The value as a pod, as each kind of patch to one, as an eviction and as delete options."""
    body = json.dumps(value)
    patches = [("PATCH", f"{PODS}/odd", kind) for kind in CONTENT]
    calls = [("POST", PODS, "application/json"), *patches, ("PATCH", f"{PODS}/odd/status", CONTENT[0])]
    calls += [("POST", f"{PODS}/odd/eviction", "application/json"), ("DELETE", f"{PODS}/odd", "application/json")]
    found = []
    headers = {"Authorization": f"Bearer {cluster.admin}"}
    async with aiohttp.ClientSession(cluster.url, headers=headers) as http:
        await http.post(PODS, json=pod("odd", node="10.0.0.1"))
        for method, path, kind in calls:
            async with http.request(method, path, data=body, headers={"Content-Type": kind}) as answer:
                await answer.json()
                found.append(answer.status)
    return found


async def test_given_any_json_when_sent_where_objects_are_expected_then_the_answer_is_json_and_no_crash() -> None:
    made = Cluster("", "")
    served = await serve(made.server.app())
    made.url, made.admin = served.url, made.tokens.issue("system:admin", (MASTERS,))
    loop = asyncio.get_running_loop()

    @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
    @given(value=JSON_VALUES)
    def hold(value: Any) -> None:
        statuses = asyncio.run_coroutine_threadsafe(ask(made, value), loop).result(30)

        assert len(statuses) == 7
        assert 500 not in statuses

    try:
        await asyncio.to_thread(hold)
    finally:
        await served.aclose()


# ------------------------------------------------------------------ server-side apply


def _deployment(*containers: str) -> dict[str, Any]:
    spec = {"containers": [{"name": name, "image": "registry.example.com/one:1"} for name in containers]}
    template = {"metadata": {"labels": {"app": "x"}}, "spec": spec}
    body = {"selector": {"matchLabels": {"app": "x"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}, "spec": body}


async def test_given_an_applied_list_item_when_it_is_applied_no_more_then_it_goes_with_its_defaults(
    cluster: Cluster,
) -> None:
    path = "/apis/apps/v1/namespaces/default/deployments/a?fieldManager=helm"
    for containers in (("main", "side"), ("main",)):
        found = await cluster.api.patch(path, _deployment(*containers), "application/apply-patch+yaml")

        assert tuple(row["name"] for row in found["spec"]["template"]["spec"]["containers"]) == containers
