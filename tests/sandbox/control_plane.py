"""A real etcd, kube-apiserver, controller manager and scheduler on loopback, for the tests marked `control_plane`.

It runs binaries that are there: those of KUBEBUILDER_ASSETS, or those that `make control-plane` built. Without them the
tests skip and say so.
"""

import asyncio
import contextlib
import json
import os
import secrets
import socket
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import aiohttp
import pytest

from sandbox.certificates import make_certificates
from tools.build_control_plane import ENOUGH, cache

LONGEST_START = 120.0
GIVEN = "KUBEBUILDER_ASSETS"


def assets() -> Path:
    """The folder with the binaries; skips the test where there is none."""
    folder = Path(os.environ.get(GIVEN) or cache())
    if not all((folder / name).exists() for name in ENOUGH):
        pytest.skip(f"needs a real control plane: set {GIVEN} or run `make control-plane`")
    return folder


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass(slots=True)
class ControlPlane:
    """One running control plane: addresses, tokens, its processes."""

    binaries: Path
    folder: Path
    etcd: str = ""
    url: str = ""
    admin: str = field(default_factory=lambda: secrets.token_hex(16))
    other: str = field(default_factory=lambda: secrets.token_hex(16))
    processes: list[asyncio.subprocess.Process] = field(default_factory=list)
    logs: list[IO[bytes]] = field(default_factory=list)

    async def start(self, *, controllers: bool) -> None:
        """Start everything and wait until the API server is ready."""
        await self._start_etcd()
        await self._start_server(controllers=controllers)
        await self._ready()
        if controllers:
            await self._start_controllers()

    async def _run(self, name: str, *words: str) -> None:
        log = (self.folder / f"{name}.log").open("wb")
        self.logs.append(log)
        process = await asyncio.create_subprocess_exec(str(self.binaries / name), *words, stdout=log, stderr=log)
        self.processes.append(process)

    async def _start_etcd(self) -> None:
        self.etcd, peers = (f"http://127.0.0.1:{_free_port()}" for _ in range(2))
        await self._run(
            "etcd",
            f"--data-dir={self.folder / 'etcd'}",
            *(f"--{word}-client-urls={self.etcd}" for word in ("listen", "advertise")),
            *(f"--{word}-peer-urls={peers}" for word in ("listen", "initial-advertise")),
            f"--initial-cluster=default={peers}",
            "--unsafe-no-fsync",
        )

    async def _start_server(self, *, controllers: bool) -> None:
        port, key = _free_port(), self.folder / "accounts.key"
        key.write_text(make_certificates().key, encoding="utf-8")
        users = [f'{self.admin},admin,admin,"system:masters"', f'{self.other},migration-bot,bot,"chatops"']
        (self.folder / "tokens.csv").write_text("\n".join(users) + "\n", encoding="utf-8")
        self.url = f"https://127.0.0.1:{port}"
        await self._run(
            "kube-apiserver",
            f"--etcd-servers={self.etcd}",
            *("--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", f"--secure-port={port}"),
            f"--cert-dir={self.folder / 'certs'}",
            f"--token-auth-file={self.folder / 'tokens.csv'}",
            "--authorization-mode=RBAC",
            "--service-cluster-ip-range=10.96.0.0/24",
            "--allow-privileged=true",
            *(f"--service-account-{word}key-file={key}" for word in ("", "signing-")),
            "--service-account-issuer=https://kubernetes.default.svc",
            "--endpoint-reconciler-type=none",
            *(() if controllers else ("--disable-admission-plugins=ServiceAccount",)),
        )

    async def _start_controllers(self) -> None:
        common = (f"--kubeconfig={self.kubeconfig()}", "--leader-elect=false", "--bind-address=127.0.0.1")
        accounts = f"--service-account-private-key-file={self.folder / 'accounts.key'}"
        for name, words in (
            ("kube-controller-manager", (accounts, "--node-monitor-grace-period=240h")),
            ("kube-scheduler", ()),
        ):
            if (self.binaries / name).exists():
                folder = f"--cert-dir={self.folder / name}"
                await self._run(name, *common, f"--secure-port={_free_port()}", folder, *words)

    async def _ready(self) -> None:
        deadline = time.monotonic() + LONGEST_START
        headers = {"Authorization": f"Bearer {self.admin}"}
        async with aiohttp.ClientSession(headers=headers, timeout=aiohttp.ClientTimeout(total=5)) as http:
            while time.monotonic() < deadline:
                dead = [p.returncode for p in self.processes if p.returncode is not None]
                assert not dead, f"a process ended: see {self.folder}"
                with contextlib.suppress(aiohttp.ClientError, TimeoutError):
                    async with http.get(f"{self.url}/readyz", ssl=False) as answer:
                        if answer.status == 200:
                            return
                await asyncio.sleep(0.1)
        raise AssertionError(f"not ready within {LONGEST_START} s: see {self.folder}")

    def kubeconfig(self) -> Path:
        """A kubeconfig of the administrator."""
        cluster = {"server": self.url, "insecure-skip-tls-verify": True}
        config: dict[str, Any] = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "real", "cluster": cluster}],
            "users": [{"name": "admin", "user": {"token": self.admin}}],
            "contexts": [{"name": "real", "context": {"cluster": "real", "user": "admin"}}],
            "current-context": "real",
        }
        path = self.folder / "kubeconfig"
        path.write_text(json.dumps(config), encoding="utf-8")
        return path

    async def aclose(self) -> None:
        """End all processes, the last started first."""
        for process in reversed(self.processes):
            if process.returncode is None:
                process.terminate()
        for process in self.processes:
            try:
                async with asyncio.timeout(15):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()
        for log in self.logs:
            log.close()


@asynccontextmanager
async def control_plane(*, controllers: bool = False) -> AsyncIterator[ControlPlane]:
    """A control plane that runs while the context is open."""
    binaries = assets()
    with tempfile.TemporaryDirectory() as folder:
        plane = ControlPlane(binaries, Path(folder))
        try:
            await plane.start(controllers=controllers)
            yield plane
        finally:
            await plane.aclose()
