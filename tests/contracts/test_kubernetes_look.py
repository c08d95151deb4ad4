"""The Kubernetes port's look, on a pretend cluster over real HTTP."""

import asyncio
import base64
import gzip
import json
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from sandbox.tokens import MASTERS
from state.errors import PermanentError
from state.reasons import Code
from tests.contracts.pretend_cluster import GPU, Pretend, deployment, eventually, node, pod, pretend_cluster

PODS = "/api/v1/namespaces/default/pods"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
REPLICA_SETS = "/apis/apps/v1/namespaces/default/replicasets"


@pytest.fixture
async def world() -> AsyncIterator[Pretend]:
    async with pretend_cluster() as made:
        yield made


async def test_given_an_empty_cluster_when_looked_at_then_only_its_version_is_there(world: Pretend) -> None:
    view = await world.ours.look()

    assert view.version == "v1.35.4+IKS"
    assert (view.nodes, view.pods, view.workloads, view.releases, view.foreign) == ((), (), (), (), ())
    assert view.may_not == ()


async def test_given_a_gpu_node_when_looked_at_then_it_is_joined_by_worker_id(world: Pretend) -> None:
    made = await world.put("/api/v1/nodes", node("10.240.0.64", gpus=2, worker="kube-1"))

    seen = (await world.ours.look()).nodes[0]

    assert (seen.name, seen.uid, seen.worker_id) == ("10.240.0.64", made["metadata"]["uid"], "kube-1")
    assert (seen.allocatable, seen.capacity, seen.ready) == ({GPU: 2}, {GPU: 2}, True)
    assert seen.kubelet_version == "v1.35.4+IKS"
    assert seen.ready_since is not None


async def test_given_pods_when_looked_at_then_those_of_gpu_nodes_and_of_gpus_and_of_the_operator_are_kept(
    world: Pretend,
) -> None:
    await world.put("/api/v1/nodes", node("gpu-node"))
    await world.put("/api/v1/nodes", node("cpu-node", gpus=None))
    await world.admin.post("/api/v1/namespaces", {"metadata": {"name": "gpu-operator"}})
    await world.put(PODS, pod("on-gpu-node", on="gpu-node", gpus=0))
    await world.put(PODS, pod("on-cpu-node", on="cpu-node", gpus=0))
    await world.put(PODS, pod("pending"))
    operator = pod("gpu-operator-1", on="cpu-node", gpus=0, labels={"app": "gpu-operator"})
    operator["metadata"]["namespace"] = "gpu-operator"
    await world.put("/api/v1/namespaces/gpu-operator/pods", operator)

    pods = {found.name: found for found in (await world.ours.look()).pods}

    assert sorted(pods) == ["gpu-operator-1", "on-gpu-node", "pending"]
    assert pods["gpu-operator-1"].app == "gpu-operator"
    assert pods["pending"].gpus == {GPU: 1}


async def test_given_a_deployment_when_looked_at_then_its_pod_belongs_to_it_and_it_is_counted_once(
    world: Pretend,
) -> None:
    made = await world.put(DEPLOYMENTS, deployment("gpu-burn", 2, available=1))
    above = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "gpu-burn", "controller": True}
    replica_set = deployment("gpu-burn-7c9", 2, available=1)
    replica_set["kind"] = "ReplicaSet"
    replica_set["metadata"]["ownerReferences"] = [{**above, "uid": made["metadata"]["uid"]}]
    step = await world.put(REPLICA_SETS, replica_set)
    reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "gpu-burn-7c9", "controller": True}
    await world.put(PODS, pod("gpu-burn-7c9-a", owner={**reference, "uid": step["metadata"]["uid"]}))

    view = await world.ours.look()

    assert [str(found.owner) for found in view.pods] == ["Deployment default/gpu-burn"]
    assert [(str(w.owner), w.desired, w.available, dict(w.gpus)) for w in view.workloads] == [
        ("Deployment default/gpu-burn", 2, 1, {GPU: 1})
    ]


async def test_given_a_helm_release_when_looked_at_then_its_newest_revision_is_told(world: Pretend) -> None:
    await world.admin.post("/api/v1/namespaces", {"metadata": {"name": "gpu-operator"}})
    for number, status in ((1, "superseded"), (2, "failed")):
        await _release(world, "gpu-operator", number, status, chart="gpu-operator")
    await _release(world, "web", 1, "deployed", chart="nginx")

    releases = (await world.ours.look()).releases

    assert [(found.name, found.namespace, found.revision, found.status) for found in releases] == [
        ("gpu-operator", "gpu-operator", 2, "failed")
    ]
    assert releases[0].chart == "gpu-operator-v26.7.0"
    assert releases[0].chart_version == "26.7.0"
    assert releases[0].updated_at is not None


