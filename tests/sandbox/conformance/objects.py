"""The objects the checks make, and what of an answer they record."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.sandbox.conformance.asking import Check

Obj = dict[str, Any]


def config_map(name: str, data: Any = None, **meta: Any) -> Obj:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **meta}, "data": data or {"a": "1"}}


def pod(name: str, node: Any = None, grace: Any = None, labels: Any = None, **meta: Any) -> Obj:
    spec: Obj = {"automountServiceAccountToken": False, "containers": [{"name": "main", "image": "busybox"}]}
    if node:
        spec["nodeName"] = node
    if grace is not None:
        spec["terminationGracePeriodSeconds"] = grace
    metadata = {"name": name, "labels": labels or {"app": "probe"}, **meta}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def template(labels: Obj, **spec: Any) -> Obj:
    containers = [{"name": "main", "image": "busybox"}]
    body = {"automountServiceAccountToken": False, "containers": containers, **spec}
    return {"metadata": {"labels": labels}, "spec": body}


def eviction(name: str, namespace: str, **options: Any) -> Obj:
    body: Obj = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": namespace}}
    return body | ({"deleteOptions": options} if options else {})


def budget(name: str, labels: Obj, **spec: Any) -> Obj:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": labels}, **spec},
    }


SCHEMA: Obj = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["size"],
            "properties": {
                "size": {"type": "integer", "minimum": 1},
                "mode": {"type": "string", "enum": ["fast", "safe"], "default": "safe"},
                "parts": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}},
            },
        },
        "status": {"type": "object", "properties": {"state": {"type": "string"}}},
    },
}


def crd(group: str, plural: str = "widgets", kind: str = "Widget", scope: str = "Namespaced") -> Obj:
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": SCHEMA},
        "subresources": {"status": {}},
        "additionalPrinterColumns": [{"name": "State", "type": "string", "jsonPath": ".status.state"}],
    }
    names = {"plural": plural, "singular": kind.lower(), "kind": kind}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {"group": group, "scope": scope, "names": names, "versions": [version]},
    }


def widget(t: "Check", suffix: str = "", **spec: Any) -> Obj:
    metadata = {"name": t.object_name(suffix)}
    return {"apiVersion": f"{t.server.group}/v1", "kind": "Widget", "metadata": metadata, "spec": spec or {"size": 3}}


def widgets(t: "Check") -> str:
    return f"/apis/{t.server.group}/v1/namespaces/{t.ns}/widgets"


def slim(*paths: str) -> Callable[[Any], Any]:
    """A trim function that keeps only the named top-level keys."""
    return lambda body: {key: body[key] for key in paths if key in body}


def event_slim(event: Any) -> Any:
    """An event reduced to type and what identifies its object."""
    if event.get("type") not in ("ADDED", "MODIFIED", "DELETED"):
        return event
    meta = event["object"].get("metadata", {})
    kept = {k: meta[k] for k in ("name", "labels", "deletionTimestamp", "finalizers") if k in meta}
    return {"type": event["type"], "object": {"kind": event["object"].get("kind"), "metadata": kept}}


def kinds(events: list[Any]) -> list[tuple[str, str]]:
    """[(type, name)] of a watch, without bookmarks."""
    return [(e["type"], e["object"].get("metadata", {}).get("name")) for e in events if e["type"] != "BOOKMARK"]
