"""Discovery: /version, /api, /apis, groups and resource lists, plain and aggregated."""

import re
from typing import Any

from sandbox.kubernetes.cluster import Call, Cluster, Reply
from sandbox.kubernetes.resources import Resource
from sandbox.kubernetes.statuses import PlainNotFoundError, unknown_resource

Obj = dict[str, Any]

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def version(cluster: Cluster) -> Obj:
    """The build the server claims to be."""
    return {
        **release(cluster.version),
        "gitCommit": "$Format:%H$",
        "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "go1.26.6",
        "compiler": "gc",
        "platform": "linux/amd64",
    }


def release(git_version: str) -> Obj:
    """What of a build follows from its git version."""
    match = re.match(r"v(\d+)\.(\d+)", git_version)
    major, minor = (match[1], match[2]) if match else ("1", "0")
    return {
        "major": major,
        "minor": minor,
        "emulationMajor": major,
        "emulationMinor": minor,
        "minCompatibilityMajor": major,
        "minCompatibilityMinor": str(max(int(minor) - 1, 0)),
        "gitVersion": git_version,
    }


def answer(call: Call, host: str) -> Reply:
    """GET of a discovery path below /api or /apis."""
    parts = [part for part in call.path.split("/") if part]
    registry = call.cluster.registry
    match parts:
        case ["api"]:
            if _wants_aggregated(call):
                return _aggregated([_group_item(call.cluster, "")])
            address = [{"clientCIDR": "0.0.0.0/0", "serverAddress": host}]
            return Reply({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": address})
        case ["apis"]:
            names = _groups(call.cluster)
            if _wants_aggregated(call):
                return _aggregated([_group_item(call.cluster, name) for name in names])
            groups = [_group(call.cluster, name) for name in names]
            return Reply({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
        case ["apis", group] if group in _groups(call.cluster):
            return Reply({"kind": "APIGroup", "apiVersion": "v1", **_group(call.cluster, group)})
        case ["api", version_name] if registry.of(version_name):
            return Reply(_resource_list(version_name, registry.of(version_name) or {}))
        case ["apis", group, version_name] if registry.of(f"{group}/{version_name}"):
            key = f"{group}/{version_name}"
            return Reply(_resource_list(key, registry.of(key) or {}))
    if parts[:1] == ["apis"]:
        raise PlainNotFoundError
    raise unknown_resource()


def _wants_aggregated(call: Call) -> bool:
    for choice in call.accept.replace(" ", "").split(","):
        words = set(choice.split(";"))
        if {"g=apidiscovery.k8s.io", "v=v2", "as=APIGroupDiscoveryList"} <= words:
            return True
    return False


def _aggregated(items: list[Obj]) -> Reply:
    body = {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items}
    return Reply(body, content_type=AGGREGATED)


def _groups(cluster: Cluster) -> list[str]:
    names = [group_version.rpartition("/")[0] for group_version in cluster.registry.group_versions()]
    return [name for name in dict.fromkeys(names) if name]


def _versions(cluster: Cluster, group: str) -> list[str]:
    found = [gv.rpartition("/") for gv in cluster.registry.group_versions()]
    return [version_name for name, _, version_name in found if name == group]


def _group(cluster: Cluster, group: str) -> Obj:
    rows = [{"groupVersion": f"{group}/{v}", "version": v} for v in _versions(cluster, group)]
    return {"name": group, "versions": rows, "preferredVersion": rows[0]}


def _resource_list(group_version: str, resources: dict[str, Resource]) -> Obj:
    rows = [row for resource in resources.values() for row in resource.rows]
    head: Obj = {"kind": "APIResourceList"}
    if group_version != "v1":
        head["apiVersion"] = "v1"
    return {**head, "groupVersion": group_version, "resources": rows}


def _group_item(cluster: Cluster, group: str) -> Obj:
    versions = []
    for name in _versions(cluster, group):
        resources = cluster.registry.of(f"{group}/{name}" if group else name) or {}
        rows = [_item(resource) for resource in resources.values()]
        versions.append({"version": name, "resources": rows, "freshness": "Current"})
    return {"metadata": {"name": group} if group else {}, "versions": versions}


def _item(resource: Resource) -> Obj:
    row = resource.row() or {}
    item: Obj = {
        "resource": resource.plural,
        "responseKind": _response_kind(row, resource),
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": row.get("singularName", ""),
        "verbs": row.get("verbs", []),
    }
    for name in ("shortNames", "categories"):
        if row.get(name):
            item[name] = row[name]
    below = [
        {
            "subresource": other["name"].partition("/")[2],
            "responseKind": _response_kind(other, resource),
            "verbs": other["verbs"],
        }
        for other in resource.rows
        if "/" in other["name"]
    ]
    if below:
        item["subresources"] = below
    return item


def _response_kind(row: Obj, resource: Resource) -> Obj:
    """Built-in kinds leave group and version empty where they are the resource's own."""
    if resource.custom:
        return {"group": resource.group, "version": resource.version, "kind": resource.kind}
    return {"group": row.get("group", ""), "version": row.get("version", ""), "kind": row.get("kind", "")}
