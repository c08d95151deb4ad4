"""Pods from the templates of their owners, and what rollouts count. Pure."""

import json
import math

from sandbox.controllers.desk import digest, owner
from sandbox.kubernetes_client import Json

HASH_LABEL = "pod-template-hash"
REVISION_LABEL = "controller-revision-hash"
GENERATION_LABEL = "pod-template-generation"


def template_hash(template: Json) -> str:
    """A short name for what a pod template says; ReplicaSets and revisions are told apart by it."""
    return digest(json.dumps(template, sort_keys=True))


def pod_from(parent: Json, labels: dict[str, str] | None = None, *, name: str = "") -> Json:
    """A new pod of `parent`'s template; named by the server unless `name` is given."""
    template = parent["spec"]["template"]
    meta = template.get("metadata") or {}
    named = {"name": name} if name else {"generateName": f"{parent['metadata']['name']}-"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            **named,
            "namespace": parent["metadata"]["namespace"],
            "labels": {**(meta.get("labels") or {}), **(labels or {})},
            "annotations": dict(meta.get("annotations") or {}),
            "ownerReferences": [owner(parent)],
        },
        "spec": json.loads(json.dumps(template["spec"])),
    }


def share(amount: str | int | None, total: int, *, up: bool, default: str | int = "25%") -> int:
    """A number or a percentage of `total`, rounded up or down."""
    written = default if amount is None else amount
    if isinstance(written, str) and written.endswith("%"):
        part = total * int(written[:-1]) / 100
        return math.ceil(part) if up else math.floor(part)
    return int(written)
