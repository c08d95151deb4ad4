"""What a keeper works with, all in memory: one cluster in values, a journal, a chat. Tests change single parts of it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta

from bot.braking import FailureRate
from bot.messages import Words
from bot.metrics import Metrics
from bot.perform import Hands
from bot.ports import Chat, Helm, Iks, Kubernetes, StoredRun
from bot.surroundings import Surroundings
from bot.telling import Teller
from state.braking import Limit, why
from state.planner import plan
from state.policy import Durations
from state.reasons import Reason
from state.run import Run, RunPhase
from state.snapshot import Snapshot
from tests.builders import policy, run, two_workers
from tests.shell.journal import MemoryFleet, MemoryOwnership, MemoryStore
from tests.shell.ports import MemoryChat, World, WorldClock, WorldHelm, WorldIks, WorldKubernetes

SLOW = Durations(poll=timedelta(hours=1), idle=timedelta(hours=1), stable=timedelta(seconds=10))
"""No look by itself within a test."""
QUICK = replace(SLOW, poll=timedelta(milliseconds=20), idle=timedelta(milliseconds=20))


class QuietKubernetes(WorldKubernetes):
    """Its watch has nothing to tell."""

    async def watch(self, changed: Callable[[], None]) -> None:  # noqa: ARG002 (the port's signature)
        await asyncio.Event().wait()


@dataclass
class Rig:
    """Parts that a test may exchange before it asks for `around` or `hands`."""

    world: World
    iks: Iks
    kubernetes: Kubernetes
    helm: Helm
    chat: Chat
    memory_chat: MemoryChat
    store: MemoryStore = field(default_factory=MemoryStore)
    fleet: MemoryFleet = field(default_factory=MemoryFleet)
    metrics: Metrics = field(default_factory=Metrics)
    ownership: MemoryOwnership = field(init=False)

    def __post_init__(self) -> None:
        self.ownership = MemoryOwnership(self.store)

    def hands(self) -> Hands:
        async def kubeconfig() -> bytes:
            return b""

        async def brake() -> Reason | None:
            return why(await self.fleet.get_brake())

        clock = WorldClock(self.world)
        return Hands("bot.1", self.iks, self.kubernetes, self.helm, self.ownership, clock, kubeconfig, brake)

    def around(self) -> Surroundings:
        async def kubernetes(_cluster: str, _cluster_id: str) -> Kubernetes:
            return self.kubernetes

        clock = WorldClock(self.world)
        return Surroundings(
            instance="bot.1",
            store=self.store,
            chat=self.chat,
            iks=lambda _cluster: self.iks,
            clock=clock,
            words=Words(),
            teller=Teller(self.chat, self.store, Words(), clock),
            metrics=self.metrics,
            hands=lambda _cluster, _id, _kubernetes: self.hands(),
            kubernetes=kubernetes,
            fleet=self.fleet,
            failures=FailureRate(self.fleet, Limit()),
        )

    def put(self, kept: Run) -> StoredRun:
        """A run in the journal, ours."""
        stored = StoredRun(kept, 1, 1)
        self.store.stored[kept.id] = stored
        return stored


def rig(snapshot: Snapshot | None = None) -> Rig:
    """Example 2 of the guide at its beginning, unless told otherwise."""
    world, chat = World(snapshot or two_workers()), MemoryChat()
    return Rig(world, WorldIks(world), QuietKubernetes(world), WorldHelm(world), chat, chat)


def begun(durations: Durations = SLOW, snapshot: Snapshot | None = None) -> Run:
    """A run whose plan was accepted: its first look orders the labels of the first node."""
    planned = plan(run(policy=policy(durations=durations)), snapshot or two_workers())
    return replace(planned, phase=RunPhase.ACTIVE)


async def until(true: Callable[[], object], what: str, seconds: float = 5.0) -> None:
    """Let others work until something holds."""
    try:
        async with asyncio.timeout(seconds):
            while not true():
                await asyncio.sleep(0.001)
    except TimeoutError:
        raise AssertionError(f"{what}: not within {seconds:g} s") from None


async def settled(rounds: int = 50) -> None:
    """Let everything that can go on without time passing go on."""
    for _ in range(rounds):
        await asyncio.sleep(0)
