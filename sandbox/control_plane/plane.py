"""One real control plane on loopback: its four programs, their flags, their end.

Who a token speaks for is asked of the world over the authentication webhook, so that tokens can be given out and end
while it runs. The programs are found again by their pid files: a world that was killed leaves none behind for good.
"""

import asyncio
import base64
import contextlib
import json
import shutil
import socket
import ssl
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from sandbox import processes
from sandbox.certificates import Certificates
from sandbox.control_plane import PATIENCE
from sandbox.control_plane.binaries import MANAGER, SCHEDULER
from sandbox.serving import HOST

STARTED_WITHIN = 120.0
POLL = 0.1
LAST_LINES = 1500  # characters of a log that an error shows
SILENCE = "240h"  # kubelets are played: when one is lost is decided by its player, not by the clock


class PlaneError(RuntimeError):
    """A program does not come up; the text holds the end of its log."""


@dataclass(frozen=True, slots=True)
class Plane:
    """A control plane of `binaries`, everything of it under `folder`."""

    binaries: Path
    folder: Path
    certificates: Certificates
    etcd: str
    url: str

    @classmethod
    def planned(cls, binaries: Path, folder: Path, certificates: Certificates) -> "Plane":
        """Choose its addresses."""
        return cls(binaries, folder, certificates, f"http://{_free_address()}", f"https://{_free_address()}")

    async def start(self, webhook: str, token: str, *, bare: bool = False) -> None:
        """Start all that is there and wait until the API server is ready.

        Args:
            webhook: URL that answers TokenReviews.
            token: an administrator's, for the plane's own parts.
            bare: only the API server, and pods need no service account.

        Raises PlaneError.
        """
        await self.aclose()
        shutil.rmtree(self.folder, ignore_errors=True)  # every world begins anew
        self.folder.mkdir(parents=True)
        self._write("server.pem", self.certificates.server)
        self._write("server.key", self.certificates.key)
        self._write("authority.pem", self.certificates.authority)
        self._write("webhook.json", json.dumps(_config({"server": webhook}, {})))
        authority = base64.b64encode(self.certificates.authority.encode()).decode()
        server = {"server": self.url, "certificate-authority-data": authority}
        self._write("kubeconfig.json", json.dumps(_config(server, {"token": token})))
        self._start_etcd()
        self._start_server(bare=bare)
        await self._ready(token)
        if not bare:
            self._start_controllers()

    async def aclose(self) -> None:
        """End all its programs."""
        await asyncio.to_thread(processes.end_below, self.folder, PATIENCE)

    def has(self, program: str) -> bool:
        return (self.binaries / program).exists()

    def trust(self) -> ssl.SSLContext:
        """For clients of `url`."""
        return ssl.create_default_context(cadata=self.certificates.authority)

    def _start_etcd(self) -> None:
        peers = f"http://{_free_address()}"
        self._run(
            "etcd",
            f"--data-dir={self.folder / 'etcd'}",
            *(f"--{word}-client-urls={self.etcd}" for word in ("listen", "advertise")),
            *(f"--{word}-peer-urls={peers}" for word in ("listen", "initial-advertise")),
            f"--initial-cluster=default={peers}",
            "--unsafe-no-fsync",
            "--log-level=warn",
        )

    def _start_server(self, *, bare: bool) -> None:
        key = self.folder / "server.key"
        self._run(
            "kube-apiserver",
            f"--etcd-servers={self.etcd}",
            *(f"--{word}-address={HOST}" for word in ("bind", "advertise")),
            f"--secure-port={self.url.rpartition(':')[2]}",
            f"--tls-cert-file={self.folder / 'server.pem'}",
            f"--tls-private-key-file={key}",
            f"--authentication-token-webhook-config-file={self.folder / 'webhook.json'}",
            "--authentication-token-webhook-version=v1",
            "--authentication-token-webhook-cache-ttl=1s",
            "--authorization-mode=RBAC",
            "--service-cluster-ip-range=10.96.0.0/16",
            "--allow-privileged=true",
            *(f"--service-account-{word}key-file={key}" for word in ("", "signing-")),
            "--service-account-issuer=https://kubernetes.default.svc",
            "--endpoint-reconciler-type=none",
            *(("--disable-admission-plugins=ServiceAccount",) if bare else ()),
        )

    def _start_controllers(self) -> None:
        common = (
            f"--kubeconfig={self.folder / 'kubeconfig.json'}",
            "--leader-elect=false",
            "--authentication-skip-lookup",
            f"--bind-address={HOST}",
        )
        manager = (
            f"--service-account-private-key-file={self.folder / 'server.key'}",
            f"--root-ca-file={self.folder / 'authority.pem'}",
            f"--node-monitor-grace-period={SILENCE}",
            f"--node-startup-grace-period={SILENCE}",
            "--kube-api-qps=200",
            "--kube-api-burst=400",
        )
        for program, words in ((MANAGER, manager), (SCHEDULER, ())):
            if self.has(program):
                port = _free_address().rpartition(":")[2]
                own = (f"--secure-port={port}", f"--cert-dir={self.folder / program}")
                self._run(program, *common, *own, *words)

    def _run(self, program: str, *words: str) -> None:
        argv = (str(self.binaries / program), *words)
        try:
            process = processes.spawn(argv, self.folder / f"{program}.log")
        except OSError as failure:
            raise PlaneError(f"{argv[0]} cannot be started: {failure}") from failure
        processes.save(process, self.folder / f"{program}.pid")

    async def _ready(self, token: str) -> None:
        """Wait for the API server. Raises PlaneError when something ends instead, or when that takes too long."""
        deadline = time.monotonic() + STARTED_WITHIN
        headers, trust = {"Authorization": f"Bearer {token}"}, self.trust()
        async with aiohttp.ClientSession(headers=headers, timeout=aiohttp.ClientTimeout(total=5)) as http:
            while time.monotonic() < deadline:
                for program in ("etcd", "kube-apiserver"):
                    if processes.saved(self.folder / f"{program}.pid") is None:
                        raise PlaneError(f"{program} has ended: {self._last_words(program)}")
                with contextlib.suppress(aiohttp.ClientError, TimeoutError):
                    async with http.get(f"{self.url}/readyz", ssl=trust) as answer:
                        if answer.status == 200:
                            return
                await asyncio.sleep(POLL)
        raise PlaneError(f"kube-apiserver is not ready: {self._last_words('kube-apiserver')}")

    def _last_words(self, program: str) -> str:
        return (self.folder / f"{program}.log").read_text(errors="replace")[-LAST_LINES:]

    def _write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.touch(mode=0o600)
        path.write_text(text, encoding="utf-8")


def _config(cluster: dict[str, Any], user: dict[str, Any]) -> dict[str, Any]:
    """A kubeconfig with one cluster and one user."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "it", "cluster": cluster}],
        "users": [{"name": "it", "user": user}],
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
        "current-context": "it",
    }


def _free_address() -> str:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return f"{HOST}:{probe.getsockname()[1]}"
