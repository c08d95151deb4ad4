"""What the pretend control plane tidies by itself: dependents, namespaces, definitions."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import pytest_asyncio

from sandbox.faults import Faults
from sandbox.journal import Journal
from sandbox.kubernetes.server import KubernetesServer
from sandbox.kubernetes_client import Api, ApiError
from sandbox.serving import serve
from sandbox.tokens import MASTERS, Tokens
from tests.sandbox.conformance.objects import config_map, crd, pod

MAPS = "/api/v1/namespaces/default/configmaps"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

Json = dict[str, Any]


class Cluster:
    """A pretend cluster and an administrator's client of it."""

    def __init__(self, server: KubernetesServer, api: Api) -> None:
        self.server, self.api = server, api

    def names(self, plural: str, namespace: str = "") -> list[str]:
        return [place[1] for place, _ in self.server.cluster.store.items(("", plural), namespace)]

    def meta(self, name: str) -> Json:
        """Metadata of a ConfigMap; empty when it is gone."""
        record = self.server.cluster.store.get(("", "configmaps"), ("default", name))
        return record.obj["metadata"] if record else {}

    async def child(self, name: str, owner: Json, **more: Any) -> Json:
        meta = owner["metadata"]
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": meta["name"], "uid": meta["uid"], **more}
        return await self.api.post(MAPS, config_map(name, ownerReferences=[reference]))


async def until(holds: Callable[[], bool], seconds: float = 5.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "not in time"
        await asyncio.sleep(0.01)


@pytest_asyncio.fixture
async def cluster() -> AsyncIterator[Cluster]:
    tokens = Tokens()
    server = KubernetesServer("tidy", Journal(), Faults(), tokens)
    served = await serve(server.app())
    api = Api(served.url, tokens.issue("system:admin", (MASTERS,)))
    yield Cluster(server, api)
    await api.aclose()
    await served.aclose()


async def test_given_dependents_when_their_owner_goes_then_they_go_and_theirs_too(cluster: Cluster) -> None:
    owner = await cluster.api.post(MAPS, config_map("owner"))
    child = await cluster.child("child", owner)
    await cluster.child("grandchild", child)
    await cluster.api.post(MAPS, config_map("bystander"))

    await cluster.api.delete(f"{MAPS}/owner")

    await until(lambda: cluster.names("configmaps", "default") == ["bystander"])


async def test_given_two_owners_when_one_goes_then_the_dependent_stays_with_the_other(cluster: Cluster) -> None:
    owners = [await cluster.api.post(MAPS, config_map(name)) for name in ("one", "two")]
    rows = [{"apiVersion": "v1", "kind": "ConfigMap", **{k: o["metadata"][k] for k in ("name", "uid")}} for o in owners]
    await cluster.api.post(MAPS, config_map("child", ownerReferences=rows))

    await cluster.api.delete(f"{MAPS}/one")

    await until(lambda: [o["name"] for o in cluster.meta("child")["ownerReferences"]] == ["two"])


async def test_given_a_foreground_deletion_when_a_dependent_blocks_then_the_owner_waits_for_it(
    cluster: Cluster,
) -> None:
    owner = await cluster.api.post(MAPS, config_map("owner"))
    await cluster.child("child", owner, blockOwnerDeletion=True)
    hold = {"metadata": {"finalizers": ["example.com/hold"]}}
    await cluster.api.patch(f"{MAPS}/child", hold)

    await cluster.api.delete(f"{MAPS}/owner", {"propagationPolicy": "Foreground"})
    await until(lambda: "deletionTimestamp" in cluster.meta("child"))
    waiting = cluster.names("configmaps", "default")
    await cluster.api.patch(f"{MAPS}/child", {"metadata": {"finalizers": None}})

    assert waiting == ["child", "owner"]
    await until(lambda: cluster.names("configmaps", "default") == [])


async def test_given_an_orphaning_deletion_when_the_owner_goes_then_dependents_forget_it(cluster: Cluster) -> None:
    owner = await cluster.api.post(MAPS, config_map("owner"))
    await cluster.child("child", owner)

    await cluster.api.delete(f"{MAPS}/owner", {"propagationPolicy": "Orphan"})

    await until(lambda: cluster.names("configmaps", "default") == ["child"])
    assert not (await cluster.api.get(f"{MAPS}/child"))["metadata"].get("ownerReferences")


async def test_given_a_namespace_with_a_running_pod_when_deleted_then_it_goes_after_the_pod(cluster: Cluster) -> None:
    await cluster.api.post("/api/v1/namespaces", {"metadata": {"name": "work"}})
    await cluster.api.post("/api/v1/namespaces/work/configmaps", config_map("a"))
    await cluster.api.post("/api/v1/namespaces/work/pods", pod("p", node="10.0.0.1"))

    await cluster.api.delete("/api/v1/namespaces/work")
    await until(lambda: cluster.names("configmaps", "work") == [])
    still = (cluster.names("pods", "work"), "work" in cluster.names("namespaces"))
    await cluster.api.delete("/api/v1/namespaces/work/pods/p", {"gracePeriodSeconds": 0})

    assert still == (["p"], True)
    await until(lambda: "work" not in cluster.names("namespaces"))


async def test_given_custom_objects_when_their_definition_goes_then_they_go_and_the_path_too(cluster: Cluster) -> None:
    await cluster.api.post(CRDS, crd("example.com"))
    registry = cluster.server.cluster.registry
    await until(lambda: registry.find("example.com", "v1", "widgets") is not None)
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"size": 1}}
    await cluster.api.post("/apis/example.com/v1/namespaces/default/widgets", widget)

    await cluster.api.delete(f"{CRDS}/widgets.example.com")

    await until(lambda: registry.find("example.com", "v1", "widgets") is None)
    with pytest.raises(ApiError) as refused:
        await cluster.api.get("/apis/example.com/v1/namespaces/default/widgets/w")
    assert refused.value.status == 404


async def test_given_a_definition_with_two_versions_when_read_by_either_then_the_version_is_the_one_asked_for(
    cluster: Cluster,
) -> None:
    definition = crd("example.com")
    old = {**definition["spec"]["versions"][0], "name": "v1alpha1", "storage": False}
    definition["spec"]["versions"].append(old)
    await cluster.api.post(CRDS, definition)
    await until(lambda: cluster.server.cluster.registry.find("example.com", "v1alpha1", "widgets") is not None)
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"size": 1}}
    await cluster.api.post("/apis/example.com/v1/namespaces/default/widgets", widget)

    got = await cluster.api.get("/apis/example.com/v1alpha1/namespaces/default/widgets/w")

    assert (got["apiVersion"], got["spec"]["size"]) == ("example.com/v1alpha1", 1)