async def test_given_a_secret_that_is_no_release_when_looked_at_then_its_labels_are_all_that_is_told(
    world: Pretend,
) -> None:
    await world.admin.post("/api/v1/namespaces", {"metadata": {"name": "gpu-operator"}})
    await _release(world, "gpu-operator", 1, "pending-install", chart="gpu-operator", data=b"not a release")

    releases = (await world.ours.look()).releases

    assert [(found.status, found.chart) for found in releases] == [("pending-install", "")]


async def test_given_a_mark_when_looked_at_then_its_facts_are_told(world: Pretend) -> None:
    ours = await world.ours.claim({"run": "r-1", "fence": "7", "seconds": "60"}, "bot-1")
    seen = (await world.ours.look()).marker
    theirs = await world.ours.claim({"run": "r-2", "fence": "1", "seconds": "60"}, "bot-2")
    renewed = await world.ours.claim({"run": "r-1", "fence": "8", "seconds": "60"}, "bot-1")
    await world.ours.unclaim("r-2")
    left = (await world.ours.look()).marker
    await world.ours.unclaim("r-1")

    assert seen == ours == {"gpu-migrate/run": "r-1", "gpu-migrate/fence": "7", "gpu-migrate/seconds": "60"}
    assert theirs == ours  # a fresh mark of another run stays
    assert left == renewed == {**ours, "gpu-migrate/fence": "8"}
    assert (await world.ours.look()).marker == {}


async def test_given_two_bots_at_once_when_both_claim_a_cluster_then_one_of_them_has_it(world: Pretend) -> None:
    claims = (world.ours.claim({"run": f"r-{number}", "seconds": "60"}, f"bot-{number}") for number in range(4))
    found = await asyncio.gather(*claims)

    assert len({there["gpu-migrate/run"] for there in found}) == 1


async def test_given_a_user_without_rights_when_looking_then_the_refusal_is_permanent() -> None:
    async with pretend_cluster(groups=()) as world:
        with pytest.raises(PermanentError) as caught:
            await world.ours.look()

        assert caught.value.reason.code is Code.API_REFUSED
        assert caught.value.reason.facts["status"] == 403


async def test_given_a_user_who_may_read_only_nodes_and_pods_when_looking_then_what_is_missing_is_named() -> None:
    async with pretend_cluster(groups=("readers",)) as world:
        await _allow(world, "readers", ["nodes", "pods"], ["get", "list", "watch"])

        view = await world.ours.look()

        assert "list secrets" in view.may_not
        assert "create pods/eviction" in view.may_not
        assert "patch nodes" in view.may_not
        assert "watch pods" not in view.may_not


async def test_given_a_token_that_ends_when_looking_then_a_fresh_kubeconfig_is_fetched_once(world: Pretend) -> None:
    world.life = timedelta(seconds=10)  # so two fetches may follow each other within a second
    await world.ours.look()
    world.tokens.revoke(world.token)
    world.token = world.tokens.issue("again", (MASTERS,))

    view = await eventually(lambda: world.ours.look(fresh=True))

    assert view.version
    assert len(world.fetched) == 2


async def _release(
    world: Pretend, name: str, number: int, status: str, *, chart: str, data: bytes | None = None
) -> None:
    inside = {
        "name": name,
        "info": {"status": status, "last_deployed": "2026-12-01T10:00:00.123456789Z"},
        "chart": {"metadata": {"name": chart, "version": "v26.7.0"}},
    }
    packed = base64.b64encode(gzip.compress(json.dumps(inside).encode())) if data is None else data
    body = {
        "type": "helm.sh/release.v1",
        "metadata": {
            "name": f"sh.helm.release.v1.{name}.v{number}",
            "labels": {
                "owner": "helm",
                "name": name,
                "status": status,
                "version": str(number),
                "modifiedAt": "1780000000",
            },
        },
        "data": {"release": base64.b64encode(packed).decode()},
    }
    namespace = "gpu-operator" if name == "gpu-operator" else "default"
    await world.admin.post(f"/api/v1/namespaces/{namespace}/secrets", body)


async def _allow(world: Pretend, group: str, resources: list[str], verbs: list[str]) -> None:
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    rules = [{"apiGroups": [""], "resources": resources, "verbs": verbs}]
    await world.admin.post(f"{rbac}/clusterroles", {"metadata": {"name": group}, "rules": rules})
    await world.admin.post(
        f"{rbac}/clusterrolebindings",
        {
            "metadata": {"name": group},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": group},
            "subjects": [{"kind": "Group", "name": group, "apiGroup": "rbac.authorization.k8s.io"}],
        },
    )
