"""The status of a Deployment, as recorded from a control plane v1.36.2. Pure."""

from sandbox.controllers.desk import stamp
from sandbox.controllers.pods import condition
from sandbox.controllers.templates import share
from sandbox.kubernetes_client import Json

REVISION = "deployment.kubernetes.io/revision"


def status_of(one: Json, new: Json, sets: list[Json], *, late: bool) -> Json:
    """Counts and conditions. `late`: the progress deadline has passed."""
    wanted = int(one["spec"].get("replicas", 1))
    ready = _sum(sets, "readyReplicas")
    counts = {
        "replicas": _sum(sets, "replicas"),
        "updatedReplicas": _sum([new], "replicas"),
        "readyReplicas": ready,
        "availableReplicas": _sum(sets, "availableReplicas"),
    }
    rows = [_available(one, wanted, counts["availableReplicas"]), _progressing(one, new, counts, late=late)]
    return {
        **counts,
        "unavailableReplicas": max(0, wanted - counts["availableReplicas"]) or None,
        "observedGeneration": one["metadata"].get("generation", 1),
        "conditions": rows,
    }


def progressing_reason(status: Json) -> str:
    return next(str(row["reason"]) for row in status["conditions"] if row["type"] == "Progressing")


def _available(one: Json, wanted: int, available: int) -> Json:
    limits = (one["spec"].get("strategy") or {}).get("rollingUpdate") or {}
    recreate = (one["spec"].get("strategy") or {}).get("type") == "Recreate"
    missing = 0 if recreate else share(limits.get("maxUnavailable"), wanted, up=False)
    if available >= wanted - missing:
        return _row(one, "Available", "True", ("MinimumReplicasAvailable", "Deployment has minimum availability."))
    text = "Deployment does not have minimum availability."
    return _row(one, "Available", "False", ("MinimumReplicasUnavailable", text))


def _progressing(one: Json, new: Json, counts: dict[str, int], *, late: bool) -> Json:
    wanted, name = int(one["spec"].get("replicas", 1)), new["metadata"]["name"]
    done = counts["updatedReplicas"] == counts["replicas"] == counts["availableReplicas"] == wanted
    known = condition(one, "Progressing") or {}
    finished = "NewReplicaSetAvailable"
    if done or (known.get("reason") == finished and name in known.get("message", "")):
        return _row(one, "Progressing", "True", (finished, f'ReplicaSet "{name}" has successfully progressed.'))
    if late:
        text = f'ReplicaSet "{name}" has timed out progressing.'
        return _row(one, "Progressing", "False", ("ProgressDeadlineExceeded", text))
    return _row(one, "Progressing", "True", ("ReplicaSetUpdated", f'ReplicaSet "{name}" is progressing.'))


def _row(one: Json, kind: str, status: str, why: tuple[str, str]) -> Json:
    known = condition(one, kind) or {}
    same = known.get("status") == status
    at = stamp()
    return {
        "type": kind,
        "status": status,
        "reason": why[0],
        "message": why[1],
        "lastUpdateTime": at,
        "lastTransitionTime": known["lastTransitionTime"] if same else at,
    }


def _sum(sets: list[Json], field: str) -> int:
    return sum(int((row.get("status") or {}).get(field) or 0) for row in sets)
