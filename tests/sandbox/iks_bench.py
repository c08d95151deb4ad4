"""A pretend IKS on loopback with a Kubernetes side that only remembers what IBM's machines asked of it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from sandbox.faults import Faults
from sandbox.iks.cloud import Cloud
from sandbox.iks.iam import API_KEY, Accounts, IamServer
from sandbox.iks.ports import Access, Machine
from sandbox.iks.server import BASE, IksServer
from sandbox.journal import Journal
from sandbox.scenario import Scenario, load
from sandbox.serving import serve

DEADLINE = 10.0
GRANT = "urn:ibm:params:oauth:grant-type:apikey"


@dataclass(slots=True)
class Side:
    """Answers the port of IBM's machines; `done` lists what was asked, in order."""

    url: str = "https://127.0.0.1:6443"
    nodes: dict[str, Machine] = field(default_factory=dict)
    done: list[tuple[str, ...]] = field(default_factory=list)
    lives: list[tuple[str, float]] = field(default_factory=list)

    async def join(self, machine: Machine) -> None:
        self.nodes[machine.ip] = machine
        self.done.append(("join", machine.ip))

    async def lost(self, ip: str) -> None:
        self.done.append(("lost", ip))

    async def leave(self, ip: str, worker_id: str) -> None:
        self.nodes.pop(ip, None)
        self.done.append(("leave", ip, worker_id))

    async def relabel(self, ip: str, labels: Mapping[str, str | None]) -> None:
        self.done.append(("relabel", ip, str(sorted(labels.items()))))

    async def retaint(self, ip: str, taints: Mapping[str, str], old: Mapping[str, str]) -> None:
        self.done.append(("retaint", ip, str(sorted(taints.items())), str(sorted(old.items()))))

    async def restart(self, version: str, gap: float, *, moves: bool = False) -> None:
        self.done.append(("restart", version, *(("moves",) if moves else ())))
        await asyncio.sleep(gap)

    def access(self, user: str, life: float, *, admin: bool) -> Access:
        self.lives.append((user, life))
        return Access(self.url, "-----BEGIN CERTIFICATE-----\n", f"token-of-{user}-{admin}")


@dataclass(slots=True)
class Bench:
    """A running IKS and IAM, and a caller with a token."""

    cloud: Cloud
    accounts: Accounts
    journal: Journal
    faults: Faults
    side: Side
    iks: str
    iam: str
    session: aiohttp.ClientSession
    token: str = ""

    @property
    def cluster(self) -> str:
        return next(iter(self.cloud.clusters))

    async def call(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """Call IKS; answers status and parsed body (None when empty)."""
        sent = {"Authorization": f"Bearer {self.token}", **headers}
        async with self.session.request(method, self.iks + path, json=body, headers=sent) as answer:
            text = await answer.text()
            return answer.status, (await answer.json(content_type=None) if text else None)

    async def get(self, path: str) -> Any:
        status, body = await self.call("GET", path)
        assert status == 200, body
        return body

    async def post(self, path: str, **body: Any) -> tuple[int, Any]:
        return await self.call("POST", path, {"cluster": self.cluster, **body})

    async def login(self, **form: str) -> tuple[int, Any]:
        form = form or {"grant_type": GRANT, "apikey": API_KEY}
        async with self.session.post(f"{self.iam}/identity/token", data=form) as answer:
            return answer.status, await answer.json()

    async def workers(self, *, deleted: bool = True) -> dict[str, Any]:
        path = f"/v2/vpc/getWorkers?cluster={self.cluster}&showDeleted={str(deleted).lower()}"
        return {row["id"]: row for row in await self.get(path)}

    def verbs(self, system: str) -> list[tuple[str, str]]:
        return [(entry.verb, entry.target) for entry in self.journal.entries() if entry.system == system]


async def until(true: Callable[[], Any]) -> None:
    """Poll until `true()` holds; fails at the deadline."""
    async with asyncio.timeout(DEADLINE):
        while not true():
            await asyncio.sleep(0.005)


@asynccontextmanager
async def bench(scenario: Scenario | str = "guide-example-2", speed: float = 2000.0) -> AsyncIterator[Bench]:
    loaded = load(scenario, speed) if isinstance(scenario, str) else scenario
    journal, faults, side = Journal(), Faults(), Side()
    cloud = Cloud(loaded, journal, {seed.name: side for seed in loaded.clusters})
    accounts = Accounts(cloud.token_life)
    iks = await serve(IksServer(cloud, accounts, journal, faults).app())
    iam = await serve(IamServer(accounts, journal, faults).app())
    async with aiohttp.ClientSession() as session:
        made = Bench(cloud, accounts, journal, faults, side, iks.url + BASE, iam.url, session)
        made.token = (await made.login())[1]["access_token"]
        yield made
    await cloud.aclose()
    await iks.aclose()
    await iam.aclose()
    assert cloud.background.failures == []
