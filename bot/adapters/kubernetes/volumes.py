"""Which claims sit on a volume that never moves (a PersistentVolume of kind local or hostPath)."""

from dataclasses import replace

from bot.adapters.kubernetes.connection import Connection
from bot.adapters.kubernetes.fields import Json, table, text
from bot.adapters.kubernetes.listing import Source, list_all
from bot.adapters.kubernetes.pods import SeenPod
from bot.adapters.kubernetes.settings import Limits
from bot.adapters.kubernetes.shelf import Shelf
from state.errors import PermanentError

PATH = "/api/v1/persistentvolumes"
RIGHT = "list persistentvolumes"


class LocalClaims:
    """Marks pods whose claims are host-local; asks only when a GPU pod has claims at all."""

    def __init__(self, connection: Connection, limits: Limits) -> None:
        self._connection = connection
        self._limits = limits
        self._shelf = Shelf(limits.dirty)

    async def applied(self, pods: tuple[SeenPod, ...]) -> tuple[tuple[SeenPod, ...], str]:
        """Give the pods with their host-local claims named, and the permission that was missing, "" when none."""
        if not any(seen.claims and seen.pod.gpus for seen in pods):
            return pods, ""
        try:
            local = frozenset(await self._shelf.take("volumes", self._read, self._limits.slow))
        except PermanentError as exc:
            if exc.reason.facts.get("status") != 403:
                raise
            return pods, RIGHT
        return tuple(_marked(seen, local) for seen in pods), ""

    async def _read(self) -> tuple[str, ...]:
        return (await list_all(self._connection, Source(PATH, local_claim), self._limits)).records


def local_claim(raw: Json) -> str | None:
    """Name the claim (namespace/name) that this volume serves, if the volume never moves."""
    spec = table(raw, "spec")
    if not isinstance(spec.get("local"), dict) and not isinstance(spec.get("hostPath"), dict):
        return None
    claim = table(spec, "claimRef")
    name = text(claim, "name")
    return f"{text(claim, 'namespace')}/{name}" if name else None


def _marked(seen: SeenPod, local: frozenset[str]) -> SeenPod:
    found = tuple(claim for claim in seen.claims if f"{seen.pod.namespace}/{claim}" in local)
    return replace(seen, pod=replace(seen.pod, host_local=seen.pod.host_local + found)) if found else seen
