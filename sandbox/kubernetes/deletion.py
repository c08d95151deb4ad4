"""Deletes: preconditions, finalizers, grace periods of pods, propagation; and what a last finalizer's removal does."""

from datetime import UTC, datetime, timedelta
from typing import Any

from sandbox.kubernetes import crds
from sandbox.kubernetes.cluster import Call, Reply, now
from sandbox.kubernetes.listing import selected
from sandbox.kubernetes.options import delete_options
from sandbox.kubernetes.resources import Resource
from sandbox.kubernetes.statuses import ApiError, conflict, details_of, not_found
from sandbox.kubernetes.store import Key, Place, Store
from sandbox.kubernetes.views import present

Obj = dict[str, Any]

PODS = ("", "pods")
KEPT_NAMESPACES = frozenset({"default", "kube-system", "kube-public"})
PROPAGATION = {"Foreground": "foregroundDeletion", "Orphan": "orphan"}
ANSWERED_BY_OBJECT = frozenset(
    {("", "pods"), ("", "services"), ("", "serviceaccounts"), ("", "persistentvolumeclaims")}
)


def finish_if_due(store: Store, key: Key, place: Place, new: Obj) -> bool:
    """Remove an object whose last reason to stay has gone with this write; whether it did."""
    meta = new["metadata"]
    if not meta.get("deletionTimestamp") or meta.get("finalizers") or meta.get("deletionGracePeriodSeconds"):
        return False
    if key == ("", "namespaces") and new.get("spec", {}).get("finalizers"):
        return False
    store.remove(key, place)
    return True


def delete(call: Call) -> Reply:
    """DELETE of one object."""
    options = delete_options(call)
    record = call.cluster.store.get(call.kind.key, call.place)
    if record is None:
        raise not_found(call.kind.plural, call.kind.group, call.name)
    if call.kind.key == ("", "namespaces") and call.name in KEPT_NAMESPACES:
        text = f'namespaces "{call.name}" is forbidden: this namespace may not be deleted'
        raise ApiError(403, "Forbidden", text, details_of("namespaces", call.name))
    left = delete_record(call.cluster.store, call.kind, call.place, options)
    gone = call.cluster.store.get(call.kind.key, call.place) is None
    call.effect = {"uid": record.obj["metadata"]["uid"], "gone": gone}
    if left is not None:
        return Reply(present(left, call.kind))
    if call.kind.key in ANSWERED_BY_OBJECT:
        return Reply(present(record.obj, call.kind))
    return Reply(_success(call.kind, record.obj["metadata"]))


def _success(resource: Resource, meta: Obj) -> Obj:
    details = {**details_of(resource.plural, meta["name"], resource.group), "uid": meta["uid"]}
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}


def delete_record(store: Store, resource: Resource, place: Place, options: Obj) -> Obj | None:
    """Delete or mark an object; returns it where a mark was written (pods, finalizers), else None.

    Raises ApiError 409 for a precondition that does not hold.
    """
    record = store.get(resource.key, place)
    assert record is not None
    _check_preconditions(record.obj, options.get("preconditions") or {}, resource)
    obj, dry = record.copy(), bool(options.get("dryRun"))
    meta = obj["metadata"]
    grace = _grace(obj, resource, options)
    finalizers = _finalizers(meta, options, resource)
    stays = bool(grace or finalizers) or _namespace_stays(resource, obj)
    if not stays and resource.key != PODS:
        if not dry:
            store.remove(resource.key, place)
        return None
    _mark(obj, grace, finalizers, resource)
    if dry:
        return obj
    if obj != record.obj:
        obj = store.put(resource.key, place, obj).obj
    if grace == 0 and not finalizers and not _namespace_stays(resource, obj):
        store.remove(resource.key, place)
    return obj


def _namespace_stays(resource: Resource, obj: Obj) -> bool:
    return resource.key == ("", "namespaces") and bool(obj.get("spec", {}).get("finalizers"))


def _mark(obj: Obj, grace: int, finalizers: list[str], resource: Resource) -> None:
    meta = obj["metadata"]
    if finalizers:
        meta["finalizers"] = finalizers
    if "deletionTimestamp" not in meta:
        when = datetime.now(UTC) + timedelta(seconds=grace)
        meta["deletionTimestamp"] = when.strftime("%Y-%m-%dT%H:%M:%SZ")
        if resource.kind == "CustomResourceDefinition":
            obj["status"]["conditions"] = [*(obj["status"].get("conditions") or ()), crds.terminating(now())]
            return
        if resource.key == ("", "namespaces"):
            obj["status"] = {**obj.get("status", {}), "phase": "Terminating"}
            return
        if "generation" in meta:
            meta["generation"] += 1
        meta["deletionGracePeriodSeconds"] = grace
    elif grace < meta.get("deletionGracePeriodSeconds", 0):
        begun = datetime.now(UTC)
        meta["deletionTimestamp"] = (begun + timedelta(seconds=grace)).strftime("%Y-%m-%dT%H:%M:%SZ")
        meta["deletionGracePeriodSeconds"] = grace


def _grace(obj: Obj, resource: Resource, options: Obj) -> int:
    """Seconds the object is left: only pods that run on a node get any."""
    if resource.key != PODS:
        return 0
    if not obj["spec"].get("nodeName") or obj.get("status", {}).get("phase") in ("Succeeded", "Failed"):
        return 0
    asked = options.get("gracePeriodSeconds")
    if asked is None:
        asked = obj["spec"].get("terminationGracePeriodSeconds", 30)
    return 1 if asked < 0 else int(asked)


def _finalizers(meta: Obj, options: Obj, resource: Resource) -> list[str]:
    policy = options.get("propagationPolicy")
    if options.get("orphanDependents") is not None:
        policy = "Orphan" if options["orphanDependents"] else "Background"
    held = list(meta.get("finalizers") or ())
    if resource.kind == "CustomResourceDefinition" and crds.CLEANUP not in held and "deletionTimestamp" not in meta:
        held.append(crds.CLEANUP)
    if policy is None:
        return held
    held = [name for name in held if name not in PROPAGATION.values()]
    return [*held, PROPAGATION[policy]] if policy in PROPAGATION else held


def _check_preconditions(obj: Obj, wanted: Obj, resource: Resource) -> None:
    meta = obj["metadata"]
    for field, word, ending in (
        ("uid", "UID", "The object might have been deleted and then recreated"),
        ("resourceVersion", "ResourceVersion", "The object might have been modified"),
    ):
        asked, real = wanted.get(field), meta[field]
        if asked is not None and asked != real:
            text = f"the {word} in the precondition ({asked}) does not match the {word} in record ({real}). {ending}"
            raise conflict(resource.kind, "", meta["name"], text)


def delete_collection(call: Call) -> Reply:
    """DELETE of all objects a list with the same selectors would give; answers the list."""
    options = delete_options(call)
    found, version = selected(call), call.cluster.store.version
    for place, _ in found:
        delete_record(call.cluster.store, call.kind, place, dict(options))
    call.effect = {"deleted": [place[1] for place, _ in found]}
    items = [present(record.obj, call.kind) for _, record in found]
    if not call.kind.custom:
        items = [{k: v for k, v in item.items() if k not in ("kind", "apiVersion")} for item in items]
    meta = {"resourceVersion": str(version)}
    return Reply({"kind": call.kind.list_kind, "apiVersion": call.kind.group_version, "metadata": meta, "items": items})
