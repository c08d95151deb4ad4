"""The StatefulSet controller: numbered pods, one after the other, each name used again only when its pod is gone.

Claims from volumeClaimTemplates are made and never deleted. Rolling updates go from the highest number down.
"""

from sandbox.controllers import pods
from sandbox.controllers.desk import Desk
from sandbox.controllers.resources import CLAIMS, PODS, STATEFUL_SETS
from sandbox.controllers.templates import REVISION_LABEL, pod_from, template_hash
from sandbox.kubernetes_client import Json

SPEAKER = "statefulset-controller"
NAME_LABEL, INDEX_LABEL = "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index"


class StatefulSets:
    """All StatefulSets."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._sets = desk.mirror(STATEFUL_SETS)
        self._pods = desk.mirror(PODS)

    async def reconcile(self) -> float | None:
        """Bring every set one step further and tell its status."""
        everything = self._pods.objects()
        for one in self._sets.objects():
            if not pods.deleting(one):
                await self._desk.guard(self._reconcile(one, pods.owned(everything, one)))
        return None

    async def _reconcile(self, one: Json, mine: list[Json]) -> None:
        by_number = {number(pod): pod for pod in mine}
        wanted = int(one["spec"].get("replicas", 1))
        parallel = one["spec"].get("podManagementPolicy") == "Parallel"
        settled = await self._grow(one, by_number, wanted, parallel=parallel)
        surplus = sorted((n for n in by_number if n >= wanted), reverse=True)
        for index in surplus if parallel else surplus[:1] if settled else ():
            if not pods.deleting(by_number[index]):
                await self._delete(one, by_number[index])
        if settled and not surplus:
            await self._roll(one, by_number)
        await self._tell(one, mine)

    async def _grow(self, one: Json, by_number: dict[int, Json], wanted: int, *, parallel: bool) -> bool:
        """Fill the lowest gap; whether all numbers are there and ready."""
        for index in range(wanted):
            pod = by_number.get(index)
            if pod is None:
                await self._create(one, index)
            elif pods.finished(pod) and not pods.deleting(pod):
                await self._delete(one, pod)
            if (pod is None or not pods.ready(pod) or pods.deleting(pod)) and not parallel:
                return False
        return all(index in by_number for index in range(wanted))

    async def _create(self, one: Json, index: int) -> None:
        for claim in one["spec"].get("volumeClaimTemplates") or ():
            await self._desk.create(CLAIMS, claim_of(one, claim, index))
        pod = numbered_pod(one, index)
        if await self._desk.create(PODS, pod) is not None:
            text = f"create Pod {pod['metadata']['name']} in StatefulSet {one['metadata']['name']} successful"
            await self._desk.event(one, "SuccessfulCreate", text, component=SPEAKER)

    async def _delete(self, one: Json, pod: Json) -> None:
        await self._desk.delete(PODS, pod)
        text = f"delete Pod {pod['metadata']['name']} in StatefulSet {one['metadata']['name']} successful"
        await self._desk.event(one, "SuccessfulDelete", text, component=SPEAKER)

    async def _roll(self, one: Json, by_number: dict[int, Json]) -> None:
        if (one["spec"].get("updateStrategy") or {}).get("type") == "OnDelete":
            return
        old = [index for index, pod in by_number.items() if not _updated(one, pod)]
        if old:
            await self._delete(one, by_number[max(old)])

    async def _tell(self, one: Json, mine: list[Json]) -> None:
        alive = [pod for pod in mine if not pods.finished(pod)]
        ready = sum(pods.ready(pod) for pod in alive)
        fresh = sum(_updated(one, pod) for pod in alive)
        revision = f"{one['metadata']['name']}-{template_hash(one['spec']['template'])}"
        have = one.get("status") or {}
        done = fresh == len(alive)
        status = {
            "replicas": len(alive),
            "readyReplicas": ready,
            "availableReplicas": ready,
            "updatedReplicas": fresh,
            "currentReplicas": len(alive) if done else len(alive) - fresh,
            "updateRevision": revision,
            "currentRevision": revision if done else have.get("currentRevision", revision),
            "observedGeneration": one["metadata"].get("generation", 1),
            "collisionCount": 0,
        }
        if any((have.get(key) or 0) != (value or 0) for key, value in status.items()):
            await self._desk.patch(STATEFUL_SETS, one, {"status": status}, sub="status")


def numbered_pod(one: Json, index: int) -> Json:
    """The pod with this number."""
    name = f"{one['metadata']['name']}-{index}"
    labels = {REVISION_LABEL: _revision(one), NAME_LABEL: name, INDEX_LABEL: str(index)}
    pod = pod_from(one, labels, name=name)
    spec = pod["spec"]
    spec["hostname"], spec["subdomain"] = name, one["spec"].get("serviceName", "")
    claims = {claim["metadata"]["name"] for claim in one["spec"].get("volumeClaimTemplates") or ()}
    volumes = [row for row in spec.get("volumes") or () if row["name"] not in claims]
    volumes += [{"name": row, "persistentVolumeClaim": {"claimName": f"{row}-{name}"}} for row in sorted(claims)]
    if volumes:
        spec["volumes"] = volumes
    return pod


def claim_of(one: Json, claim: Json, index: int) -> Json:
    """The claim of one pod, from its template."""
    name = f"{claim['metadata']['name']}-{one['metadata']['name']}-{index}"
    labels = (one["spec"].get("selector") or {}).get("matchLabels") or {}
    meta = {"name": name, "namespace": one["metadata"]["namespace"], "labels": labels}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": claim["spec"]}


def number(pod: Json) -> int:
    """The pod's number; -1 for a name that has none."""
    tail = pod["metadata"]["name"].rpartition("-")[2]
    return int(tail) if tail.isdigit() else -1


def _revision(one: Json) -> str:
    return f"{one['metadata']['name']}-{template_hash(one['spec']['template'])}"


def _updated(one: Json, pod: Json) -> bool:
    return bool((pod["metadata"].get("labels") or {}).get(REVISION_LABEL) == _revision(one))
