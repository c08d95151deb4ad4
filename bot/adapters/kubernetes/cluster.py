"""The Kubernetes port for one cluster: everything else in this folder, put together.

Reflectors live only while `watch` runs; `look` works without them, by lists.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from datetime import datetime
from typing import Any

from bot.adapters.kubeconfigs import KubeconfigCache
from bot.adapters.kubernetes.claims import Claims
from bot.adapters.kubernetes.connection import Connection
from bot.adapters.kubernetes.evictions import Evictions
from bot.adapters.kubernetes.look import Looker
from bot.adapters.kubernetes.marker import Markers
from bot.adapters.kubernetes.node_marks import NodeMarks
from bot.adapters.kubernetes.node_writes import NodeWrites
from bot.adapters.kubernetes.pace import Pace
from bot.adapters.kubernetes.pods import SeenPod
from bot.adapters.kubernetes.reads import Watched
from bot.adapters.kubernetes.reflector import Reflector, Shared, Tally
from bot.adapters.kubernetes.settings import Settings
from bot.ending import end
from state.marks import RUN
from state.orders import CordonNode, EvictPod, LabelNode, UncordonNode
from state.reasons import Reason
from state.snapshot import KubernetesView, Node

USUAL = Settings()


class KubernetesCluster:
    """The API server of one cluster (bot.ports.Kubernetes).

    Args:
        kubeconfigs: where credentials come from.
        clock: UTC now, for the marker's renewTime only.
        settings: what to look at and how patient to be.
    """

    def __init__(
        self, kubeconfigs: KubeconfigCache, *, clock: Callable[[], datetime], settings: Settings = USUAL
    ) -> None:
        self._limits = settings.limits
        self._connection = Connection(kubeconfigs, settings.limits, settings.proxy)
        self._looker = Looker(self._connection, settings)
        self._node_writes = NodeWrites(self._connection)
        self._evictions = Evictions(self._connection, settings.limits)
        self._clock = clock
        self._markers = Markers(self._connection, settings.marker_namespace, clock)
        self._renewed = asyncio.Event()
        self._nodes: Reflector[Node] | None = None
        self._pods: Reflector[SeenPod] | None = None
        self._echo: asyncio.TimerHandle | None = None

    async def look(self, *, fresh: bool = False) -> KubernetesView:
        """See the cluster. `fresh` reads everything anew, for the last look before an order."""
        nodes, pods = self._nodes, self._pods
        watched = Watched(
            nodes.values() if nodes is not None and nodes.believable else None,
            pods.values() if pods is not None and pods.believable else None,
        )
        return await self._looker.look(watched, fresh=fresh)

    async def label(self, order: LabelNode) -> None:
        await self._written(self._node_writes.label(order.node, order.uid, order.labels))

    async def cordon(self, order: CordonNode) -> None:
        await self._written(self._node_writes.cordon(order.node, order.uid))

    async def uncordon(self, order: UncordonNode) -> None:
        await self._written(self._node_writes.uncordon(order.node, order.uid))

    async def evict(self, order: EvictPod) -> None:
        await self._written(self._evictions.evict(order))

    async def dry_run_evict(self, order: EvictPod) -> Reason | None:
        """Name what would block the eviction now; None when nothing would. Changes nothing."""
        return await self._evictions.dry_run(order)

    async def claim(self, facts: Mapping[str, str], holder: str) -> Mapping[str, str]:
        """Mark the cluster as this run's; the mark that stands there afterwards."""
        try:
            return await Claims(self._markers, self._clock).claim(facts, holder)
        finally:
            self._looker.reads.shelf.drop("marker")

    async def claim_worker(self, worker_id: str, facts: Mapping[str, str]) -> Mapping[str, str]:
        """Mark a worker's node as this run's; the mark that stands there afterwards."""
        return await NodeMarks(self._connection, self._clock).claim(worker_id, facts)

    async def unclaim(self, run_id: str) -> None:
        """Take this run's marks away."""
        try:
            for node in self._nodes.values() if self._nodes is not None else ():
                if node.annotations.get(RUN) == run_id:
                    await NodeMarks(self._connection, self._clock).release(node.worker_id, run_id)
            await Claims(self._markers, self._clock).release(run_id)
        finally:
            self._looker.reads.shelf.drop("marker")

    async def watch(self, changed: Callable[[], None]) -> None:
        """Follow nodes and pods until cancelled, anew after each `renew_access`."""

        def moved() -> None:
            self._looker.reads.shelf.moved()
            self._echo_later(changed)
            changed()

        try:
            while True:
                self._renewed.clear()
                pace = Pace(self._limits.pace, self._limits.burst)
                shared = Shared(self._connection, self._limits, pace, moved)
                self._nodes = Reflector(self._looker.reads.nodes, shared)
                self._pods = Reflector(self._looker.reads.pods, shared)
                await _first_of(self._nodes.run(), self._pods.run(), self._renewed.wait())
        finally:
            self._nodes = self._pods = None
            if self._echo is not None:
                self._echo.cancel()

    def renew_access(self) -> None:
        """Forget credentials, connections and answers; watches start anew."""
        self._looker.reads.shelf.clear()
        self._connection.renew()
        self._renewed.set()

    def tallies(self) -> dict[str, Tally]:
        """What the watches have been through, by resource, for health and metrics."""
        found = {"nodes": self._nodes, "pods": self._pods}
        return {name: reflector.tally for name, reflector in found.items() if reflector is not None}

    async def aclose(self) -> None:
        await self._connection.aclose()

    async def _written(self, call: Coroutine[Any, Any, None]) -> None:
        """Make a call that changes the cluster; afterwards nothing that was read before stands for it."""
        try:
            await call
        finally:
            self._looker.reads.shelf.moved()

    def _echo_later(self, changed: Callable[[], None]) -> None:
        """Nudge once more a moment after the last change: controllers count only after pods have changed."""
        if self._echo is not None:
            self._echo.cancel()

        def echo() -> None:
            self._looker.reads.shelf.moved()
            changed()

        self._echo = asyncio.get_running_loop().call_later(self._limits.echo, echo)


async def _first_of(*calls: Coroutine[Any, Any, Any]) -> None:
    """Run side by side until the first one ends, then stop the others. An error of one goes on."""
    tasks = [asyncio.ensure_future(call) for call in calls]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await end(tasks)
    for task in done:
        task.result()
