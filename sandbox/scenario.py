"""Scenario files: what a pretend world holds at its beginning, and how long things take in it.

Durations in the files are seconds as in life; `speed` divides them. Nothing else is scaled.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent / "scenarios"


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody in the pretend Slack workspace. `role`: approver, operator or onlooker."""

    id: str
    name: str
    role: str


@dataclass(frozen=True, slots=True)
class WorkerSeed:
    """One IKS worker. `ip` is its node's name."""

    id: str
    ip: str


@dataclass(frozen=True, slots=True)
class ZoneSeed:
    """One zone of a pool. `count`: workers wanted there (IKS counts per zone)."""

    id: str
    subnet: str
    count: int


@dataclass(frozen=True, slots=True)
class PoolSeed:
    """One worker pool with the workers it has at the beginning."""

    name: str
    id: str
    flavor: str
    zones: tuple[ZoneSeed, ...]
    workers: tuple[WorkerSeed, ...]
    operating_system: str = "UBUNTU_24_64"
    labels: dict[str, str] = field(default_factory=dict)
    taints: dict[str, str] = field(default_factory=dict)
    autobalance: bool = True
    worker_version: str = ""  # "" = the cluster's master version at the beginning


@dataclass(frozen=True, slots=True)
class ClusterSeed:
    """One IKS cluster.

    Attributes:
        successors: ids and IPs handed to new workers, in order; more are made up when they run out.
        objects: Kubernetes manifests applied at the beginning.
        addons: IKS add-ons, as the API lists them.
        preinstalled: whether IBM's driver runs on workers below 1.36.
    """

    name: str
    id: str
    master_version: str
    pools: tuple[PoolSeed, ...]
    successors: tuple[WorkerSeed, ...] = ()
    objects: tuple[dict[str, Any], ...] = ()
    addons: tuple[dict[str, Any], ...] = ()
    region: str = "us-south"
    resource_group: str = "a1b2c3d4e5f60718293a4b5c6d7e8f90"
    resource_group_name: str = "ml"
    vpc: str = "r006-11111111-2222-3333-4444-555555555555"
    preinstalled: bool = True


@dataclass(frozen=True, slots=True)
class Scenario:
    """One world.

    Attributes:
        versions: rows of IKS's versions endpoint (major, minor, patch, default, end_of_service).
        master_builds: "1.36.0" -> "1.36.0_1506": the build a master gets.
        worker_builds: "1.36" -> "1.36.0_1507": the build new workers get.
        durations: seconds as in life, by name.
        channel: name of the Slack channel where the bot is a member.
        knobs: rows of name and value, turned at the beginning (sandbox/iks/knobs.py).
    """

    name: str
    title: str
    clusters: tuple[ClusterSeed, ...]
    people: tuple[Person, ...]
    versions: tuple[dict[str, Any], ...]
    master_builds: dict[str, str]
    worker_builds: dict[str, str]
    durations: dict[str, float]
    channel: str = "gpu-migrations"
    knobs: tuple[dict[str, Any], ...] = ()
    speed: float = 1.0

    def seconds(self, name: str) -> float:
        """Duration `name` in this world, already divided by the speed."""
        return self.durations[name] / self.speed


def load(name: str, speed: float = 1.0) -> Scenario:
    """Read scenario `name` (a file name without ending, or a path).

    Raises FileNotFoundError with the known names when there is no such file.
    """
    path = Path(name) if name.endswith((".yaml", ".yml")) else FOLDER / f"{name}.yaml"
    if not path.exists():
        known = ", ".join(sorted(p.stem for p in FOLDER.glob("*.yaml")))
        raise FileNotFoundError(f"no scenario {name!r}; known: {known}")
    raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    defaults = yaml.safe_load((FOLDER / "defaults.yml").read_text(encoding="utf-8"))
    return Scenario(
        name=raw["name"],
        title=raw["title"],
        clusters=(*_borrowed(raw), *(_cluster(row) for row in raw.get("clusters", ()))),
        people=tuple(Person(**row) for row in raw.get("people", defaults["people"])),
        versions=tuple(raw.get("versions", defaults["versions"])),
        master_builds={**defaults["master_builds"], **raw.get("master_builds", {})},
        worker_builds={**defaults["worker_builds"], **raw.get("worker_builds", {})},
        durations={**defaults["durations"], **raw.get("durations", {})},
        channel=raw.get("channel", "gpu-migrations"),
        knobs=tuple(raw.get("knobs", ())),
        speed=speed,
    )


def _borrowed(raw: dict[str, Any]) -> tuple[ClusterSeed, ...]:
    """Clusters that the file takes from other scenarios (`clusters_of: [name, …]`)."""
    return tuple(cluster for name in raw.get("clusters_of", ()) for cluster in load(name).clusters)


def _cluster(row: dict[str, Any]) -> ClusterSeed:
    pools = tuple(_pool(pool) for pool in row["pools"])
    rest = {key: value for key, value in row.items() if key not in ("pools", "successors", "objects", "addons")}
    return ClusterSeed(
        pools=pools,
        successors=tuple(WorkerSeed(**seed) for seed in row.get("successors", ())),
        objects=tuple(row.get("objects", ())),
        addons=tuple(row.get("addons", ())),
        **rest,
    )


def _pool(row: dict[str, Any]) -> PoolSeed:
    rest = {key: value for key, value in row.items() if key not in ("zones", "workers")}
    return PoolSeed(
        zones=tuple(ZoneSeed(**zone) for zone in row["zones"]),
        workers=tuple(WorkerSeed(**worker) for worker in row["workers"]),
        **rest,
    )
