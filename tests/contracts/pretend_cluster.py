"""A pretend cluster and our adapter on it, for the contract tests of the Kubernetes port."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from bot.adapters.kubeconfigs import Kubeconfig, KubeconfigCache
from bot.adapters.kubernetes.cluster import KubernetesCluster
from bot.adapters.kubernetes.settings import Settings
from sandbox.faults import Faults
from sandbox.journal import Journal
from sandbox.kubernetes.server import KubernetesServer
from sandbox.kubernetes_client import Api
from sandbox.serving import serve
from sandbox.tokens import MASTERS, Tokens
from state.errors import TransientError

T = TypeVar("T")
Json = dict[str, Any]
BOT = "IAM#bot@example.com"
GPU = "nvidia.com/gpu"


def kubeconfig(server: str, token: str) -> bytes:
    """Write a kubeconfig as IKS does for a user who is no administrator."""
    user = {"auth-provider": {"name": "oidc", "config": {"client-id": "kube", "id-token": token}}}
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": {"server": server}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
            "users": [{"name": "u", "user": user}],
        }
    ).encode()


@dataclass
class Pretend:
    """One pretend cluster with an administrator's client and the adapter under test."""

    server: KubernetesServer
    url: str
    tokens: Tokens
    journal: Journal
    faults: Faults
    admin: Api
    ours: KubernetesCluster
    token: str
    fetched: list[str] = field(default_factory=list)
    life: timedelta | None = None

    async def put(self, path: str, body: Json) -> Json:
        """Create an object, and its status where it has one."""
        made = await self.admin.post(path, body)
        if "status" not in body:
            return made
        name = made["metadata"]["name"]
        return await self.admin.patch(
            f"{path}/{name}/status", {"status": body["status"]}, "application/merge-patch+json"
        )


async def eventually(call: Callable[[], Awaitable[T]], seconds: float = 5) -> T:
    """Repeat a call until it does not raise TransientError any more."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return await call()
        except TransientError:
            if time.monotonic() > deadline:
                raise
        await asyncio.sleep(0.05)


async def until(true: Callable[[], bool], seconds: float = 5) -> float:
    """Wait until something holds; gives the seconds it took."""
    began = time.monotonic()
    while not true():
        if time.monotonic() - began > seconds:
            raise AssertionError(f"not within {seconds} s")
        await asyncio.sleep(0.005)
    return time.monotonic() - began


@asynccontextmanager
async def pretend_cluster(
    groups: tuple[str, ...] = (MASTERS,), settings: Settings | None = None
) -> AsyncIterator[Pretend]:
    """Serve an empty cluster; the adapter's user has these groups."""
    tokens, journal, faults = Tokens(), Journal(), Faults()
    server = KubernetesServer("pretend", journal, faults, tokens)
    served = await serve(server.app())
    admin = Api(served.url, tokens.issue("system:admin", (MASTERS,)))
    token = tokens.issue(BOT, groups)

    async def fetch() -> Kubeconfig:
        world.fetched.append(world.token)
        now = datetime.now(UTC)
        return Kubeconfig(kubeconfig(served.url, world.token), now, now + world.life if world.life else None)

    ours = KubernetesCluster(KubeconfigCache(fetch), clock=lambda: datetime.now(UTC), settings=settings or Settings())
    world = Pretend(server, served.url, tokens, journal, faults, admin, ours, token)
    try:
        yield world
    finally:
        await ours.aclose()
        await admin.aclose()
        await served.aclose()


def node(name: str, *, gpus: int | None = 1, worker: str = "w-1", labels: Json | None = None) -> Json:
    amounts = {"cpu": "16", "pods": "110"} | ({} if gpus is None else {GPU: str(gpus)})
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name, "ibm-cloud.kubernetes.io/worker-id": worker, **(labels or {})},
        },
        "spec": {},
        "status": {
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-20T09:14:02Z"}],
            "nodeInfo": {"kubeletVersion": "v1.35.4+IKS"},
        },
    }


def pod(name: str, *, on: str = "", gpus: int = 1, labels: Json | None = None, owner: Json | None = None) -> Json:
    container: Json = {"name": "main", "image": "icr.io/x/y:1"}
    if gpus:
        container["resources"] = {"limits": {GPU: str(gpus)}}
    metadata: Json = {"name": name, "namespace": "default", "labels": labels or {}}
    if owner:
        metadata["ownerReferences"] = [owner]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [container]} | ({"nodeName": on} if on else {}),
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }


def deployment(name: str, replicas: int, *, gpus: int = 1, available: int = 0) -> Json:
    labels = {"app": name}
    template = pod(name, gpus=gpus, labels=labels)
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": template["spec"]},
        },
        "status": {"availableReplicas": available, "readyReplicas": available, "replicas": replicas},
    }
