"""Create, update and patch: from a request to a stored object."""

import random
from typing import Any

from sandbox.kubernetes import admission, bodies, crds, immutability, strategies, validation
from sandbox.kubernetes.cluster import Call, Cluster, Reply, now
from sandbox.kubernetes.deletion import finish_if_due
from sandbox.kubernetes.options import check_write
from sandbox.kubernetes.ownership import Writer, after_update
from sandbox.kubernetes.resources import Resource
from sandbox.kubernetes.statuses import (
    MODIFIED,
    Cause,
    already_exists,
    bad_request,
    bad_value,
    conflict,
    internal,
    invalid,
    not_found,
)
from sandbox.kubernetes.views import present

Obj = dict[str, Any]

ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
CREATED_BY_PUT = frozenset({("coordination.k8s.io", "leases"), ("", "events"), ("node.k8s.io", "runtimeclasses")})
VERSION_DEMANDED = frozenset({("coordination.k8s.io", "leases"), ("policy", "poddisruptionbudgets")})


def writer_of(call: Call) -> Writer:
    """Who writes in this call, for managedFields."""
    return Writer(call.manager, call.kind.group_version, call.subresource, now())


def create(call: Call) -> Reply:
    """POST to a collection."""
    check_write(call, "CreateOptions")
    obj = bodies.read(call)
    meta = obj["metadata"]
    if meta.get("resourceVersion"):
        raise internal("resourceVersion should not be set on objects to be created")
    _fit_namespace(call, meta)
    if not meta.get("name") and meta.get("generateName"):
        meta["name"] = meta["generateName"] + "".join(random.choices(ALPHABET, k=5))
    if call.kind.kind == "Namespace" and call.kind.group == "" and meta.get("name"):
        meta.setdefault("labels", {})["kubernetes.io/metadata.name"] = meta["name"]
    claimed = present(_without_status(call.kind, obj), call.kind)
    return store_new(call, obj, after_update(None, claimed, call.kind.shape, writer_of(call)))


def _without_status(resource: Resource, obj: Obj) -> Obj:
    if resource.kind != "Node" and strategies.has_status(resource):
        return {key: value for key, value in obj.items() if key != "status"}
    return obj


def _fit_namespace(call: Call, meta: Obj) -> None:
    if not call.kind.namespaced:
        meta.pop("namespace", None)
    elif meta.setdefault("namespace", call.namespace) != call.namespace:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")


def store_new(call: Call, obj: Obj, managed: list[Obj]) -> Reply:
    """Admit, validate and store a new object. Raises ApiError 403, 404, 409, 422."""
    resource, store, meta = call.kind, call.cluster.store, obj["metadata"]
    call.name = meta.get("name", "")
    if resource.namespaced:
        admission.check_namespace(store, resource, call.namespace, call.name)
    meta["uid"], meta["creationTimestamp"] = strategies.fresh_uid(), now()
    for name in ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"):
        meta.pop(name, None)
    _admit(call.cluster, resource, obj)
    if managed:
        meta["managedFields"] = managed
    strategies.prepare_create(resource, obj)
    _refuse_faults(resource, obj, validation.metadata(meta, resource.plural))
    place = (call.namespace if resource.namespaced else "", call.name)
    there = store.get(resource.key, place)
    if there is not None:
        refusal = already_exists(resource.plural, resource.group, call.name)
        if there.obj["metadata"].get("deletionTimestamp"):
            refusal.message = f"object is being deleted: {refusal.message}"
        raise refusal
    call.effect = {"uid": meta["uid"]}
    if not call.dry_run:
        obj = store.put(resource.key, place, obj).obj
    return Reply(present(obj, resource), 201)


def _admit(cluster: Cluster, resource: Resource, obj: Obj) -> None:
    if resource.key == ("", "pods"):
        admission.admit_pod(cluster.store, obj)
    elif resource.key == ("", "nodes"):
        admission.admit_node(obj)
    elif resource.key == ("", "services"):
        _address(cluster, obj["spec"])


def _address(cluster: Cluster, spec: Obj) -> None:
    """A cluster IP for a new service."""
    if spec.get("type") == "ExternalName":
        return
    if not spec.get("clusterIP"):
        number = cluster.store.version
        spec["clusterIP"] = f"172.21.{number // 250 % 250}.{number % 250 + 1}"
    spec.setdefault("clusterIPs", [spec["clusterIP"]])
    spec.setdefault("ipFamilies", ["IPv4"])
    spec.setdefault("ipFamilyPolicy", "SingleStack")


