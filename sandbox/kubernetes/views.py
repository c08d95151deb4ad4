"""How a stored object looks through one resource: other versions of custom resources, events in their other spelling."""

from typing import Any

from sandbox.kubernetes import events
from sandbox.kubernetes.resources import Resource
from sandbox.kubernetes.store import Record, encode

Obj = dict[str, Any]


def present(obj: Obj, resource: Resource) -> Obj:
    """The object as `resource` shows it; the stored one itself where nothing differs."""
    if resource.group == "events.k8s.io":
        return events.to_new(obj)
    if obj.get("apiVersion") != resource.group_version:
        return {**obj, "apiVersion": resource.group_version}
    return obj


def full_bytes(record: Record, resource: Resource) -> bytes:
    shown = present(record.obj, resource)
    return record.full() if shown is record.obj else encode(shown)


def item_bytes(record: Record, resource: Resource) -> bytes:
    """An item of a list: built-in ones without kind and apiVersion."""
    if resource.custom:
        return full_bytes(record, resource)
    shown = present(record.obj, resource)
    if shown is record.obj:
        return record.item()
    return encode({key: value for key, value in shown.items() if key not in ("kind", "apiVersion")})
