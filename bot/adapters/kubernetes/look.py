"""Compose one KubernetesView: which pods matter, who owns them, what guards them."""

from dataclasses import replace

from bot.adapters.kubernetes.budgets import guarding
from bot.adapters.kubernetes.connection import Connection
from bot.adapters.kubernetes.controllers import PATHS, Controller
from bot.adapters.kubernetes.nodes import has_gpus
from bot.adapters.kubernetes.owners import STEPS, Owners
from bot.adapters.kubernetes.pods import SeenPod
from bot.adapters.kubernetes.reads import KEPT_WHEN_FRESH, Part, Parts, Reads, Watched
from bot.adapters.kubernetes.settings import Settings
from bot.adapters.kubernetes.volumes import LocalClaims
from state.snapshot import DaemonSet, KubernetesView

DRIVER = "nvidia-driver"


class Looker:
    """Looks at one cluster."""

    def __init__(self, connection: Connection, settings: Settings) -> None:
        self._settings = settings
        self._claims = LocalClaims(connection, settings.limits)
        self.reads = Reads(connection, settings)

    async def look(self, watched: Watched, *, fresh: bool = False) -> KubernetesView:
        """Look at everything at once. `fresh`: believe nothing that was read before."""
        if fresh:
            watched = Watched()
            self.reads.shelf.clear(but=KEPT_WHEN_FRESH)
        parts = await self.reads.everything(watched)
        places = self._operator_namespaces(parts)
        kept, denied = await self._claims.applied(_kept(parts, places))
        await self._know_owners(kept, parts)
        owners = _owners(parts)
        pods = tuple(replace(seen.pod, owner=owners.resolve(seen.pod.owner)) for seen in kept)
        return KubernetesView(
            version=parts["version"].value,
            nodes=parts["nodes"].value,
            pods=pods,
            workloads=owners.workloads(pods),
            budgets=guarding(parts["poddisruptionbudgets"].value, kept),
            releases=parts["releases"].value,
            cluster_policies=parts["clusterpolicies"].value,
            daemon_sets=_daemon_sets(parts, places),
            foreign=(*parts["gpuclusters"].value, *parts["deviceclasses"].value),
            may_not=_may_not(parts, denied),
            marker=parts["marker"].value,
        )

    async def _know_owners(self, kept: tuple[SeenPod, ...], parts: dict[str, Part]) -> None:
        """Read ReplicaSets or Jobs again when a pod names one that the kept list does not have."""
        owners = _owners(parts)
        found = (seen.pod.owner for seen in kept)
        unknown = {owner.kind for owner in found if owner and owner.kind in STEPS and not owners.knows(owner)}
        for kind in sorted(unknown):
            parts[kind] = await self.reads.again(kind)

    def _operator_namespaces(self, parts: Parts) -> frozenset[str]:
        """Name where the operator lives: as configured, where releases are, where driver pods run."""
        drivers = (seen.pod.namespace for seen in parts["pods"].value if seen.pod.component == DRIVER)
        releases = (release.namespace for release in parts["releases"].value)
        return frozenset((self._settings.namespace, *releases, *drivers))


def _kept(parts: Parts, places: frozenset[str]) -> tuple[SeenPod, ...]:
    gpu_nodes = {node.name for node in parts["nodes"].value if has_gpus(node)}
    return tuple(
        seen
        for seen in parts["pods"].value
        if seen.pod.gpus or seen.pod.node_name in gpu_nodes or seen.pod.namespace in places
    )


def _owners(parts: Parts) -> Owners:
    found: list[Controller] = []
    for kind in PATHS:
        found.extend(controller for controller, _ in parts[kind].value)
    return Owners(found)


def _daemon_sets(parts: Parts, places: frozenset[str]) -> tuple[DaemonSet, ...]:
    return tuple(found for _, found in parts["DaemonSet"].value if found is not None and found.namespace in places)


def _may_not(parts: Parts, denied: str) -> tuple[str, ...]:
    """Name each missing permission once: those asked for and those met on the way."""
    met = (part.denied for part in parts.values())
    return tuple(sorted({*parts["rights"].value.rights, *filter(None, met), *filter(None, (denied,))}))
