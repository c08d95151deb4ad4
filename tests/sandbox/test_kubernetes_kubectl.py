"""Real kubectl against the pretend API server: reading, labelling, cordoning, draining, deleting."""

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.sandbox.kubernetes_scene import Scene, node, pod, scene

NODE = "10.1.2.3"


@pytest_asyncio.fixture
async def cluster() -> AsyncIterator[Scene]:
    async with scene() as made:
        made.put(("", "namespaces"), _namespace())
        made.put(("", "nodes"), node(NODE))
        yield made


def _namespace() -> dict[str, Any]:
    body = {"spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}}
    return {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "work"}, **body}


async def test_given_objects_when_kubectl_gets_and_describes_them_then_it_prints_them(cluster: Scene) -> None:
    cluster.put(("", "pods"), pod("web-aaaaa", NODE, ("ReplicaSet", "web-rs")))

    listed = await cluster.kubectl("get", "nodes,pods", "-A", "-o", "wide")
    described = await cluster.kubectl("describe", "pod", "-n", "work", "web-aaaaa")
    described_node = await cluster.kubectl("describe", "node", NODE)

    assert re.search(rf"node/{NODE}\s+Unknown", listed.out), listed.err
    assert re.search(r"work\s+pod/web-aaaaa\s+0/1\s+Running", listed.out)
    assert "Controlled By:  ReplicaSet/web-rs" in described.out, described.err
    assert "Non-terminated Pods:          (1 in total)" in described_node.out, described_node.err


async def test_given_a_node_when_kubectl_labels_and_taints_it_then_the_node_has_them(cluster: Scene) -> None:
    ran = [
        await cluster.kubectl("label", "node", NODE, "nvidia.com/gpu.deploy.operands=false"),
        await cluster.kubectl("taint", "node", NODE, "gpu=yes:NoSchedule"),
        await cluster.kubectl("label", "node", NODE, "nvidia.com/gpu.deploy.operands-"),
    ]

    found = cluster.find(("", "nodes"), NODE) or {}
    assert [r.code for r in ran] == [0, 0, 0], [r.err for r in ran]
    assert found["spec"]["taints"] == [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]
    assert not found["metadata"].get("labels")


MANIFEST = """
apiVersion: v1
kind: Namespace
metadata: {name: fresh}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: burn, namespace: fresh}
spec:
  replicas: 1
  selector: {matchLabels: {app: burn}}
  template:
    metadata: {labels: {app: burn}}
    spec: {containers: [{name: burn, image: "busybox:1", resources: {limits: {nvidia.com/gpu: 1}}}]}
"""


@pytest.mark.parametrize("side", ["--server-side=false", "--server-side=true"])
async def test_given_a_manifest_when_applied_twice_and_deleted_then_it_is_there_and_gone(
    cluster: Scene, side: str
) -> None:
    first = await cluster.kubectl("apply", side, "-f", "-", stdin=MANIFEST)
    again = await cluster.kubectl("apply", side, "-f", "-", stdin=MANIFEST.replace("replicas: 1", "replicas: 2"))
    made = cluster.find(("apps", "deployments"), "burn", "fresh") or {}
    rolled = await cluster.kubectl("rollout", "status", "-n", "fresh", "deployment/burn", "--timeout=20s")
    deleted = await cluster.kubectl("delete", "namespace", "fresh", "--timeout=20s")

    assert [r.code for r in (first, again, rolled, deleted)] == [0] * 4, [
        r.err for r in (first, again, rolled, deleted)
    ]
    assert made["spec"]["replicas"] == 2
    limits = made["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]
    assert limits == {"nvidia.com/gpu": "1"}
    assert cluster.find(("", "namespaces"), "fresh") is None
    assert cluster.find(("apps", "deployments"), "burn", "fresh") is None


async def test_given_rights_in_one_namespace_when_kubectl_asks_then_can_i_tells_them(cluster: Scene) -> None:
    for words in (
        ("create", "serviceaccount", "bot", "-n", "work"),
        ("create", "role", "reader", "-n", "work", "--verb=get,list", "--resource=pods"),
        ("create", "rolebinding", "reader", "-n", "work", "--role=reader", "--serviceaccount=work:bot"),
    ):
        ran = await cluster.kubectl(*words)
        assert ran.code == 0, ran.err
    token = (await cluster.kubectl("create", "token", "-n", "work", "bot")).out.strip()

    who = await cluster.kubectl("--token", token, "auth", "whoami", "-o", "jsonpath={.status.userInfo.username}")
    allowed = await cluster.kubectl("--token", token, "auth", "can-i", "list", "pods", "-n", "work")
    refused = await cluster.kubectl("--token", token, "get", "pods", "-A")

    assert who.out == "system:serviceaccount:work:bot", who.err
    assert allowed.out.strip() == "yes"
    assert "cannot list resource" in refused.err
