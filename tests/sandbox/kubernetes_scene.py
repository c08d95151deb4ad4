"""A pretend cluster over TLS, real kubectl and helm against it, and a stand-in kubelet for their tests."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from sandbox.certificates import make_certificates
from sandbox.faults import Faults
from sandbox.journal import Journal
from sandbox.kubernetes.__main__ import kubeconfig, server_context
from sandbox.kubernetes.server import KubernetesServer
from sandbox.serving import serve
from sandbox.tokens import MASTERS, Tokens

TOOLS = Path(__file__).parents[2] / ".tools" / "bin"
LONGEST = 60.0  # seconds one command may take
TERMINATION = 0.3  # seconds between two looks of the stand-in kubelet

Json = dict[str, Any]


def tool(name: str) -> str:
    """Path of kubectl or helm; skips the test where there is none."""
    found = TOOLS / name if (TOOLS / name).exists() else shutil.which(name)
    if not found:
        pytest.skip(f"needs {name}: neither in {TOOLS.parent.name}/bin nor on PATH")
    return str(found)


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class Asked:
    """One request the server got."""

    method: str
    uri: str
    agent: str
    status: int
    body: bytes


@dataclass(slots=True)
class Scene:
    """One pretend cluster and the commands against it."""

    server: KubernetesServer
    url: str
    config: Path
    journal: Journal
    asked: list[Asked] = field(default_factory=list)

    async def run(self, name: str, *words: str, stdin: str = "") -> Ran:
        """Run kubectl or helm against this cluster."""
        home = str(self.config.parent)
        variables = {**os.environ, "KUBECONFIG": str(self.config), "HOME": home, "HELM_CACHE_HOME": home}
        process = await asyncio.create_subprocess_exec(
            tool(name),
            *words,
            env=variables,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(LONGEST):
                out, err = await process.communicate(stdin.encode())
        except (TimeoutError, asyncio.CancelledError):
            process.kill()
            await process.communicate()
            raise
        return Ran(process.returncode or 0, out.decode(), err.decode())

    async def kubectl(self, *words: str, stdin: str = "") -> Ran:
        return await self.run("kubectl", *words, stdin=stdin)

    async def helm(self, *words: str) -> Ran:
        return await self.run("helm", *words)

    def put(self, key: tuple[str, str], obj: Json) -> None:
        """Place an object directly into the store, as it is."""
        meta = obj["metadata"]
        meta.setdefault("uid", f"00000000-0000-4000-8000-{self.server.cluster.store.version:012d}")
        meta.setdefault("creationTimestamp", "2026-01-02T03:04:05Z")
        self.server.cluster.store.put(key, (meta.get("namespace", ""), meta["name"]), obj)

    def find(self, key: tuple[str, str], name: str, namespace: str = "") -> Json | None:
        record = self.server.cluster.store.get(key, (namespace, name))
        return record.obj if record else None

    def names(self, key: tuple[str, str]) -> list[str]:
        """Names of all objects of one resource."""
        return [place[1] for place, _ in self.server.cluster.store.items(key)]


@asynccontextmanager
async def scene() -> AsyncIterator[Scene]:
    """A cluster with a kubelet that ends pods and makes Deployments available."""
    tokens, journal, certificates = Tokens(), Journal(), make_certificates()
    server = KubernetesServer("scene", journal, Faults(), tokens, "v1.36.2")
    app = server.app()
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "config")
        made = Scene(server, "", config, journal)
        app.middlewares.append(_log(made.asked))
        served = await serve(app, ssl=server_context(certificates))
        made.url = served.url
        token = tokens.issue("system:admin", (MASTERS,))
        config.write_text(kubeconfig(served.url, token, certificates.authority), encoding="utf-8")
        config.chmod(0o600)
        kubelet = asyncio.create_task(_attend(server, made.asked))
        try:
            yield made
        finally:
            kubelet.cancel()
            await asyncio.wait([kubelet])
            await served.aclose()


def _log(asked: list[Asked]) -> Any:
    @web.middleware
    async def log(
        request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        response = await handler(request)
        agent, body = request.headers.get("User-Agent", ""), await request.read()
        asked.append(Asked(request.method, request.raw_path, agent, response.status, body))
        return response

    return log


async def _attend(server: KubernetesServer, asked: list[Asked]) -> None:
    """End pods that are being deleted once somebody has looked at them, and call every Deployment available."""
    store = server.cluster.store
    while True:
        await asyncio.sleep(TERMINATION)
        looked_at = {row.uri.rpartition("/")[2] for row in asked if row.method == "GET" and row.status == 200}
        for place, record in list(store.items(("", "pods"))):
            if record.obj["metadata"].get("deletionTimestamp") and place[1] in looked_at:
                store.remove(("", "pods"), place)
        for place, record in list(store.items(("apps", "deployments"))):
            generation, status = record.obj["metadata"]["generation"], record.obj.get("status") or {}
            if status.get("observedGeneration") != generation:
                new = record.copy()
                new["status"] = _available(record.obj["spec"].get("replicas", 0), generation)
                store.put(("apps", "deployments"), place, new)


def _available(replicas: int, generation: int) -> Json:
    times = {"lastUpdateTime": "2026-01-02T03:04:05Z", "lastTransitionTime": "2026-01-02T03:04:05Z"}
    return {
        "observedGeneration": generation,
        "replicas": replicas,
        "updatedReplicas": replicas,
        "readyReplicas": replicas,
        "availableReplicas": replicas,
        "conditions": [
            {"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable", "message": "", **times},
            {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable", "message": "", **times},
        ],
    }


def pod(name: str, node: str = "", owner: tuple[str, str] | None = None, **rest: Any) -> Json:
    """A running, ready pod; `owner`: kind and name of its controller."""
    meta: Json = {"name": name, "namespace": "work", "labels": {"app": name.partition("-")[0]}, **rest.pop("meta", {})}
    if owner:
        version = "v1" if owner[0] == "Node" else "batch/v1" if owner[0] == "Job" else "apps/v1"
        reference = {"apiVersion": version, "kind": owner[0], "name": owner[1], "uid": f"uid-of-{owner[1]}"}
        meta["ownerReferences"] = [{**reference, "controller": True, "blockOwnerDeletion": True}]
    spec = {"nodeName": node, "containers": [{"name": "main", "image": "busybox:1"}], **rest.pop("spec", {})}
    conditions = [{"type": "Ready", "status": "True"}]
    status = {"phase": rest.pop("phase", "Running"), "conditions": conditions, "qosClass": "BestEffort"}
    return {"kind": "Pod", "apiVersion": "v1", "metadata": meta, "spec": spec, "status": status}


def node(name: str, **spec: Any) -> Json:
    return {"kind": "Node", "apiVersion": "v1", "metadata": {"name": name}, "spec": spec, "status": {}}
