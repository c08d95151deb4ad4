"""Misfortunes that can be put on nodes and images while the world runs.

An affliction says what shall go wrong and where; the kubelet and the operands look it up whenever they look at all.
Only what a machine or a registry can suffer belongs here; faults of an API server are in `sandbox.faults`.
"""

import asyncio
import itertools
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

from sandbox.kubernetes_client import Json

WORKER_LABELS = (
    "ibm-cloud.kubernetes.io/worker-id",
    "ibm-cloud.kubernetes.io/worker-version",
    "ibm-cloud.kubernetes.io/worker-pool-name",
)


class Kind(StrEnum):
    """What can go wrong."""

    IMAGE_PULL = "image-pull"  # containers of the image wait in ImagePullBackOff
    CRASH_LOOP = "crash-loop"  # the container starts and fails again and again
    NOT_READY = "not-ready"  # the container runs, but never gets ready
    NEVER_STARTS = "never-starts"  # the pod gets no sandbox
    STUCK_TERMINATING = "stuck-terminating"  # deleted pods never go
    NOT_REGISTERED = "not-registered"  # the device plugin runs, but the node shows no GPUs
    ALLOCATABLE = "allocatable"  # only `number` GPUs are healthy; capacity stays
    KUBELET_SILENT = "kubelet-silent"  # the kubelet of the node stops talking
    NFD_BLIND = "nfd-blind"  # NFD does not see the GPU


@dataclass(frozen=True, slots=True)
class Affliction:
    """One misfortune. Patterns are those of a shell; an empty part of the world is hit nowhere.

    Attributes:
        kind: what goes wrong.
        node: pattern of the node's name, worker id, worker version or pool name ("1.36*" also hits nodes to come).
        pod: pattern of the pod's name or of its label `app`.
        container: pattern of the container's name.
        image: pattern of the image.
        number: healthy GPUs (allocatable), or exit code (crash-loop; 0 means 1).
        message: what the registry, the log or the runtime says.
        id: given by `Afflictions.add`.
    """

    kind: Kind
    node: str = "*"
    pod: str = "*"
    container: str = "*"
    image: str = "*"
    number: int = 0
    message: str = ""
    id: int = 0

    def hits_node(self, node: Json) -> bool:
        labels = node["metadata"].get("labels", {})
        names = [node["metadata"]["name"], *(labels[key] for key in WORKER_LABELS if key in labels)]
        return any(fnmatchcase(name, self.node) for name in names)

    def hits_pod(self, pod: Json) -> bool:
        names = (pod["metadata"]["name"], pod["metadata"].get("labels", {}).get("app", ""))
        return any(fnmatchcase(name, self.pod) for name in names)

    def hits_container(self, container: Json) -> bool:
        return fnmatchcase(container["name"], self.container) and fnmatchcase(container.get("image", ""), self.image)


class Afflictions:
    """The misfortunes in force."""

    def __init__(self, afflictions: Iterable[Affliction] = ()) -> None:
        self._ids = itertools.count(1)
        self._listeners: list[asyncio.Event] = []
        self._all: tuple[Affliction, ...] = ()
        for affliction in afflictions:
            self.add(**asdict(affliction))

    def add(self, kind: str, **parts: Any) -> Affliction:
        """Put one on.

        Raises ValueError for an unknown kind or part, with the known ones.
        """
        known = {field.name for field in fields(Affliction)} - {"kind", "id"}
        parts.pop("id", None)
        if unknown := set(parts) - known:
            raise ValueError(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(sorted(known))}")
        if kind not in set(Kind):
            raise ValueError(f"no affliction {kind!r}; known: {', '.join(Kind)}")
        affliction = Affliction(kind=Kind(kind), id=next(self._ids), **parts)
        self._all = (*self._all, affliction)
        self._ring()
        return affliction

    def remove(self, affliction_id: int | None = None) -> None:
        """Take one away, or all with None."""
        self._all = tuple(one for one in self._all if affliction_id is not None and one.id != affliction_id)
        self._ring()

    def as_json(self) -> list[Json]:
        return [asdict(one) for one in self._all]

    def on_node(self, kind: Kind, node: Json) -> Affliction | None:
        """The first affliction of this kind on the node."""
        return next((one for one in self._all if one.kind is kind and one.hits_node(node)), None)

    def on_pod(self, kind: Kind, node: Json, pod: Json) -> Affliction | None:
        return next((one for one in self._all if one.kind is kind and one.hits_node(node) and one.hits_pod(pod)), None)

    def on_container(self, kind: Kind, node: Json, pod: Json, container: Json) -> Affliction | None:
        return next(
            (
                one
                for one in self._all
                if one.kind is kind and one.hits_node(node) and one.hits_pod(pod) and one.hits_container(container)
            ),
            None,
        )

    def wakes(self, listener: asyncio.Event) -> None:
        """Set `listener` whenever the afflictions change."""
        self._listeners.append(listener)

    def unhook(self, listener: asyncio.Event) -> None:
        self._listeners = [one for one in self._listeners if one is not listener]

    def _ring(self) -> None:
        for listener in self._listeners:
            listener.set()
