"""The ReplicaSet controller: as many pods as wanted, the least useful ones go first."""

from sandbox.controllers import pods
from sandbox.controllers.desk import Desk
from sandbox.controllers.resources import PODS, REPLICA_SETS
from sandbox.controllers.templates import pod_from
from sandbox.kubernetes_client import Json

SPEAKER = "replicaset-controller"


class ReplicaSets:
    """All ReplicaSets."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._sets = desk.mirror(REPLICA_SETS)
        self._pods = desk.mirror(PODS)

    async def reconcile(self) -> float | None:
        """Create what is missing, delete what is too much, tell the status."""
        everything = self._pods.objects()
        for one in self._sets.objects():
            if not pods.deleting(one):
                await self._desk.guard(self._reconcile(one, pods.owned(everything, one)))
        return None

    async def _reconcile(self, one: Json, mine: list[Json]) -> None:
        wanted = int(one["spec"].get("replicas", 1))
        alive = [pod for pod in mine if pods.active(pod)]
        for _ in range(wanted - len(alive)):
            await self._desk.create_pod(one, pod_from(one), SPEAKER)
        for pod in sorted(alive, key=usefulness)[: max(0, len(alive) - wanted)]:
            await self._desk.delete(PODS, pod)
            text = f"Deleted pod: {pod['metadata']['name']}"
            await self._desk.event(one, "SuccessfulDelete", text, component=SPEAKER)
        status = status_of(one, mine)
        if status != {key: (one.get("status") or {}).get(key, 0) for key in status}:
            await self._desk.patch(REPLICA_SETS, one, {"status": status}, sub="status")


def usefulness(pod: Json) -> tuple[bool, bool, bool, str]:
    """Order in which pods are given up: unbound, not running, not ready, then the youngest."""
    age = pod["metadata"].get("creationTimestamp", "")
    inverted = "".join(chr(0x10FF - ord(sign)) for sign in age)
    return bool(pods.node_name(pod)), pods.phase(pod) == "Running", pods.ready(pod), inverted


def status_of(one: Json, mine: list[Json]) -> Json:
    """The status a ReplicaSet has with these pods."""
    alive = [pod for pod in mine if pods.active(pod)]
    ready = sum(pods.ready(pod) for pod in alive)
    return {
        "replicas": len(alive),
        "fullyLabeledReplicas": len(alive),
        "readyReplicas": ready,
        "availableReplicas": ready,
        "observedGeneration": one["metadata"].get("generation", 1),
    }
