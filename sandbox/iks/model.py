"""What IBM's side knows of a cluster: control plane, pools and workers, as plain mutable records.

No HTTP and no JSON shapes here (rows.py), no passing of time (provisioning.py, master.py).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sandbox.scenario import ClusterSeed, WorkerSeed

GONE = ("deleted",)


def now() -> datetime:
    """Wall time, aware: there is one real clock everywhere."""
    return datetime.now(UTC)


def stamp(moment: datetime | None) -> str:
    """Write a moment as IBM does (`2026-08-15T02:17:06+0000`); "" for never."""
    return "" if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%S+0000")


@dataclass(slots=True)
class Zone:
    """One zone of a pool. `wanted`: workers per zone; `autobalance` off = lost workers do not come back."""

    id: str
    subnet: str
    wanted: int
    autobalance: bool = True


@dataclass(slots=True)
class Worker:
    """One machine. `build`: what it shall run; `running_build` and `ip`: "" until known."""

    id: str
    pool: str
    zone: str
    subnet: str
    flavor: str
    operating_system: str
    build: str
    running_build: str = ""
    ip: str = ""
    state: str = "provision_pending"
    desired_state: str = "deployed"
    message: str = "Waiting to provision"
    message_at: datetime = field(default_factory=now)
    pending_operation: str = ""
    going: bool = False  # its deletion is under way
    reason_for_delete: str = ""
    health: str = ""
    health_message: str = ""

    @property
    def alive(self) -> bool:
        """Whether it counts towards its pool's size: not ordered to go."""
        return self.desired_state != "deleted"

    @property
    def settled(self) -> bool:
        return self.alive and self.state == "deployed" and self.health == "normal"

    def say(self, state: str, message: str) -> None:
        """Enter lifecycle state `state`."""
        self.state, self.message, self.message_at = state, message, now()


@dataclass(slots=True)
class Pool:
    """One worker pool. `extra`: fields of the creating call that are only remembered."""

    id: str
    name: str
    flavor: str
    vpc: str
    zones: list[Zone]
    operating_system: str = "UBUNTU_24_64"
    labels: dict[str, str] = field(default_factory=dict)
    taints: dict[str, str] = field(default_factory=dict)
    state: str = "active"
    desired_state: str = "active"
    extra: dict[str, Any] = field(default_factory=dict)

    def zone(self, zone_id: str) -> Zone | None:
        return next((zone for zone in self.zones if zone.id == zone_id), None)


@dataclass(slots=True)
class Master:
    """The control plane. `version` is what answers now, `pending` the version on its way, "" when none is."""

    version: str
    pending: str = ""
    state: str = "deployed"
    status: str = "Ready"
    health: str = "normal"
    changed_at: datetime = field(default_factory=now)

    @property
    def busy(self) -> bool:
        return bool(self.pending) or self.state not in ("deployed", "update_cancelled", "update_failed")

    def say(self, state: str, status: str) -> None:
        self.state, self.status, self.changed_at = state, status, now()


@dataclass(slots=True)
class Cluster:
    """One cluster with everything IBM keeps of it."""

    seed: ClusterSeed
    master: Master
    pools: dict[str, Pool] = field(default_factory=dict)
    workers: dict[str, Worker] = field(default_factory=dict)
    outbound_protection: bool = True
    created_at: datetime = field(default_factory=now)
    successors: Iterator[WorkerSeed] = field(default_factory=lambda: iter(()))

    @property
    def id(self) -> str:
        return self.seed.id

    @property
    def name(self) -> str:
        return self.seed.name

    def pool(self, id_or_name: str) -> Pool | None:
        """Find a pool that is not deleted."""
        living = [pool for pool in self.pools.values() if pool.state not in GONE]
        return next((pool for pool in living if id_or_name in (pool.id, pool.name)), None)

    def workers_of(self, pool: Pool, zone: Zone | None = None) -> list[Worker]:
        """Workers that count towards the pool's size."""
        return [
            worker
            for worker in self.workers.values()
            if worker.alive and worker.pool == pool.id and zone in (None, pool.zone(worker.zone))
        ]

    def alive(self) -> list[Worker]:
        return [worker for worker in self.workers.values() if worker.alive]


def cluster_of(seed: ClusterSeed) -> Cluster:
    """Build a cluster as its scenario file describes it, every worker deployed and normal."""
    cluster = Cluster(seed=seed, master=Master(seed.master_version), successors=iter(seed.successors))
    for row in seed.pools:
        zones = [Zone(zone.id, zone.subnet, zone.count, row.autobalance) for zone in row.zones]
        pool = Pool(row.id, row.name, row.flavor, seed.vpc, zones, row.operating_system, dict(row.labels))
        pool.taints = dict(row.taints)
        cluster.pools[pool.id] = pool
        places = [zone for zone in zones for _ in range(zone.wanted)] or zones
        for number, machine in enumerate(row.workers):
            zone = places[number % len(places)]
            build = row.worker_version or seed.master_version
            worker = Worker(machine.id, pool.id, zone.id, zone.subnet, pool.flavor, pool.operating_system, build)
            worker.ip, worker.running_build = machine.ip, build
            worker.say("deployed", "")
            worker.health, worker.health_message = "normal", "Ready"
            cluster.workers[worker.id] = worker
    return cluster
