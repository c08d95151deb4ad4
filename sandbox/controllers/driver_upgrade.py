"""The operator's driver upgrades: when the driver of a DaemonSet changes, node by node is emptied and restarted.

This is what a chart upgrade in the middle of a migration sets off: GPU pods are evicted although nobody asked for it.
States, slots and their order are those of the operator's upgrade library; waiting for jobs by selector, drain and
maintenance requests are not played.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sandbox.controllers import pods
from sandbox.controllers.daemonsets import target, updated
from sandbox.controllers.desk import Desk, settled
from sandbox.controllers.operands import MAIN_VALIDATOR, chart_label
from sandbox.controllers.resources import NODES, PODS
from sandbox.controllers.scripts import is_driver
from sandbox.controllers.templates import share
from sandbox.kubernetes_client import ApiError, Json

STATE = "nvidia.com/gpu-driver-upgrade-state"
SKIP = "nvidia.com/gpu-driver-upgrade.skip"
WAS_CORDONED = "nvidia.com/gpu-driver-upgrade.node-initial-state.unschedulable"
DONE_AFTER = 90.0  # seconds as in life between the first driver pod and its node's label; 80 to 99 were recorded
GPU_RESOURCES = ("nvidia.com/gpu", "nvidia.com/mig-")
ORDER = (
    "upgrade-required",
    "cordon-required",
    "wait-for-jobs-required",
    "pod-deletion-required",
    "pod-restart-required",
    "validation-required",
    "uncordon-required",
    "upgrade-done",
)
FIRST, DONE, FAILED = ORDER[0], ORDER[-1], "upgrade-failed"


@dataclass(frozen=True, slots=True)
class Patient:
    """One node that runs the driver: its pods, and whether the driver is another than the DaemonSet's."""

    node: Json
    driver: Json
    outdated: bool
    here: tuple[Json, ...]

    @property
    def state(self) -> str:
        return str((self.node["metadata"].get("labels") or {}).get(STATE, ""))

    @property
    def cordoned(self) -> bool:
        return bool(self.node["spec"].get("unschedulable"))


