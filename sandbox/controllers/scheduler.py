"""The scheduler: binds waiting pods, or says why not, in a condition and an event. The decision is in `placement`."""

import time
from dataclasses import replace

from sandbox.controllers import pods
from sandbox.controllers.desk import Desk, micro_stamp, reference, settled, stamp
from sandbox.controllers.placement import GATED, Placed, Refused, World, place
from sandbox.controllers.preemption import victims
from sandbox.controllers.resources import CLAIMS, EVENTS, NODES, PODS, STORAGE_CLASSES, VOLUMES
from sandbox.controllers.volumes import Storage
from sandbox.kubernetes_client import STRATEGIC_PATCH, Json

NAME = "default-scheduler"


class Scheduler:
    """The default scheduler; pods of other schedulers are left alone."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._nodes = desk.mirror(NODES)
        self._pods = desk.mirror(PODS)
        self._claims = desk.mirror(CLAIMS)
        self._volumes = desk.mirror(VOLUMES)
        self._classes = desk.mirror(STORAGE_CLASSES)
        self._bound: dict[str, str] = {}
        self._told: dict[str, str] = {}  # pod uid -> the last refusal that got an event

    async def reconcile(self) -> float | None:
        """Try every waiting pod, the most important and then the oldest first."""
        everything = self._pods.objects()
        alive = {pod["metadata"]["uid"] for pod in everything}
        unseen = {pod["metadata"]["uid"] for pod in everything if not pods.node_name(pod)}
        self._bound = {uid: node for uid, node in self._bound.items() if uid in unseen}
        self._told = {uid: text for uid, text in self._told.items() if uid in alive}
        for pod in sorted(filter(self._waiting, everything), key=_turn):
            await self._desk.guard(self._schedule(pod))
        return None

    def _waiting(self, pod: Json) -> bool:
        mine = pod["spec"].get("schedulerName", NAME) == NAME
        free = not pods.node_name(pod) and pod["metadata"]["uid"] not in self._bound
        return mine and free and pods.active(pod)

    async def _schedule(self, pod: Json) -> None:
        if pod["spec"].get("schedulingGates"):
            await self._condition(pod, "SchedulingGated", GATED)
            return
        world = self._world()
        match place(pod, world):
            case Placed(node):
                await self._bind(pod, node)
            case Refused() as refused:
                await self._refuse(pod, refused, world)

    def _world(self) -> World:
        storage = Storage(
            {f"{one['metadata']['namespace']}/{one['metadata']['name']}": one for one in self._claims.objects()},
            {one["metadata"]["name"]: one for one in self._volumes.objects()},
            {one["metadata"]["name"]: one for one in self._classes.objects()},
        )
        return World(self._nodes.objects(), self._pods.objects(), storage, dict(self._bound))

    async def _bind(self, pod: Json, node: str) -> None:
        namespace, name = pod["metadata"].get("namespace", ""), pod["metadata"]["name"]
        binding: Json = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": name, "namespace": namespace, "uid": pod["metadata"]["uid"]},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        }
        if await settled(self._desk.api.post(PODS.at(pod, "binding"), binding)) is None:
            return
        self._bound[pod["metadata"]["uid"]] = node
        await self._event(pod, "Scheduled", f"Successfully assigned {namespace}/{name} to {node}", "Binding")

    async def _refuse(self, pod: Json, refused: Refused, world: World) -> None:
        doomed = victims(pod, refused.contested, world)
        if doomed is not None:
            text = refused.message.partition(" no new claims to deallocate")[0]
            refused = replace(refused, message=text)
        await self._condition(pod, "Unschedulable", refused.message)
        if self._told.get(pod["metadata"]["uid"]) != refused.message:
            self._told[pod["metadata"]["uid"]] = refused.message
            await self._event(pod, "FailedScheduling", refused.message, "Scheduling", "Warning")
        if doomed is not None:
            await self._preempt(pod, doomed)

    async def _preempt(self, pod: Json, doomed: tuple[str, tuple[Json, ...]]) -> None:
        node, gone = doomed
        for victim in gone:
            text = f"{NAME}: preempting to accommodate a higher priority pod"
            target = _row("DisruptionTarget", "True", "PreemptionByScheduler", text)
            await self._desk.patch(PODS, victim, {"status": {"conditions": [target]}}, STRATEGIC_PATCH, sub="status")
            await self._desk.delete(PODS, victim)
            told = f"Preempted by pod {pod['metadata']['uid']} on node {node}"
            await self._event(victim, "Preempted", told, "Preempting")
        await self._desk.patch(PODS, pod, {"status": {"nominatedNodeName": node}}, STRATEGIC_PATCH, sub="status")

    async def _condition(self, pod: Json, reason: str, message: str) -> None:
        known = pods.condition(pod, "PodScheduled") or {}
        if (known.get("reason"), known.get("message")) == (reason, message):
            return
        row = _row("PodScheduled", "False", reason, message)
        generation = pod["metadata"].get("generation")
        if generation is not None and reason == "Unschedulable":
            row["observedGeneration"] = generation
        await self._desk.patch(PODS, pod, {"status": {"conditions": [row]}}, STRATEGIC_PATCH, sub="status")

    async def _event(self, pod: Json, reason: str, message: str, action: str, kind: str = "Normal") -> None:
        """Record an event as the scheduler does: by eventTime only, without count and source."""
        namespace = pod["metadata"].get("namespace", "default")
        name = f"{pod['metadata']['name']}.{time.time_ns():x}"
        event: Json = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": namespace},
            "involvedObject": reference(pod),
            "type": kind,
            "reason": reason,
            "message": message,
            "action": action,
            "eventTime": micro_stamp(),
            "reportingComponent": NAME,
            "reportingInstance": f"{NAME}-sandbox",
        }
        await settled(self._desk.api.post(EVENTS.within(namespace), event))


def _row(kind: str, status: str, reason: str, message: str) -> Json:
    at = stamp()
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastProbeTime": None,
        "lastTransitionTime": at,
    }


def _turn(pod: Json) -> tuple[int, str, str]:
    return -pods.priority(pod), pod["metadata"].get("creationTimestamp", ""), pod["metadata"]["name"]
