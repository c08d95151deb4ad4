"""Accept headers: JSON, YAML, Tables, bare metadata; and answers turned into them."""

import json
from dataclasses import dataclass
from typing import Any

import yaml

from sandbox.kubernetes.cluster import Call, Reply
from sandbox.kubernetes.statuses import ApiError
from sandbox.kubernetes.store import encode
from sandbox.kubernetes.table import partial, table

Obj = dict[str, Any]

AVAILABLE = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
ANY = frozenset({"*/*", "application/*", "application/json", ""})


@dataclass(frozen=True, slots=True)
class Format:
    """How the caller wants the answer. `view`: "", Table, PartialObjectMetadata or PartialObjectMetadataList."""

    yaml: bool = False
    view: str = ""


def chosen(call: Call) -> Format:
    """The first acceptable type the server can give. Raises ApiError 406."""
    for choice in call.accept.replace(" ", "").split(","):
        media, *words = choice.split(";")
        fields = dict(word.partition("=")[::2] for word in words)
        view = fields.get("as", "")
        if view and fields.get("v") != "v1" and view != "APIGroupDiscoveryList":
            continue
        if media in ANY:
            return Format(view=view if view != "APIGroupDiscoveryList" else "")
        if media == "application/yaml":
            return Format(yaml=True)
    if "text/plain" in call.accept and not call.plural:
        return Format()
    raise ApiError(406, "NotAcceptable", f"406: Not Acceptable\n\nAvailable representations: {AVAILABLE}", {})


def rendered(call: Call, reply: Reply, wanted: Format) -> tuple[bytes, str]:
    """Body and content type of an answer."""
    if reply.content_type != "application/json" or (not wanted.yaml and not wanted.view):
        return reply.raw if reply.raw is not None else encode(reply.obj), reply.content_type
    obj: Obj = json.loads(reply.raw) if reply.raw is not None else reply.obj or {}
    if wanted.view and obj.get("kind") != "Status" and call.resource is not None:
        obj = viewed(call, obj, wanted.view)
    if wanted.yaml:
        return yaml.safe_dump(obj, sort_keys=True).encode(), "application/yaml"
    return encode(obj), "application/json"


def viewed(call: Call, obj: Obj, view: str, *, head: bool = True) -> Obj:
    """An object or list as a Table or as bare metadata."""
    resource = call.kind
    listed = obj.get("kind") == resource.list_kind and "items" in obj
    if view == "Table":
        meta = obj["metadata"] if listed else {"resourceVersion": obj["metadata"]["resourceVersion"]}
        items = obj["items"] if listed else [obj]
        include = call.query.get("includeObject") or "Metadata"
        return table(items, resource, meta, head=head, include=include)
    if view.startswith("PartialObjectMetadata"):
        if not listed:
            return partial(obj)
        rows = [{"metadata": item["metadata"]} for item in obj["items"]]
        head_fields = {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1"}
        return {**head_fields, "metadata": obj["metadata"], "items": rows}
    return obj
