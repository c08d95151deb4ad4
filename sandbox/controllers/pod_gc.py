"""The pod garbage collector: pods of nodes that are gone become Failed and are deleted, after a while.

Seen on a real control plane v1.36.2: until then they read Running and Ready; if the node comes back under its name
in time, nothing happens at all.
"""

import time

from sandbox.controllers import pods
from sandbox.controllers.desk import Desk, stamp
from sandbox.controllers.resources import NODES, PODS
from sandbox.kubernetes_client import STRATEGIC_PATCH, Json


class PodGC:
    """Collects orphaned pods."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._nodes = desk.mirror(NODES)
        self._pods = desk.mirror(PODS)
        self._missing: dict[str, float] = {}  # node name -> since when it is missed

    async def reconcile(self) -> float | None:
        """Collect what has been orphaned long enough; returns the seconds until the next is."""
        now = time.monotonic()
        known = {node["metadata"]["name"] for node in self._nodes.objects()}
        orphans = [pod for pod in self._pods.objects() if pods.node_name(pod) and pods.node_name(pod) not in known]
        names = {pods.node_name(pod) for pod in orphans}
        self._missing = {name: self._missing.get(name, now) for name in names}
        patience = self._desk.seconds("pod_gc")
        for pod in orphans:
            if now >= self._missing[pods.node_name(pod)] + patience:
                await self._collect(pod)
        waits = [since + patience - now for since in self._missing.values()]
        return min((wait for wait in waits if wait > 0), default=None)

    async def _collect(self, pod: Json) -> None:
        row = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "DeletionByPodGC",
            "message": "PodGC: node no longer exists",
            "lastTransitionTime": stamp(),
        }
        if not pods.finished(pod):
            change = {"status": {"phase": "Failed", "conditions": [row]}}
            await self._desk.patch(PODS, pod, change, STRATEGIC_PATCH, sub="status")
        await self._desk.delete(PODS, pod, grace=0)
