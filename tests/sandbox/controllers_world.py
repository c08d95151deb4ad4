"""A cluster for the tests of its inside: the pretend API server over TLS, the controllers, real helm if asked for."""

import asyncio
import contextlib
import json
import os
import shutil
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from sandbox.certificates import make_certificates
from sandbox.controllers.afflictions import Afflictions
from sandbox.controllers.nodes import node_manifest
from sandbox.controllers.run import run_controllers
from sandbox.faults import Faults
from sandbox.helm_repository.server import HelmRepository
from sandbox.journal import Journal
from sandbox.kubernetes.server import KubernetesServer
from sandbox.kubernetes_client import Api, ApiError
from sandbox.scenario import load
from sandbox.serving import serve
from sandbox.tokens import Tokens

Json = dict[str, Any]

ROOT = Path(__file__).parents[2]
SPEED = 100.0
DEADLINE = 90.0
OPT_OUT = {"nvidia.com/gpu.deploy.operands": "false", "nvidia.com/gpu.deploy.driver": "false"}
PODS = "/api/v1/namespaces/default/pods"
OPERATOR_PODS = "/api/v1/namespaces/gpu-operator/pods"
NODES = "/api/v1/nodes"


@dataclass(slots=True)
class Inside:
    """A running cluster. `readies`: "node/app" of operand pods in the order in which they first got Ready."""

    api: Api
    afflictions: Afflictions
    journal: Journal
    folder: Path
    repository: str
    server: KubernetesServer
    tokens: Tokens
    issued: list[str] = field(default_factory=list)  # tokens of the controllers
    readies: list[str] = field(default_factory=list)

    def issue(self, user: str, groups: tuple[str, ...]) -> str:
        """Make a token for a part of the controllers."""
        self.issued.append(self.tokens.issue(user, groups))
        return self.issued[-1]

    def revoke_controllers(self) -> None:
        """Make all tokens of the controllers worthless."""
        for token in self.issued:
            self.tokens.revoke(token)

    async def node(self, ip: str, version: str, labels: dict[str, str] | None = None) -> None:
        """Let a worker with one L4 join."""
        old = version.startswith("1.35")
        place = ("p1", "default", "us-south-1", "UBUNTU_24_64")
        manifest = node_manifest(f"test-x-{ip}", ip, "gx3.16x80.l4", version, *place, labels, {}, old)
        await self.api.post(NODES, manifest)

    async def deployment(self, name: str, replicas: int, *, gpus: int = 1) -> None:
        """Create a Deployment whose pods ask for GPUs."""
        resources = {"limits": {"nvidia.com/gpu": str(gpus)}} if gpus else {}
        container = {"name": "main", "image": "registry.invalid/burn:1", "resources": resources}
        template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}}
        selector = {"matchLabels": {"app": name}}
        spec = {"replicas": replicas, "selector": selector, "template": template}
        body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}
        await self.api.post("/apis/apps/v1/namespaces/default/deployments", body)

    async def items(self, path: str) -> list[Json]:
        try:
            return list((await self.api.get(path))["items"])
        except ApiError as refused:
            if refused.status != 404:
                raise
            return []

    async def placed(self, path: str = PODS) -> list[tuple[str, str]]:
        """Node and phase of each pod that nobody deletes, sorted."""
        pods = [pod for pod in await self.items(path) if not pod["metadata"].get("deletionTimestamp")]
        return sorted((pod["spec"].get("nodeName") or "", pod["status"]["phase"]) for pod in pods)

    async def labels(self, ip: str) -> dict[str, str]:
        found: dict[str, str] = (await self.api.get(f"{NODES}/{ip}"))["metadata"]["labels"]
        return found

    async def helm(self, *words: str) -> None:
        """Run helm against the cluster; it must succeed."""
        own = ROOT / ".tools" / "bin" / "helm"
        binary = str(own) if own.exists() else shutil.which("helm")
        if binary is None:
            pytest.skip("needs helm: make tools")
        homes = {f"HELM_{kind}_HOME": str(self.folder / kind) for kind in ("CACHE", "CONFIG", "DATA")}
        env = {**os.environ, **homes, "KUBECONFIG": str(self.folder / "kubeconfig")}
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(binary, *words, env=env, stdout=pipe, stderr=pipe)
        async with asyncio.timeout(DEADLINE):
            _, told = await process.communicate()
        assert process.returncode == 0, told.decode()

    async def install(self, *options: str) -> None:
        """Install the stand-in chart and wait for its workloads."""
        chart = ("gpu-operator", "gpu-operator", "--repo", self.repository, "--version", "v26.7.0")
        place = ("-n", "gpu-operator", "--create-namespace", "--wait=legacy", "--timeout", "80s")
        await self.helm("install", *chart, *place, *options)

    async def listen(self) -> None:
        """Note in which order operand pods get Ready, until cancelled."""
        async for kind, pod in self.api.watch("/api/v1/pods", "0"):
            if kind not in ("ADDED", "MODIFIED"):
                continue
            rows = pod.get("status", {}).get("conditions") or ()
            ready = any(row["type"] == "Ready" and row["status"] == "True" for row in rows)
            key = f"{pod['spec'].get('nodeName')}/{pod['metadata'].get('labels', {}).get('app')}"
            if ready and key not in self.readies:
                self.readies.append(key)


async def until(holds: Callable[[], Awaitable[bool]], what: str) -> None:
    """Wait until something is so.

    Raises AssertionError with `what` when it is not within the deadline.
    """
    end = time.monotonic() + DEADLINE
    while not await holds():
        assert time.monotonic() < end, what
        await asyncio.sleep(0.1)


@contextlib.asynccontextmanager
async def inside(folder: Path) -> AsyncIterator[Inside]:
    """A cluster with controllers at SPEED, taken down at the end."""
    journal, tokens, afflictions = Journal(), Tokens(), Afflictions()
    papers = make_certificates()
    for name, text in (("server.pem", papers.server), ("key.pem", papers.key), ("ca.pem", papers.authority)):
        (folder / name).write_text(text, encoding="utf-8")
    serving = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    serving.load_cert_chain(folder / "server.pem", folder / "key.pem")
    trust = ssl.create_default_context(cadata=papers.authority)
    server = KubernetesServer("c", journal, Faults(), tokens, "v1.36.0+IKS")
    served = await serve(server.app(), ssl=serving)
    repository = await serve(HelmRepository(Faults()).app())
    token = tokens.issue("system:admin", ("system:masters",))
    _write_kubeconfig(folder, served.url, token)
    api = Api(served.url, token, trust)
    one = Inside(api, afflictions, journal, folder, repository.url, server, tokens)
    scenario = replace(load("guide-example-2"), speed=SPEED)
    work = asyncio.create_task(
        run_controllers(served.url, one.issue, scenario, afflictions=afflictions, ssl=trust), name="controllers"
    )
    listening = asyncio.create_task(one.listen(), name="listener")
    try:
        yield one
    finally:
        work.cancel()
        listening.cancel()
        await asyncio.wait([work, listening])
        await api.aclose()
        await repository.aclose()
        await served.aclose()


def _write_kubeconfig(folder: Path, url: str, token: str) -> None:
    cluster = {"server": url, "certificate-authority": str(folder / "ca.pem")}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {"token": token}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "c",
    }
    path = folder / "kubeconfig"
    path.touch(mode=0o600)
    path.write_text(json.dumps(config), encoding="utf-8")