class DriverUpgrades:
    """All nodes with a driver pod."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._since: dict[str, float] = {}  # node uid -> when its driver pod was first seen

    async def round(self, policy: Json, world: tuple[list[Json], list[Json], list[Json]], now: float) -> float | None:
        """Bring every node one state further; the seconds until the next is due, None when nothing is under way.

        `world`: nodes, pods, DaemonSets.
        """
        patients = list(_patients(policy, *world))
        free = slots(patients, policy)
        waits = []
        for one in patients:
            if one.state in ("", DONE):
                waits.append(await self._begin(one, now))
            elif one.state == FIRST:
                if free > 0 or one.cordoned:
                    free -= 1
                    await self._say(one, ORDER[1])
                waits.append(self._desk.seconds("reconcile"))
            elif one.state != FAILED:
                await self._act(one)
                waits.append(self._desk.seconds("reconcile"))
        return min((wait for wait in waits if wait is not None), default=None)

    async def _begin(self, one: Patient, now: float) -> float | None:
        skipped = (one.node["metadata"].get("labels") or {}).get(SKIP) == "true"
        if one.outdated and not skipped:
            marks = {WAS_CORDONED: "true"} if one.cordoned else {}
            await self._say(one, FIRST, marks)
            return self._desk.seconds("reconcile")
        due = self._since.setdefault(one.node["metadata"]["uid"], now) + self._desk.scaled(DONE_AFTER)
        if now >= due and one.state != DONE:
            await self._say(one, DONE)
        return due - now if now < due else None

    async def _act(self, one: Patient) -> None:
        match one.state:
            case "cordon-required":
                await self._desk.patch(NODES, one.node, {"spec": {"unschedulable": True}})
                await self._say(one, "wait-for-jobs-required")
            case "wait-for-jobs-required":
                await self._say(one, "pod-deletion-required")
            case "pod-deletion-required":
                await self._empty(one)
            case "pod-restart-required":
                await self._restart(one)
            case "validation-required":
                if any(_validates(pod) for pod in one.here):
                    await self._say(one, "uncordon-required")
            case "uncordon-required":
                await self._release(one)

    async def _empty(self, one: Patient) -> None:
        """Evict the GPU pods; refused evictions are tried again, pods that nothing brings back stop the upgrade."""
        gpu_pods = [pod for pod in one.here if uses_gpu(pod) and not pods.finished(pod)]
        if any(not pods.controller_uid(pod) or _has_scratch(pod) for pod in gpu_pods):
            await self._say(one, FAILED)
        elif not gpu_pods:
            await self._say(one, "pod-restart-required")
        for pod in gpu_pods:
            if pods.controller_uid(pod) and not pods.deleting(pod) and not _has_scratch(pod):
                await self._evict(pod)

    async def _evict(self, pod: Json) -> None:
        meta = {"name": pod["metadata"]["name"], "namespace": pod["metadata"].get("namespace", "")}
        eviction: Json = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": meta}
        try:
            await settled(self._desk.api.post(PODS.at(pod, "eviction"), eviction))
        except ApiError as refused:
            if refused.status != 429:
                raise

    async def _restart(self, one: Patient) -> None:
        if one.outdated and not pods.deleting(one.driver):
            await self._desk.delete(PODS, one.driver)
        elif not one.outdated and pods.ready(one.driver):
            await self._say(one, "validation-required")

    async def _release(self, one: Patient) -> None:
        marks = one.node["metadata"].get("annotations") or {}
        if marks.get(WAS_CORDONED) != "true":
            await self._desk.patch(NODES, one.node, {"spec": {"unschedulable": None}})
        await self._say(one, DONE, {WAS_CORDONED: None})

    async def _say(self, one: Patient, state: str, marks: Mapping[str, str | None] | None = None) -> None:
        metadata = {"labels": {STATE: state}, "annotations": dict(marks or {})}
        await self._desk.patch(NODES, one.node, {"metadata": metadata})
        text = f"Successfully updated node state label to [{state}]"
        await self._desk.event(one.node, "GPUDriverUpgrade", text, component="gpu-operator")


def slots(patients: list[Patient], policy: Json) -> int:
    """How many more nodes may be upgraded at once: by number, and by how many may be unavailable."""
    rules = (policy["spec"].get("driver") or {}).get("upgradePolicy") or {}
    if not rules.get("autoUpgrade", True):
        return 0
    busy = sum(one.state in ORDER[1:-1] for one in patients)
    parallel = int(rules.get("maxParallelUpgrades", 1)) or len(patients)
    away = sum(one.cordoned or not pods.condition_true(one.node, "Ready") for one in patients)
    unavailable = share(rules.get("maxUnavailable"), len(patients), up=True)
    return min(parallel - busy, unavailable - away)


def uses_gpu(pod: Json) -> bool:
    return any(name.startswith(GPU_RESOURCES) for name in pods.requests(pod))


def _patients(policy: Json, nodes: list[Json], everything: list[Json], sets: list[Json]) -> Iterable[Patient]:
    owners = {one["metadata"]["uid"]: one for one in sets}
    by_name = {node["metadata"]["name"]: node for node in nodes}
    for pod in everything:
        node, one = by_name.get(target(pod)), owners.get(pods.controller_uid(pod))
        if is_driver(pod) and not pods.finished(pod) and node is not None and one is not None:
            here = tuple(other for other in everything if pods.node_name(other) == node["metadata"]["name"])
            yield Patient(node, pod, _outdated(policy, one, pod), here)


def _outdated(policy: Json, one: Json, pod: Json) -> bool:
    """Whether the pod's driver is another one; up to 26.3 any change of the template counts, later its images."""
    if "-v26.3" in chart_label(policy).get("helm.sh/chart", ""):
        return not updated(one, pod)
    wanted, have = one["spec"]["template"]["spec"], pod["spec"]
    return any(
        [row.get("image") for row in wanted.get(kind) or ()] != [row.get("image") for row in have.get(kind) or ()]
        for kind in ("initContainers", "containers")
    )


def _validates(pod: Json) -> bool:
    return (pod["metadata"].get("labels") or {}).get("app") == MAIN_VALIDATOR and pods.ready(pod)


def _has_scratch(pod: Json) -> bool:
    return any("emptyDir" in volume for volume in pod["spec"].get("volumes") or ())