def _refuse_faults(resource: Resource, obj: Obj, causes: list[Cause]) -> None:
    if resource.custom:
        causes = [*causes, *crds.faults(obj, resource.shape.schema or {})]
    else:
        causes = [*causes, *validation.by_kind(resource.group, resource.kind, obj)]
    if causes:
        raise invalid(resource.kind, resource.group, obj["metadata"].get("name", ""), causes)


def replace(call: Call) -> Reply:
    """PUT of an object or of its status."""
    check_write(call, "UpdateOptions")
    new = bodies.read(call)
    meta = new["metadata"]
    _fit_namespace(call, meta)
    if meta.setdefault("name", call.name) != call.name:
        text = f"the name of the object ({meta['name']}) does not match the name on the URL ({call.name})"
        raise bad_request(text)
    resource = call.kind
    record = call.cluster.store.get(resource.key, call.place)
    if record is None:
        if resource.key in CREATED_BY_PUT and not call.subresource:
            managed = after_update(None, new, resource.shape, writer_of(call))
            return store_new(call, new, managed)
        raise not_found(resource.plural, resource.group, call.name)
    if not meta.get("resourceVersion") and (resource.custom or resource.key in VERSION_DEMANDED):
        cause = bad_value("metadata.resourceVersion", "0", "must be specified for an update")
        raise invalid(resource.plural, resource.group, call.name, [cause])
    _check_uid(call, record.obj, meta)
    meta.setdefault("uid", record.obj["metadata"]["uid"])
    return save(call, record.copy(), new)


def _check_uid(call: Call, old: Obj, meta: Obj) -> None:
    asked, real = meta.get("uid"), old["metadata"]["uid"]
    if asked and asked != real:
        resource = call.kind
        registry = resource.plural if not resource.group else f"{resource.group}/{resource.plural}"
        at = f"/registry/{registry}/" + "/".join(part for part in call.place if part)
        text = (
            f"StorageError: invalid object, Code: 4, Key: {at}, ResourceVersion: 0, AdditionalErrorMsg: "
            f"Precondition failed: UID in precondition: {asked}, UID in object meta: {real}"
        )
        raise conflict(resource.plural, resource.group, call.name, text)


def _timeless(obj: Obj) -> Obj:
    """The object without the times in managedFields: a write that would move only those is none."""
    meta = obj["metadata"]
    owners = [{k: v for k, v in entry.items() if k != "time"} for entry in meta.get("managedFields") or ()]
    return {**obj, "metadata": {**meta, "managedFields": owners}}


def save(call: Call, old: Obj, new: Obj, managed: list[Obj] | None = None) -> Reply:
    """Store `new` over `old` if it differs and may. `managed`: owners already known (server-side apply).

    Raises ApiError 409 or 422.
    """
    resource, store = call.kind, call.cluster.store
    asked = new["metadata"].pop("resourceVersion", None)
    current = old["metadata"]["resourceVersion"]
    if asked and asked != current:
        raise conflict(resource.plural, resource.group, call.name, MODIFIED)
    causes = validation.metadata_update(old["metadata"], new["metadata"])
    strategies.keep_from_old(resource, old, new, call.subresource)
    if managed is None:
        managed = after_update(old, new, resource.shape, writer_of(call))
    if managed:
        new["metadata"]["managedFields"] = managed
    strategies.move_generation(resource, old, new)
    if call.subresource != "status":
        causes += immutability.faults(resource.group, resource.kind, old, new)
    faults = validation.by_kind(resource.group, resource.kind, new)
    if resource.kind == "Node":
        faults = faults * 2  # reported by both passes, as metadata's faults are
    if not resource.custom and faults:
        raise invalid(resource.kind, resource.group, call.name, causes + faults)
    _refuse_faults(resource, new, causes)
    new["metadata"]["resourceVersion"] = current
    if _timeless(new) == _timeless(old):
        new = old
    call.effect = {"changed": new != old}
    if new == old or call.dry_run:
        return Reply(present(new, resource))
    if finish_if_due(store, resource.key, call.place, new):
        return Reply(present(new, resource))
    return Reply(present(store.put(resource.key, call.place, new).obj, resource))
