"""IBM's pretend cloud: its clusters and everything that takes time in them, behind no protocol at all.

HTTP enters in server.py only.
"""

import asyncio
import itertools
import secrets
from collections.abc import Iterable, Mapping

from sandbox.background import Background
from sandbox.iks.knobs import Knobs
from sandbox.iks.model import GONE, Cluster, Pool, Worker, Zone, cluster_of
from sandbox.iks.ports import KubernetesSide
from sandbox.journal import Journal
from sandbox.scenario import Scenario, WorkerSeed

SHORTEST_LIFE = 30.0


class Cloud:
    """All clusters of one account, with the sides of Kubernetes they are tied to (by cluster name)."""

    def __init__(self, scenario: Scenario, journal: Journal, sides: Mapping[str, KubernetesSide]) -> None:
        self.scenario = scenario
        self.journal = journal
        self.sides = sides
        self.knobs = Knobs()
        for row in scenario.knobs:
            self.knobs.turn(row["name"], row["value"])
        self.background = Background()
        self.clusters = {seed.id: cluster_of(seed) for seed in scenario.clusters}
        self._serial = itertools.count(0x500)
        self._handed: set[str] = set()  # addresses given to workers that do not show them yet

    def found(self, id_or_name: str, resource_group: str = "") -> Cluster | None:
        """Find the cluster with that id or name, unless it is in another resource group."""
        for cluster in self.clusters.values():
            if id_or_name in (cluster.id, cluster.name) and resource_group in ("", cluster.seed.resource_group):
                return cluster
        return None

    def visible(self, resource_group: str = "") -> Iterable[Cluster]:
        return [c for c in self.clusters.values() if resource_group in ("", c.seed.resource_group)]

    def side(self, cluster: Cluster) -> KubernetesSide:
        return self.sides[cluster.name]

    async def pause(self, duration: str, parts: float = 1.0) -> None:
        """Wait the scenario's duration of that name, or a part of it."""
        await asyncio.sleep(self.scenario.seconds(duration) * parts)

    def note(self, verb: str, target: str, cluster: Cluster, **effect: str) -> None:
        """Write a change of the world's own into the journal."""
        self.journal.add("world", verb, target, cluster=cluster.name, effect=dict(effect))

    def successor(self, cluster: Cluster, pool: Pool, zone: Zone) -> WorkerSeed:
        """Id and address of the next worker: the scenario's first, made-up ones afterwards."""
        seed = next(cluster.successors, None)
        if seed is not None:
            return seed
        short = "".join(letter for letter in cluster.name if letter.isalnum())[:11]
        tail = "".join(letter for letter in pool.name if letter.isalnum())[:7]
        return WorkerSeed(f"kube-{cluster.id}-{short}-{tail}-{next(self._serial):08x}", self._address(cluster, zone))

    def pool_id(self, cluster: Cluster) -> str:
        return f"{cluster.id}-{secrets.token_hex(4)[:7]}"

    @property
    def token_life(self) -> float:
        """Seconds that kubeconfigs and IAM tokens live: scaled, but never too short to be used."""
        return max(SHORTEST_LIFE, self.scenario.seconds("token_life"))

    async def aclose(self) -> None:
        await self.background.aclose()

    def _address(self, cluster: Cluster, zone: Zone) -> str:
        """Pick an address of the zone's network (10.240.<64 × zone number>.0/24) that nobody holds."""
        gone = [w.ip for w in cluster.workers.values() if w.state in GONE and w.zone == zone.id and w.ip]
        held = {w.ip for w in cluster.workers.values() if w.state not in GONE}
        free = [ip for ip in gone if ip not in held] if self.knobs.reuse_ip else []
        if free:
            return free[0]
        third = 64 * (int(zone.id[-1]) - 1) if zone.id[-1].isdigit() else 0
        held |= {*self._handed, *gone, *(seed.ip for seed in cluster.seed.successors)}
        address = next(ip for ip in (f"10.240.{third % 256}.{n}" for n in range(80, 255)) if ip not in held)
        self._handed.add(address)
        return address


def has_ibm_driver(cluster: Cluster, worker: Worker) -> bool:
    """Whether IBM preinstalls its driver on the worker: only below 1.36."""
    major, minor = worker.build.split(".")[:2]
    return cluster.seed.preinstalled and (int(major), int(minor)) < (1, 36)
