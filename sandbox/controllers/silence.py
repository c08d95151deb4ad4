"""Kubelets that an affliction has silenced: after a while their nodes read as lost, and as back when it is over.

On a real cluster the node lifecycle controller sees this by the clock. Here the world's clock counts, so that it goes the
same way beside a real controller manager, which then does the rest: taints, pods, evictions.
"""

import time

from sandbox.controllers.afflictions import Kind
from sandbox.controllers.desk import Desk, stamp
from sandbox.controllers.nodes import kubelet_reports, lost_status
from sandbox.controllers.resources import NODES
from sandbox.kubernetes_client import STRATEGIC_PATCH, Json

GRACE = 50.0  # seconds without a sign of life until a node counts as lost


class Silence:
    """Listens for kubelets."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._nodes = desk.mirror(NODES)
        self._silent: dict[str, float] = {}  # node uid -> since when its kubelet is silent

    async def reconcile(self) -> float | None:
        """Listen to every node; returns the seconds until the next counts as lost."""
        now = time.monotonic()
        wakes = [due for node in self._nodes.objects() if (due := await self._listen(node, now)) is not None]
        return max(0.0, min(wakes) - now) if wakes else None

    async def _listen(self, node: Json, now: float) -> float | None:
        """Declare a silent node lost when it is time, or tell when that is; welcome back one that speaks again."""
        uid = node["metadata"]["uid"]
        if self._desk.afflictions.on_node(Kind.KUBELET_SILENT, node) is None:
            if self._silent.pop(uid, None) is not None and not kubelet_reports(node):
                back = {"type": "Ready", "status": "False", "reason": "KubeletNotReady", "lastTransitionTime": stamp()}
                await self._desk.patch(NODES, node, {"status": {"conditions": [back]}}, STRATEGIC_PATCH, sub="status")
            return None
        due = self._silent.setdefault(uid, now) + self._desk.scaled(GRACE)
        if now < due:
            return due
        if kubelet_reports(node):
            await self._desk.patch(NODES, node, lost_status(), STRATEGIC_PATCH, sub="status")
        return None
