"""A crowd of runs and some replicas that come and go: what a short test and a long measurement have in common."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from redis.asyncio import Redis

from state import keys
from tests.shell.fleet import Clusters, Replica, start_replica
from tests.shell.ports import MemoryChat
from tests.valkey import Valkey

NAMES = ("bot-0", "bot-1", "bot-2")
LOOK_EVERY = 0.05


@dataclass
class Lag:
    """How late the event loop is, measured by a task that wants to wake every few milliseconds."""

    every: float = 0.01
    late: list[float] = field(default_factory=list)

    async def watch(self) -> None:
        while True:
            wanted = time.monotonic() + self.every
            await asyncio.sleep(self.every)
            self.late.append(time.monotonic() - wanted)

    def at(self, share: float) -> float:
        """Seconds below which so many of all moments were late."""
        return sorted(self.late)[min(len(self.late) - 1, int(share * len(self.late)))] if self.late else 0.0


@dataclass
class Crowd:
    """`runs` runs on one server, kept by three replicas."""

    server: Valkey
    runs: int
    tick: float
    clusters: Clusters = field(default_factory=Clusters)
    chat: MemoryChat = field(default_factory=MemoryChat)
    alive: dict[str, Replica] = field(default_factory=dict)
    handed: float = 0.0

    async def begin(self) -> None:
        for name in NAMES:
            await self.start(name)
        names = [f"gpu-{number}" for number in range(self.runs)]
        for first in range(0, len(names), 50):
            await self.clusters.begin(self.alive[NAMES[0]].store, *names[first : first + 50])

    async def start(self, name: str) -> None:
        self.alive[name] = await start_replica(self.server.url, name, self.clusters, self.chat, tick=self.tick)

    async def kill(self, name: str) -> None:
        """kill -9, and the platform starts it anew under its name."""
        self._count(self.alive[name])
        await self.alive.pop(name).kill()
        await self.start(name)

    async def renew(self, name: str) -> None:
        """SIGTERM, as in a rolling update; the new one comes a moment later."""
        leaver = self.alive.pop(name)
        self._count(leaver)
        await leaver.close()
        await self.kept()
        await self.start(name)

    def _count(self, gone: Replica) -> None:
        self.handed += gone.number("gpu_migrate_runs_handed_over_total")

    def handed_over(self) -> int:
        return int(self.handed + sum(one.number("gpu_migrate_runs_handed_over_total") for one in self.alive.values()))

    def shares(self) -> tuple[int, ...]:
        return tuple(self.alive[name].runs() for name in sorted(self.alive))

    async def kept(self, within: float = 60.0) -> float:
        """Seconds until every run has a keeper."""
        return await self._until(lambda: sum(self.shares()) == self.runs, "every run is kept", within)

    async def even(self, within: float = 120.0) -> float:
        """Seconds until nobody has more than an even share."""
        most = -(-self.runs // len(self.alive))
        return await self._until(
            lambda: sum(self.shares()) == self.runs and max(self.shares()) <= most, "shares are even", within
        )

    async def _until(self, true: Callable[[], bool], what: str, within: float) -> float:
        began = time.monotonic()
        while not true():
            assert time.monotonic() - began < within, f"{what}: not within {within:g} s: {self.shares()}"
            await asyncio.sleep(LOOK_EVERY)
        return time.monotonic() - began

    async def owners(self) -> Counter[str]:
        """How many runs each owner has in the store; raises when one is nobody's, or of somebody who is gone."""
        async with Redis.from_url(self.server.url, decode_responses=True) as client:
            active = {str(run_id) for run_id in await client.smembers(keys.ACTIVE)}
            owners = {str(run_id): str(owner) for run_id, owner in (await client.hgetall(keys.OWNERS)).items()}
        assert set(owners) == set(active)
        assert len(active) == self.runs
        assert set(owners.values()) == {one.owner for one in self.alive.values()}
        return Counter(owners.values())

    async def aclose(self) -> None:
        for one in self.alive.values():
            await one.kill()
