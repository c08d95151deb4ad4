"""pods/eviction: disruption budgets asked, DisruptionTarget written, then the pod deleted.

Nothing here computes a budget's status: a controller does, from outside. A status older than its spec blocks.
"""

from typing import Any

from sandbox.kubernetes.cluster import Call, Reply, now
from sandbox.kubernetes.deletion import delete_record
from sandbox.kubernetes.loading import load_typed
from sandbox.kubernetes.options import check_delete
from sandbox.kubernetes.resources import Resource
from sandbox.kubernetes.selectors import label_selector_matches
from sandbox.kubernetes.shapes import builtin_shape
from sandbox.kubernetes.statuses import bad_request, conflict, internal, not_found, too_many
from sandbox.kubernetes.store import Record, Store

Obj = dict[str, Any]

EVICTION = builtin_shape("policy/v1/Eviction")
BUDGETS = ("policy", "poddisruptionbudgets")
SUCCESS: Obj = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
MESSAGE = "Eviction API: evicting"


def evict(call: Call) -> Reply:
    """POST pods/NAME/eviction. Raises ApiError 404, 409, 429 or 500."""
    body = load_typed(call.body, call.content_type, "Eviction", EVICTION)
    if (body.get("metadata") or {}).get("name") != call.name:
        raise bad_request("name in URL does not match name in Eviction object")
    options = dict(body.get("deleteOptions") or {})
    check_delete(options)
    dry = call.dry_run or bool(options.get("dryRun"))
    store, resource = call.cluster.store, call.kind
    record = store.get(resource.key, call.place)
    if record is None:
        raise not_found("pods", "", call.name)
    _check_uid(record.obj, options, resource)
    spent = None
    if not _past_budgets(record.obj):
        spent = _ask_budget(store, call, record.obj)
    call.effect = {"uid": record.obj["metadata"]["uid"], "dryRun": dry}
    if not dry:
        if spent is not None:
            _spend(store, spent, call.name)
        _evicted(store, resource, call, options)
    return Reply(dict(SUCCESS), 201)


def _check_uid(pod: Obj, options: Obj, resource: Resource) -> None:
    asked, real = (options.get("preconditions") or {}).get("uid"), pod["metadata"]["uid"]
    if asked is not None and asked != real:
        text = (
            f"the UID in the precondition ({asked}) does not match the UID in record ({real}). "
            "The object might have been deleted and then recreated"
        )
        raise conflict(resource.kind, "", pod["metadata"]["name"], text)


def _past_budgets(pod: Obj) -> bool:
    """Pods that no budget protects: finished, pending, or already on their way out."""
    phase = pod.get("status", {}).get("phase")
    return phase in ("Succeeded", "Failed", "Pending") or bool(pod["metadata"].get("deletionTimestamp"))


def _ready(pod: Obj) -> bool:
    conditions = pod.get("status", {}).get("conditions") or ()
    return any(c.get("type") == "Ready" and c.get("status") == "True" for c in conditions)


def _ask_budget(store: Store, call: Call, pod: Obj) -> Record | None:
    """The budget that has to pay for the eviction; None when nobody has to. Raises ApiError 429 or 500."""
    labels = pod["metadata"].get("labels") or {}
    found = [
        record
        for _, record in store.items(BUDGETS, call.namespace)
        if label_selector_matches(record.obj["spec"].get("selector"), labels)
    ]
    if not found:
        return None
    if len(found) > 1:
        raise internal(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        )
    budget = found[0].obj
    status, spec, name = budget.get("status") or {}, budget["spec"], budget["metadata"]["name"]
    if not _ready(pod):
        if spec.get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
            return None
        current, desired = status.get("currentHealthy", 0), status.get("desiredHealthy", 0)
        if current >= desired > 0:
            return None
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        raise too_many(f"The disruption budget {name} is still being processed by the server.", 10)
    if status.get("disruptionsAllowed", 0) <= 0:
        raise too_many(_why(name, status))
    return found[0]


def _why(name: str, status: Obj) -> str:
    desired, current = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
    if current <= desired:
        return f"The disruption budget {name} needs {desired} healthy pods and has {current} currently"
    return f"The disruption budget {name} does not allow evicting pods currently"


def _spend(store: Store, record: Record, pod: str) -> None:
    budget = record.copy()
    status = budget["status"]
    status["disruptionsAllowed"] -= 1
    status.setdefault("disruptedPods", {})[pod] = now()
    meta = budget["metadata"]
    if status["disruptionsAllowed"] == 0:
        others = [c for c in status.get("conditions") or () if c.get("type") != "DisruptionAllowed"]
        status["conditions"] = [*others, _exhausted(meta.get("generation", 1))]
    store.put(BUDGETS, (meta["namespace"], meta["name"]), budget)


def _exhausted(generation: int) -> Obj:
    return {
        "type": "DisruptionAllowed",
        "status": "False",
        "observedGeneration": generation,
        "lastTransitionTime": now(),
        "reason": "InsufficientPods",
        "message": "",
    }


def _evicted(store: Store, resource: Resource, call: Call, options: Obj) -> None:
    record = store.get(resource.key, call.place)
    assert record is not None
    if not record.obj["metadata"].get("deletionTimestamp"):
        pod = record.copy()
        conditions = pod.setdefault("status", {}).setdefault("conditions", [])
        conditions[:] = [c for c in conditions if c.get("type") != "DisruptionTarget"]
        conditions.append(_disruption())
        store.put(resource.key, call.place, pod)
    delete_record(store, resource, call.place, {k: v for k, v in options.items() if k != "dryRun"})


def _disruption() -> Obj:
    return {
        "type": "DisruptionTarget",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": now(),
        "reason": "EvictionByEvictionAPI",
        "message": MESSAGE,
    }
