"""Fill a fresh API server with what a scenario says is there, and wait until its controllers have settled it.

An API client like any other; what a scenario holds is decided in its file.
"""

import asyncio
from collections.abc import Iterable
from typing import Any

from sandbox.iks.cloud import Cloud
from sandbox.iks.model import Cluster
from sandbox.iks.provisioning import machine_of
from sandbox.kubernetes_client import Api, ApiError
from sandbox.kubernetes_side import BINDING

SETTLED_WITHIN = 60.0
POLL = 0.1

Json = dict[str, Any]


class SeedingError(RuntimeError):
    """The cluster does not come to what the scenario says; the text names what is missing."""


async def seed(cloud: Cloud, cluster: Cluster, api: Api) -> None:
    """Create the nodes of the cluster's workers, IBM's binding and the scenario's objects."""
    for worker in cluster.workers.values():
        await cloud.side(cluster).join(machine_of(cluster, worker))
    for manifest in (BINDING, *cluster.seed.objects):
        await create(api, manifest)


async def create(api: Api, manifest: Json) -> None:
    """Create one object, wherever its kind lives; one that exists already is left alone."""
    path = await collection(api, manifest)
    try:
        await api.post(path, manifest)
    except ApiError as refused:
        if refused.status != 409:
            raise SeedingError(f"{manifest['kind']} {manifest['metadata']['name']}: {refused}") from refused


async def collection(api: Api, manifest: Json) -> str:
    """Find the path that objects of this kind are created at, by asking the server.

    Raises SeedingError when the server does not know the kind.
    """
    version = manifest["apiVersion"]
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    for row in (await api.get(root))["resources"]:
        if row["kind"] == manifest["kind"] and "/" not in row["name"]:
            namespace = manifest["metadata"].get("namespace", "default")
            return f"{root}/namespaces/{namespace}/{row['name']}" if row["namespaced"] else f"{root}/{row['name']}"
    raise SeedingError(f"the API server knows no {manifest['kind']} in {version}")


async def settle(api: Api) -> None:
    """Wait until nodes are Ready, Deployments complete and pods have found their state.

    Raises SeedingError when that takes too long.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + SETTLED_WITHIN
    while missing := await _missing(api):
        if loop.time() > deadline:
            raise SeedingError(f"the cluster does not settle: {', '.join(missing)}")
        await asyncio.sleep(POLL)


async def _missing(api: Api) -> list[str]:
    """Name what is not yet as it shall be."""
    nodes = (await api.get("/api/v1/nodes"))["items"]
    deployments = (await api.get("/apis/apps/v1/deployments"))["items"]
    pods = (await api.get("/api/v1/pods"))["items"]
    return [
        *(f"node {_name(node)}" for node in nodes if not _is(node, "Ready")),
        *(f"deployment {_name(item)}" for item in deployments if not _complete(item)),
        *(f"pod {_name(pod)}" for pod in pods if not _found_its_state(pod)),
    ]


def _complete(deployment: Json) -> bool:
    """Whether every replica exists; one that cannot be scheduled is a pod's matter."""
    status, wanted = deployment.get("status") or {}, deployment["spec"].get("replicas", 1)
    seen = status.get("observedGeneration", 0) >= deployment["metadata"].get("generation", 1)
    return bool(seen and status.get("replicas", 0) == wanted)


def _found_its_state(pod: Json) -> bool:
    phase = (pod.get("status") or {}).get("phase")
    if phase == "Running":
        return _is(pod, "Ready")
    return phase in ("Succeeded", "Failed") or _is(pod, "PodScheduled", "False")


def _is(item: Json, kind: str, wanted: str = "True") -> bool:
    rows: Iterable[Json] = (item.get("status") or {}).get("conditions") or ()
    return any(row["type"] == kind and row["status"] == wanted for row in rows)


def _name(item: Json) -> str:
    return str(item["metadata"]["name"])
