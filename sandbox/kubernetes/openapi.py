"""OpenAPI documents, made from discovery: as much of them as kubectl and helm read.

Clients look there for the paths of each kind, and whether a patch takes fieldValidation. Schemas of custom resources
are given in full; built-in ones by their fields, so that `kubectl explain` and apply find them.
"""

import hashlib
import json
from typing import Any

from sandbox.kubernetes.cluster import Call, Cluster, Reply
from sandbox.kubernetes.resources import Resource
from sandbox.kubernetes.statuses import PlainNotFoundError

Obj = dict[str, Any]

ACTIONS = {"get": "get", "put": "put", "patch": "patch", "delete": "delete"}


def answer(call: Call) -> Reply:
    """GET /openapi/v3, one of its documents, or /openapi/v2."""
    below = call.path.removeprefix("/openapi/v3").strip("/")
    if call.path.startswith("/openapi/v2"):
        info = {"title": "Kubernetes", "version": call.cluster.version}
        return Reply({"swagger": "2.0", "info": info, "paths": {}, "definitions": {}})
    if not below:
        return _index(call.cluster)
    group_version = below.removeprefix("apis/") if below.startswith("apis/") else below.removeprefix("api/")
    resources = call.cluster.registry.of(group_version)
    if not resources:
        raise PlainNotFoundError
    return Reply(_document(call.cluster, below, resources))


def _index(cluster: Cluster) -> Reply:
    paths = {}
    for group_version in cluster.registry.group_versions():
        at = f"apis/{group_version}" if "/" in group_version else f"api/{group_version}"
        names = sorted(cluster.registry.of(group_version) or {})
        mark = hashlib.sha256(json.dumps([cluster.version, names]).encode()).hexdigest()[:32].upper()
        paths[at] = {"serverRelativeURL": f"/openapi/v3/{at}?hash={mark}"}
    return Reply({"paths": paths}, content_type="text/plain; charset=utf-8")


def _document(cluster: Cluster, at: str, resources: dict[str, Resource]) -> Obj:
    paths: Obj = {f"/{at}/": {}}
    schemas: Obj = {}
    for resource in resources.values():
        paths.update(_paths(resource, f"/{at}"))
        schemas[_schema_name(resource)] = _schema(resource)
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": ".".join(cluster.version.lstrip("v").split(".")[:2])},
        "paths": paths,
        "components": {"schemas": schemas},
    }


def _paths(resource: Resource, base: str) -> Obj:
    row = resource.row() or {}
    verbs = set(row.get("verbs", ()))
    scoped = f"{base}/namespaces/{{namespace}}" if resource.namespaced else base
    found: Obj = {
        f"{scoped}/{resource.plural}": _operations(resource, {"get", "post", "delete"} if "list" in verbs else {"post"})
    }
    if "get" in verbs:
        found[f"{scoped}/{resource.plural}/{{name}}"] = _operations(resource, set(ACTIONS))
    for other in resource.rows:
        if "/" in other["name"]:
            name = other["name"].partition("/")[2]
            found[f"{scoped}/{resource.plural}/{{name}}/{name}"] = _operations(resource, {"get", "put", "patch"})
    if resource.namespaced and "list" in verbs:
        found[f"{base}/{resource.plural}"] = _operations(resource, {"get"})
    if "watch" in verbs:
        found[f"{base}/watch/{resource.plural}"] = _operations(resource, {"get"})
        if resource.namespaced:
            found[f"{base}/watch/namespaces/{{namespace}}/{resource.plural}"] = _operations(resource, {"get"})
        watched = f"{base}/watch/{'namespaces/{namespace}/' if resource.namespaced else ''}{resource.plural}/{{name}}"
        found[watched] = _operations(resource, {"get"})
    return found


def _operations(resource: Resource, methods: set[str]) -> Obj:
    kind = {"group": resource.group, "version": resource.version, "kind": resource.kind}
    answer_schema = {"$ref": f"#/components/schemas/{_schema_name(resource)}"}
    common = {
        "responses": {"200": {"description": "OK", "content": {"application/json": {"schema": answer_schema}}}},
        "x-kubernetes-group-version-kind": kind,
    }
    made: Obj = {}
    for method in sorted(methods):
        made[method] = {"x-kubernetes-action": "post" if method == "post" else method, **common}
        if method in ("patch", "post", "put"):
            names = ("dryRun", "fieldManager", "fieldValidation")
            made[method]["parameters"] = [{"name": n, "in": "query", "schema": {"type": "string"}} for n in names]
    return made


def _schema_name(resource: Resource) -> str:
    if not resource.group:
        return f"io.k8s.api.core.{resource.version}.{resource.kind}"
    reverse = ".".join(reversed(resource.group.split(".")))
    return f"{reverse}.{resource.version}.{resource.kind}"


def _schema(resource: Resource) -> Obj:
    kind = {"group": resource.group, "version": resource.version, "kind": resource.kind}
    body = dict(resource.shape.schema or {}) if resource.custom else {}
    properties = body.get("properties") or {
        name: _typed(shape.kind, shape.type) for name, shape in resource.shape.fields.items()
    }
    return {**body, "type": "object", "properties": properties, "x-kubernetes-group-version-kind": [kind]}


def _typed(kind: str, name: str) -> Obj:
    if kind == "scalar":
        return {"type": "string" if name == "time" else name}
    return {"type": "array", "items": {}} if kind == "list" else {"type": "object"}
