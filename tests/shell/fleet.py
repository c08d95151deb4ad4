"""Several replicas inside the test, as `serve` ties them together: a tick, the lease, the bell. One pretend cluster a run.

`Replica` is a Process (so it can be killed); its runs are made straight in the journal.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from bot.braking import FailureRate
from bot.desk import Setup, SubmitDesk
from bot.engine import Engine
from bot.messages import Words
from bot.metrics import Metrics
from bot.points import Points
from bot.ports import ClusterRef, Kubernetes, Ownership
from bot.surroundings import Surroundings
from bot.telling import Teller
from state.braking import Limit
from state.policy import Policy
from state.run import Goal, Run, RunPhase
from state.store import RedisStore, open_store
from tests.builders import two_workers
from tests.shell.ports import MemoryChat, World, WorldClock, WorldIks, WorldKubernetes
from tests.shell.process import APPROVER, OPERATOR, TICK, Process, hands_of
from tests.shell.rig import SLOW, QuietKubernetes

PATIENT = Policy(observe=False, approvers=(APPROVER.user,), operators=(OPERATOR.user,), durations=SLOW)
BELL_SECONDS = 1.0


@dataclass
class Clusters:
    """As many clusters as somebody names, all at the beginning of the guide's example 2."""

    policy: Policy = PATIENT
    kubernetes: Callable[[World], WorldKubernetes] = QuietKubernetes
    worlds: dict[str, World] = field(default_factory=dict)

    def of(self, name: str) -> World:
        if name not in self.worlds:
            seen = two_workers()
            named = replace(seen, iks=replace(seen.iks, cluster_id=f"id-{name}", cluster_name=name))
            self.worlds[name] = World(named, policy=self.policy)
        return self.worlds[name]

    def first(self) -> World:
        """The one whose time replicas go by."""
        return next(iter(self.worlds.values()), None) or self.of("gpu-0")

    def run(self, name: str) -> Run:
        """A run as the start command makes it."""
        at = self.of(name).now()
        return Run(f"run-{name}", name, Goal.MIGRATE, RunPhase.PLANNING, self.policy, OPERATOR.user, "C1", at)

    async def begin(self, store: RedisStore, *names: str) -> None:
        for name in names:
            assert await store.runs.create(self.run(name), f"start-{name}") is None


class NamedIks(WorldIks):
    async def resolve(self, name_or_id: str) -> ClusterRef:
        return ClusterRef(self._world.model.snapshot.iks.cluster_id, name_or_id)


@dataclass(eq=False)
class Replica(Process):
    """A process that hears the bell too. `tick`: seconds between two ticks."""

    tick: float = TICK

    async def live(self) -> None:
        lease, bell = asyncio.create_task(self.store.ownership.keep()), asyncio.create_task(self._hear())
        while not lease.done() and not bell.done():
            await self.engine.tick()
            await asyncio.sleep(self.tick)

    async def _hear(self) -> None:
        while True:
            for run_id in await self.store.fleet.listen(BELL_SECONDS):
                self.engine.nudge(run_id)

    def runs(self) -> int:
        """How many it keeps."""
        return int(self.number("gpu_migrate_runs_owned"))

    @property
    def owner(self) -> str:
        return self.store.ownership.replica.owner


async def start_replica(url: str, name: str, clusters: Clusters, chat: MemoryChat, *, tick: float = TICK) -> Replica:
    """Open a store under a name and begin to tick. Its clock is the first cluster's."""
    store = await open_store(url, replica=name)
    return begin_replica(store, store.ownership, clusters, chat, tick)


def begin_replica(
    store: RedisStore, ownership: Ownership, clusters: Clusters, chat: MemoryChat, tick: float = TICK
) -> Replica:
    """`ownership`: the store's own, or one around it."""
    around = surroundings(store, clusters, chat)
    engine = Engine(around, ownership)
    setup = Setup(dict.fromkeys(clusters.worlds, clusters.policy), {})
    submit = SubmitDesk(store.runs, chat, around.clock, setup, engine.nudge)
    made = Replica(store, engine, submit, around.metrics, tick=tick)
    made.begin()
    return made


def surroundings(store: RedisStore, clusters: Clusters, chat: MemoryChat) -> Surroundings:
    async def kubernetes(cluster: str, _cluster_id: str) -> Kubernetes:
        return clusters.kubernetes(clusters.of(cluster))

    clock = WorldClock(clusters.first())
    return Surroundings(
        instance=store.ownership.replica.owner,
        store=store.runs,
        chat=chat,
        iks=lambda cluster: NamedIks(clusters.of(cluster)),
        clock=clock,
        words=Words(),
        teller=Teller(chat, store.runs, Words(), clock),
        metrics=Metrics(),
        hands=lambda cluster, *_: hands_of(store, clusters.of(cluster), Points()),
        kubernetes=kubernetes,
        fleet=store.fleet,
        failures=FailureRate(store.fleet, Limit()),
    )


@asynccontextmanager
async def replicas() -> AsyncIterator[list[Replica]]:
    """Those that are put in are killed at the end."""
    alive: list[Replica] = []
    try:
        yield alive
    finally:
        for one in alive:
            await one.kill()
