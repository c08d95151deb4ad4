"""The Deployment controller: a ReplicaSet per template, rolled over within the strategy's limits.

minReadySeconds and rollback are not played.
"""

import time

from sandbox.controllers import pods
from sandbox.controllers.deployment_status import REVISION, progressing_reason, status_of
from sandbox.controllers.desk import Desk, owner
from sandbox.controllers.resources import DEPLOYMENTS, REPLICA_SETS
from sandbox.controllers.templates import HASH_LABEL, share, template_hash
from sandbox.kubernetes_client import Json

SPEAKER = "deployment-controller"
DEADLINE = 600


class Deployments:
    """All Deployments."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._deployments = desk.mirror(DEPLOYMENTS)
        self._sets = desk.mirror(REPLICA_SETS)
        self._moved: dict[str, tuple[object, float]] = {}  # uid -> last counted progress and when it was made

    async def reconcile(self) -> float | None:
        """Roll every Deployment one step and tell its status."""
        everything = self._sets.objects()
        waits = [
            await self._desk.guard(self._reconcile(one, pods.owned(everything, one)))
            for one in self._deployments.objects()
            if not pods.deleting(one)
        ]
        return min((wait for wait in waits if wait is not None), default=None)

    async def _reconcile(self, one: Json, sets: list[Json]) -> float | None:
        name = f"{one['metadata']['name']}-{template_hash(one['spec']['template'])}"
        new = next((row for row in sets if row["metadata"]["name"] == name), None)
        if new is None:
            revision = 1 + max((_revision(row) for row in sets), default=0)
            new = await self._desk.create(REPLICA_SETS, replica_set(one, name, revision))
            if new is None:
                return None
            sets = [*sets, new]
            await self._mark_revision(one, revision)
        if not one["spec"].get("paused"):
            for row, count in scaling(one, new, sets):
                await self._scale(one, row, count)
        return await self._tell(one, new, sets)

    async def _mark_revision(self, one: Json, revision: int) -> None:
        await self._desk.patch(DEPLOYMENTS, one, {"metadata": {"annotations": {REVISION: str(revision)}}})

    async def _scale(self, one: Json, row: Json, count: int) -> None:
        before = int(row["spec"].get("replicas", 0))
        if await self._desk.patch(REPLICA_SETS, row, {"spec": {"replicas": count}}) is not None:
            way = "up" if count > before else "down"
            text = f"Scaled {way} replica set {row['metadata']['name']} from {before} to {count}"
            await self._desk.event(one, "ScalingReplicaSet", text, component=SPEAKER)

    async def _tell(self, one: Json, new: Json, sets: list[Json]) -> float | None:
        """Write the status; returns the seconds until the progress deadline strikes."""
        fresh = [self._sets.get(row["metadata"]["name"], row["metadata"]["namespace"]) or row for row in sets]
        current = next(row for row in fresh if row["metadata"]["uid"] == new["metadata"]["uid"])
        now, uid = time.monotonic(), one["metadata"]["uid"]
        counted = (current["metadata"]["name"], (current.get("status") or {}).get("readyReplicas", 0))
        if self._moved.get(uid, (None, 0.0))[0] != counted:
            self._moved[uid] = (counted, now)
        deadline = self._desk.scaled(one["spec"].get("progressDeadlineSeconds") or DEADLINE)
        left = self._moved[uid][1] + deadline - now
        status = status_of(one, current, fresh, late=left <= 0)
        if _changed(status, one.get("status") or {}):
            await self._desk.patch(DEPLOYMENTS, one, {"status": status}, sub="status")
        done = progressing_reason(status) != "ReplicaSetUpdated"
        return None if done or left <= 0 else left


def replica_set(one: Json, name: str, revision: int) -> Json:
    """The ReplicaSet of a Deployment's present template, still empty."""
    spec, short = one["spec"], name.rpartition("-")[2]
    template = dict(spec["template"])
    meta = dict(template.get("metadata") or {})
    meta["labels"] = {**(meta.get("labels") or {}), HASH_LABEL: short}
    selector = dict(spec["selector"])
    selector["matchLabels"] = {**(selector.get("matchLabels") or {}), HASH_LABEL: short}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": name,
            "namespace": one["metadata"]["namespace"],
            "labels": dict(meta["labels"]),
            "annotations": {REVISION: str(revision)},
            "ownerReferences": [owner(one)],
        },
        "spec": {"replicas": 0, "selector": selector, "template": {**template, "metadata": meta}},
    }


def scaling(one: Json, new: Json, sets: list[Json]) -> list[tuple[Json, int]]:
    """Which ReplicaSets get which size now."""
    wanted = int(one["spec"].get("replicas", 1))
    old = [row for row in sets if row["metadata"]["uid"] != new["metadata"]["uid"]]
    strategy = one["spec"].get("strategy") or {}
    if strategy.get("type") == "Recreate":
        orders = [(row, 0) for row in old if _size(row)]
        gone = all(_size(row) == 0 and _running(row) == 0 for row in old)
        return orders if not gone else _resize(new, wanted)
    limits = strategy.get("rollingUpdate") or {}
    surge = share(limits.get("maxSurge"), wanted, up=True)
    missing = share(limits.get("maxUnavailable"), wanted, up=False)
    if surge == 0 and missing == 0:
        missing = 1
    total = sum(_size(row) for row in sets)
    grown = wanted if not old else min(wanted, _size(new) + max(0, wanted + surge - total))
    if _size(new) > wanted:
        grown = wanted
    orders = _resize(new, grown)
    spare = sum(_ready(row) for row in sets) - (wanted - missing)
    unready = sum(max(0, _size(row) - _ready(row)) for row in old)
    for row in sorted(old, key=_revision):
        cut = min(_size(row), max(0, spare) + unready)
        if cut:
            orders.append((row, _size(row) - cut))
            spare, unready = spare - cut, max(0, unready - cut)
    return orders


def _resize(row: Json, count: int) -> list[tuple[Json, int]]:
    return [] if _size(row) == count else [(row, count)]


def _size(row: Json) -> int:
    return int(row["spec"].get("replicas", 0))


def _running(row: Json) -> int:
    return int((row.get("status") or {}).get("replicas", 0))


def _ready(row: Json) -> int:
    return int((row.get("status") or {}).get("readyReplicas", 0))


def _revision(row: Json) -> int:
    return int((row["metadata"].get("annotations") or {}).get(REVISION, "0"))


def _changed(status: Json, have: Json) -> bool:
    known = {row["type"]: (row["status"], row.get("reason")) for row in have.get("conditions") or ()}
    told = {row["type"]: (row["status"], row["reason"]) for row in status["conditions"]}
    counts = {key: value for key, value in status.items() if key != "conditions"}
    return known != told or any((have.get(key) or 0) != (value or 0) for key, value in counts.items())
