"""What the control plane tidies by itself: dependents of deleted owners, contents of namespaces, objects of CRDs.

Runs as one task beside the server, woken by changes. It also establishes new CRDs.
"""

import asyncio
import contextlib
import logging
from typing import Any

from sandbox.kubernetes import crds
from sandbox.kubernetes.cluster import Cluster, now
from sandbox.kubernetes.deletion import delete_record, finish_if_due
from sandbox.kubernetes.ownership import Writer, after_update
from sandbox.kubernetes.resources import Resource
from sandbox.kubernetes.store import Event, Key, Place

Obj = dict[str, Any]

LOG = logging.getLogger(__name__)

CRDS = ("apiextensions.k8s.io", "customresourcedefinitions")
NAMESPACES = ("", "namespaces")


class Garbage:
    """The tidying of one cluster. `run` until cancelled."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._store = cluster.store
        self._events: asyncio.Queue[Event] = asyncio.Queue()

    async def run(self) -> None:
        """Follow all changes for ever."""
        self._store.listen(self._events.put_nowait)
        try:
            while True:
                event = await self._events.get()
                await asyncio.sleep(0)
                try:
                    self._tidy(event)
                except Exception:  # top of a task: one odd object must not end all tidying
                    LOG.exception("could not tidy after %s of %s %s", event.type, event.key, event.place)
        finally:
            self._store.unlisten(self._events.put_nowait)

    def _tidy(self, event: Event) -> None:
        meta = event.new.obj["metadata"]
        if event.key == CRDS:
            self._definition(event)
        if event.type == "DELETED":
            self._orphans_of(meta["uid"])
            self._owner_done(event)
            self._namespace_done(event.place[0])
            self._definition_done(event.key)
        elif meta.get("deletionTimestamp"):
            if event.key == NAMESPACES:
                self._empty_namespace(event.place[1])
            self._propagate(event.key, event.place)

    def _resource(self, key: Key) -> Resource | None:
        return self._cluster.registry.by_key(key)

    # ---- owners

    def _orphans_of(self, uid: str) -> None:
        """Delete what named the deleted object as its owner, unless another owner is left."""
        for key, place in self._store.owned_by(uid):
            record, resource = self._store.get(key, place), self._resource(key)
            if record is None or resource is None:
                continue
            owners = record.obj["metadata"].get("ownerReferences") or ()
            if any(owner["uid"] != uid and self._alive(owner, place[0]) for owner in owners):
                kept = record.copy()
                kept["metadata"]["ownerReferences"] = [owner for owner in owners if owner["uid"] != uid]
                self._store.put(key, place, kept)
            elif not record.obj["metadata"].get("deletionTimestamp"):
                delete_record(self._store, resource, place, {"propagationPolicy": "Background"})

    def _alive(self, owner: Obj, namespace: str) -> bool:
        resource = self._cluster.registry.by_kind(owner.get("apiVersion", ""), owner.get("kind", ""))
        if resource is None:
            return False
        found = self._store.get(resource.key, (namespace if resource.namespaced else "", owner.get("name", "")))
        return found is not None and found.obj["metadata"]["uid"] == owner.get("uid")

    def _propagate(self, key: Key, place: Place) -> None:
        """Foreground: dependents first. Orphan: dependents forget their owner."""
        record = self._store.get(key, place)
        if record is None:
            return
        finalizers, uid = record.obj["metadata"].get("finalizers") or [], record.obj["metadata"]["uid"]
        if "orphan" in finalizers:
            for other_key, other in self._store.owned_by(uid):
                self._disown(other_key, other, uid)
            self._drop_finalizer(key, place, "orphan")
        elif "foregroundDeletion" in finalizers:
            for other_key, other in self._store.owned_by(uid):
                dependent, resource = self._store.get(other_key, other), self._resource(other_key)
                if dependent and resource and not dependent.obj["metadata"].get("deletionTimestamp"):
                    delete_record(self._store, resource, other, {"propagationPolicy": "Foreground"})
            if not self._blocking(uid):
                self._drop_finalizer(key, place, "foregroundDeletion")

    def _blocking(self, uid: str) -> bool:
        """Whether a dependent holds up its owner's foreground deletion."""
        for key, place in self._store.owned_by(uid):
            record = self._store.get(key, place)
            for owner in (record.obj["metadata"].get("ownerReferences") or ()) if record else ():
                if owner["uid"] == uid and owner.get("blockOwnerDeletion"):
                    return True
        return False

    def _disown(self, key: Key, place: Place, uid: str) -> None:
        record = self._store.get(key, place)
        if record is not None:
            obj = record.copy()
            owners = obj["metadata"].get("ownerReferences") or ()
            obj["metadata"]["ownerReferences"] = [owner for owner in owners if owner["uid"] != uid]
            self._store.put(key, place, obj)

    def _owner_done(self, event: Event) -> None:
        """An owner that waited for the deleted dependent may go now."""
        for owner in event.new.obj["metadata"].get("ownerReferences") or ():
            resource = self._cluster.registry.by_kind(owner.get("apiVersion", ""), owner.get("kind", ""))
            if resource is not None:
                self._propagate(resource.key, (event.place[0] if resource.namespaced else "", owner.get("name", "")))

    def _drop_finalizer(self, key: Key, place: Place, name: str) -> None:
        record = self._store.get(key, place)
        if record is None:
            return
        obj = record.copy()
        held = [f for f in obj["metadata"].get("finalizers") or () if f != name]
        obj["metadata"]["finalizers"] = held
        if not held:
            del obj["metadata"]["finalizers"]
        if not finish_if_due(self._store, key, place, obj):
            self._store.put(key, place, obj)

    # ---- namespaces

    def _empty_namespace(self, namespace: str) -> None:
        for key in self._store.all_keys():
            resource = self._resource(key)
            if resource is None or not resource.namespaced:
                continue
            for place, record in list(self._store.items(key, namespace)):
                if not record.obj["metadata"].get("deletionTimestamp"):
                    delete_record(self._store, resource, place, {"propagationPolicy": "Background"})
        self._namespace_done(namespace)

    def _namespace_done(self, namespace: str) -> None:
        """Let a namespace go once it is empty."""
        record = self._store.get(NAMESPACES, ("", namespace)) if namespace else None
        if record is None or not record.obj["metadata"].get("deletionTimestamp"):
            return
        for key in self._store.all_keys():
            resource = self._resource(key)
            if resource is not None and resource.namespaced and next(iter(self._store.items(key, namespace)), None):
                return
        obj = record.copy()
        if not obj["spec"].pop("finalizers", None):
            return
        if not finish_if_due(self._store, NAMESPACES, ("", namespace), obj):
            self._store.put(NAMESPACES, ("", namespace), obj)

    # ---- definitions

    def _definition(self, event: Event) -> None:
        definition = event.new.obj
        name = definition["metadata"]["name"]
        group, plural = definition["spec"]["group"], definition["spec"]["names"]["plural"]
        if event.type == "DELETED":
            self._cluster.registry.remove(group, plural)
        elif definition["metadata"].get("deletionTimestamp"):
            self._empty_definition(name)
        else:
            self._establish(event.place)

    def _establish(self, place: Place) -> None:
        record = self._store.get(CRDS, place)
        if record is None or record.obj["metadata"].get("deletionTimestamp"):
            return
        serve(self._cluster, record.obj)
        conditions = record.obj.get("status", {}).get("conditions") or ()
        if not any(c["type"] == "Established" and c["status"] == "True" for c in conditions):
            obj = record.copy()
            obj["status"] = crds.established(obj, now())
            resource = self._resource(CRDS)
            if resource is not None:
                writer = Writer("kube-apiserver", resource.group_version, "status", now())
                obj["metadata"]["managedFields"] = after_update(record.copy(), obj, resource.shape, writer)
            self._store.put(CRDS, place, obj)

    def _empty_definition(self, name: str) -> None:
        record = self._store.get(CRDS, ("", name))
        if record is None:
            return
        spec = record.obj["spec"]
        key = (spec["group"], spec["names"]["plural"])
        resource = self._resource(key)
        for place, found in list(self._store.items(key)):
            if resource is not None and not found.obj["metadata"].get("deletionTimestamp"):
                delete_record(self._store, resource, place, {})
        self._definition_done(key)

    def _definition_done(self, key: Key) -> None:
        record = self._store.get(CRDS, ("", f"{key[1]}.{key[0]}"))
        if record is None or not record.obj["metadata"].get("deletionTimestamp"):
            return
        if next(iter(self._store.items(key)), None) is None:
            self._drop_finalizer(CRDS, ("", f"{key[1]}.{key[0]}"), crds.CLEANUP)


def serve(cluster: Cluster, definition: Obj) -> None:
    """Serve what a definition says, and nothing it no longer says."""
    with contextlib.suppress(KeyError):
        names, group = definition["spec"]["names"], definition["spec"]["group"]
        made = list(crds.resources(definition))
        cluster.registry.replace(group, names["plural"], made)
