"""The kubelets of all nodes: they take nodes Ready, run pods by their scripts, stop them, and show GPUs.

One part plays every kubelet, as kubemark does. A node whose Ready condition somebody else has taken away has no
kubelet any more: nothing moves on it until its Node object is deleted.
"""

import asyncio
import time

from sandbox.controllers import pods
from sandbox.controllers.afflictions import Kind
from sandbox.controllers.desk import Desk
from sandbox.controllers.devices import gpu_amounts
from sandbox.controllers.node_status import LEASE_SECONDS, ready_status, renew
from sandbox.controllers.nodes import GPU, kubelet_reports
from sandbox.controllers.placement import insufficient
from sandbox.controllers.pod_status import differs, rejected, render, stopped
from sandbox.controllers.pod_troubles import complaints, troubles_of
from sandbox.controllers.progress import SANDBOX, Circumstances, Progress, advance
from sandbox.controllers.quantities import quantity
from sandbox.controllers.resources import NODES, PODS
from sandbox.controllers.scripts import PLUGIN_APP, Gate, open_gates, script_of
from sandbox.kubernetes_client import STRATEGIC_PATCH, Json

Wakes = list[float]  # moments (monotonic seconds) of the next changes


class Kubelet:
    """All kubelets."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._nodes = desk.mirror(NODES)
        self._pods = desk.mirror(PODS)
        self._progress: dict[str, Progress] = {}
        self._joined: dict[str, float] = {}  # node uid -> when its kubelet started
        self._renewed: dict[str, float] = {}
        self._told: set[tuple[str, str]] = set()  # events that were recorded
        self._ends: dict[str, float] = {}  # pod uid -> when its containers have stopped
        self._addresses: dict[str, str] = {}
        self._first = True

    async def reconcile(self) -> float | None:
        """Tend every node; returns the seconds until something is due."""
        now = time.monotonic()
        here: dict[str, list[Json]] = {}
        for pod in self._pods.objects():
            here.setdefault(pods.node_name(pod), []).append(pod)
        self._forget({pod["metadata"]["uid"] for pod in self._pods.objects()})
        nodes = [node for node in self._nodes.objects() if not self._silent(node)]
        for node in nodes:
            late = 0.0 if self._first else self._desk.seconds("node_ready")
            self._joined.setdefault(node["metadata"]["uid"], now + late)
        self._first = False
        tended = (self._tend(node, here.get(node["metadata"]["name"], []), now) for node in nodes)
        wakes: Wakes = []
        for found in await asyncio.gather(*tended, return_exceptions=True):
            if isinstance(found, BaseException):
                raise found
            wakes += found
        return max(0.0, min(wakes) - time.monotonic()) if wakes else None

    def _silent(self, node: Json) -> bool:
        return not kubelet_reports(node) or self._desk.afflictions.on_node(Kind.KUBELET_SILENT, node) is not None

    async def _tend(self, node: Json, here: list[Json], now: float) -> Wakes:
        uid = node["metadata"]["uid"]
        if now < self._joined[uid]:
            return [self._joined[uid]]
        if not pods.condition_true(node, "Ready"):
            await self._desk.patch(NODES, node, ready_status(node), STRATEGIC_PATCH, sub="status")
        if now >= self._renewed.get(uid, 0.0):
            first = uid not in self._renewed
            self._renewed[uid] = now + LEASE_SECONDS
            await renew(self._desk.api, node, first=first)
        wakes = [self._renewed[uid]]
        gates = open_gates(node, here)
        for pod in here:
            if pods.deleting(pod):
                wakes += await self._desk.guard(self._stop(pod, node, now)) or []
            elif not pods.finished(pod):
                wakes += await self._desk.guard(self._run(pod, node, (here, gates), now)) or []
        return wakes + await self._show_gpus(node, here, now)

    async def _run(self, pod: Json, node: Json, around: tuple[list[Json], frozenset[Gate]], now: float) -> Wakes:
        here, gates = around
        uid = pod["metadata"]["uid"]
        progress = self._progress.get(uid)
        if progress is None:
            progress = self._progress[uid] = _restored(pod, now)
            if progress.stage == SANDBOX and await self._refused(pod, node, here):
                return []
        desk = self._desk
        case = Circumstances(
            script_of(pod, node, desk.seconds, desk.scenario.speed),
            gates,
            troubles_of(pod, node, desk.afflictions, desk.scenario.speed),
            now,
            desk.scenario.speed,
            restarts=pod["spec"].get("restartPolicy", "Always") != "Never",
        )
        wake = advance(progress, case)
        status = render(pod, progress, case, self._address(pod))
        if differs(status, pod.get("status") or {}):
            await desk.patch(PODS, pod, {"status": status}, STRATEGIC_PATCH, sub="status")
        await self._complain(pod, progress, case)
        return [] if wake is None else [wake]

    async def _refused(self, pod: Json, node: Json, here: list[Json]) -> bool:
        """Refuse a pod that does not fit (the kubelet's own admission)."""
        admitted = [other for other in here if self._admitted(other) and other is not pod]
        lacking = insufficient(pod, node, admitted)
        if not lacking:
            return False
        resource = lacking[0].text.removeprefix("Insufficient ").replace("Too many pods", "pods")
        wanted = pods.requests(pod).get(resource, 1)
        used = pods.together(admitted).get(resource, 0)
        room = quantity(((node.get("status") or {}).get("allocatable") or {}).get(resource, "0"))
        status = rejected(pod, resource, (wanted, used, room))
        await self._desk.patch(PODS, pod, {"status": status}, STRATEGIC_PATCH, sub="status")
        await self._event(pod, status["reason"], status["message"].removeprefix("Pod was rejected: "), "Warning")
        return True

    def _admitted(self, pod: Json) -> bool:
        return pod["metadata"]["uid"] in self._progress and not pods.finished(pod)

    async def _stop(self, pod: Json, node: Json, now: float) -> Wakes:
        """Let the containers end within the grace period, then take the pod away."""
        if self._desk.afflictions.on_pod(Kind.STUCK_TERMINATING, node, pod):
            return []
        uid = pod["metadata"]["uid"]
        grace = float(pod["metadata"].get("deletionGracePeriodSeconds") or 0)
        lasting = min(self._desk.seconds("pod_stop"), self._desk.scaled(grace))
        due = min(self._ends.setdefault(uid, now + lasting), now + lasting)
        if now < due and not pods.finished(pod):
            return [due]
        if pods.phase(pod) == "Running":
            await self._desk.patch(PODS, pod, {"status": stopped(pod)}, STRATEGIC_PATCH, sub="status")
        await self._desk.delete(PODS, pod, grace=0)
        return []

    async def _show_gpus(self, node: Json, here: list[Json], now: float) -> Wakes:
        """Write capacity and allocatable as the device plugin on the node tells them."""
        wakes: Wakes = []
        plugin: bool | None = None
        for pod in here:
            if (pod["metadata"].get("labels") or {}).get("app") != PLUGIN_APP or pods.deleting(pod):
                continue
            since = self._progress[pod["metadata"]["uid"]].ready_since if self._admitted(pod) else None
            due = None if since is None else since + self._desk.seconds("register")
            plugin = due is not None and now >= due
            if due is not None and now < due:
                wakes.append(due)
        if plugin and self._desk.afflictions.on_node(Kind.NOT_REGISTERED, node):
            plugin = False
        limit = self._desk.afflictions.on_node(Kind.ALLOCATABLE, node)
        amounts = gpu_amounts(node, plugin=plugin, healthy=None if limit is None else limit.number)
        status = node.get("status") or {}
        shown = tuple((status.get(part) or {}).get(GPU) for part in ("capacity", "allocatable"))
        if amounts is not None and amounts != shown:
            change = {"status": {"capacity": {GPU: amounts[0]}, "allocatable": {GPU: amounts[1]}}}
            await self._desk.patch(NODES, node, change, STRATEGIC_PATCH, sub="status")
        return wakes

    async def _complain(self, pod: Json, progress: Progress, case: Circumstances) -> None:
        for kind, reason, message in complaints(pod, progress, case):
            if (pod["metadata"]["uid"], reason + message) not in self._told:
                self._told.add((pod["metadata"]["uid"], reason + message))
                await self._event(pod, reason, message, kind)

    async def _event(self, pod: Json, reason: str, message: str, kind: str) -> None:
        await self._desk.event(pod, reason, message, component="kubelet", host=pods.node_name(pod), type=kind)

    def _address(self, pod: Json) -> str:
        """An address of the pod's own in the cluster's network, kept as long as the pod lives."""
        known = (pod.get("status") or {}).get("podIP")
        uid = pod["metadata"]["uid"]
        if uid not in self._addresses:
            number = len(self._addresses) + 64
            third = 64 + sum(map(ord, pods.node_name(pod))) % 64
            self._addresses[uid] = known or f"172.17.{third}.{number % 250 + 2}"
        return self._addresses[uid]

    def _forget(self, alive: set[str]) -> None:
        self._progress = {uid: one for uid, one in self._progress.items() if uid in alive}
        self._ends = {uid: one for uid, one in self._ends.items() if uid in alive}
        self._told = {row for row in self._told if row[0] in alive}


def _restored(pod: Json, now: float) -> Progress:
    """Where a pod stands by its own status: a new pod at the beginning, a running one at its end."""
    status = pod.get("status") or {}
    inits = status.get("initContainerStatuses") or ()
    done = sum(1 for row in inits if (row.get("state", {}).get("terminated") or {}).get("exitCode") == 0)
    if pods.ready(pod):
        return Progress(stage=len(pod["spec"].get("initContainers") or ()), running=True, started=now, ready_since=now)
    begun = status.get("podIP") is not None
    return Progress(stage=done if begun else SANDBOX)
