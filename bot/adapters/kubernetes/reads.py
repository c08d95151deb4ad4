"""What one look reads, how long each piece may serve, and which permission it needs.

A piece that is forbidden is empty *and* names the permission, so that nobody takes "not allowed to see" for "not there".
"""

import functools
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from bot.adapters.kubernetes import budgets, controllers, marker, operator, rights
from bot.adapters.kubernetes.connection import Connection
from bot.adapters.kubernetes.controllers import Controller
from bot.adapters.kubernetes.fields import Json, text
from bot.adapters.kubernetes.gpus import GpuNames
from bot.adapters.kubernetes.listing import Source, list_all
from bot.adapters.kubernetes.nodes import project_node
from bot.adapters.kubernetes.pods import SeenPod, project_pod
from bot.adapters.kubernetes.releases import Releases
from bot.adapters.kubernetes.settings import Settings
from bot.adapters.kubernetes.shelf import Shelf
from bot.adapters.kubernetes.together import together
from state.errors import PermanentError, TransientError
from state.reasons import Code, reason
from state.snapshot import DaemonSet, Node

R = TypeVar("R")
KEPT_WHEN_FRESH = ("rights",)


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of the view. `denied`: the permission that is missing, "" when it was read."""

    value: Any
    denied: str = ""


Parts = Mapping[str, Part]


@dataclass(frozen=True, slots=True)
class Read:
    """How to get one piece. `right`: what a 403 means is missing; "" when the look cannot do without."""

    name: str
    fetch: Callable[[], Awaitable[Any]]
    life: float | Callable[[Part], float]
    right: str = ""
    absent: Any = ()


@dataclass(frozen=True, slots=True)
class Watched:
    """What the reflectors know; None where they cannot be believed at the moment."""

    nodes: tuple[Node, ...] | None = None
    pods: tuple[SeenPod, ...] | None = None


class Reads:
    """All reads of one cluster, with the shelf that holds their answers for a moment."""

    def __init__(self, connection: Connection, settings: Settings) -> None:
        self._connection = connection
        self._settings = settings
        self._limits = settings.limits
        self._names = GpuNames(settings.gpu_resources)
        self._releases = Releases(connection, settings.limits, settings.namespace)
        self.shelf = Shelf(settings.limits.dirty)
        self.nodes = Source("/api/v1/nodes", functools.partial(project_node, names=self._names))
        self.pods = Source("/api/v1/pods", functools.partial(project_pod, names=self._names))

    async def everything(self, watched: Watched) -> dict[str, Part]:
        """Read all pieces side by side, by name."""
        reads = [*self._own(), *self._lists(), *(self._controllers(kind) for kind in controllers.PATHS)]
        given = {name: rows for name, rows in (("nodes", watched.nodes), ("pods", watched.pods)) if rows is not None}
        reads = [read for read in reads if read.name not in given]
        parts = await together(*(self._take(read) for read in reads))
        found = {read.name: part for read, part in zip(reads, parts, strict=True)}
        return found | {name: Part(rows) for name, rows in given.items()}

    async def again(self, kind: str) -> Part:
        """Read the controllers of one kind anew, unless that was done just now."""
        if self.shelf.age(kind) > self._limits.dirty:
            self.shelf.drop(kind)
        return await self._take(self._controllers(kind))

    async def _take(self, read: Read) -> Part:
        return await self.shelf.take(read.name, functools.partial(_fetch, read), read.life)

    def _own(self) -> tuple[Read, ...]:
        lists = self._limits.lists
        return (
            Read("version", self._version, lists),
            Read("nodes", self._lister(self.nodes), lists),
            Read("pods", self._lister(self.pods), lists),
            Read("releases", self._releases.read, lists, "list secrets"),
            Read("marker", self._marker, lists, "get leases", {}),
            Read("rights", self._rights, self._rights_life),
        )

    def _lists(self) -> tuple[Read, ...]:
        lists, slow = self._limits.lists, self._limits.slow
        rows = (
            ("poddisruptionbudgets", budgets.PATH, budgets.project_budget, lists),
            ("clusterpolicies", operator.POLICIES, operator.project_policy, lists),
            ("gpuclusters", operator.GPU_CLUSTERS, operator.project_gpu_cluster, slow),
            ("deviceclasses", operator.DEVICE_CLASSES, operator.project_device_class, slow),
        )
        return tuple(
            Read(name, self._lister(Source(path, project)), life, f"list {name}") for name, path, project, life in rows
        )

    def _controllers(self, kind: str) -> Read:
        def project(raw: Json) -> tuple[Controller, DaemonSet | None]:
            controller = controllers.project_controller(kind, raw, self._names)
            return controller, controllers.project_daemon_set(raw) if kind == "DaemonSet" else None

        life = self._replica_set_life if kind == "ReplicaSet" else self._limits.lists
        path = controllers.PATHS[kind]
        return Read(kind, self._lister(Source(path, project)), life, f"list {path.rpartition('/')[2]}")

    def _lister(self, source: Source[R]) -> Callable[[], Awaitable[tuple[R, ...]]]:
        async def read() -> tuple[R, ...]:
            return (await list_all(self._connection, source, self._limits)).records

        return read

    def _replica_set_life(self, part: Part) -> float:
        """Old revisions of Deployments change nothing; those that count for themselves do."""
        lively = any(
            controller.gpus and (controller.controller is None or controller.controller.kind != "Deployment")
            for controller, _ in part.value
        )
        return self._limits.lists if lively else self._limits.slow

    async def _version(self) -> str:
        found = await self._connection.get("/version")
        version = text(found or {}, "gitVersion")
        if not version:
            raise TransientError(reason(Code.API_UNREACHABLE, detail="the server does not tell its version"))
        return version

    async def _marker(self) -> Mapping[str, str]:
        lease = await self._connection.get(marker.path(self._settings.marker_namespace))
        return {} if lease is None else marker.project(lease).annotations

    async def _rights(self) -> rights.Denied:
        return await rights.denied(self._connection, rights.needed(self._settings.marker_namespace))

    def _rights_life(self, part: Part) -> float:
        return self._limits.rights if part.value.complete else self._limits.slow


async def _fetch(read: Read) -> Part:
    try:
        return Part(await read.fetch())
    except PermanentError as exc:
        if not read.right or exc.reason.facts.get("status") != 403:
            raise
        return Part(read.absent, read.right)
