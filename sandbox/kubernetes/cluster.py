"""The state of one pretend cluster, and one request against it. No HTTP, no rules."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sandbox.kubernetes.resources import Registry, Resource
from sandbox.kubernetes.store import Store
from sandbox.tokens import ANONYMOUS, Identity, Tokens

Obj = dict[str, Any]


def now() -> str:
    """The present as metadata writes it: UTC, whole seconds."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def now_micro() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@dataclass(slots=True)
class Cluster:
    """What the parts of the server share.

    Attributes:
        version: the git version that /version gives; the master update changes it.
    """

    name: str
    tokens: Tokens
    version: str
    store: Store = field(default_factory=Store)
    registry: Registry = field(default_factory=Registry)


@dataclass(slots=True)
class Call:
    """One request, understood as far as its path tells.

    Attributes:
        verb: get, list, watch, create, update, patch, delete, deletecollection, or the method in small letters.
        prefixed: whether the deprecated /watch/ prefix was used.
        effect: a small summary for the journal; never data of Secrets.
    """

    cluster: Cluster
    method: str
    path: str
    query: Mapping[str, str]
    identity: Identity = ANONYMOUS
    body: bytes = b""
    content_type: str = "application/json"
    accept: str = "*/*"
    user_agent: str = ""
    verb: str = ""
    group: str = ""
    version: str = ""
    plural: str = ""
    resource: Resource | None = None
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    prefixed: bool = False
    warnings: list[str] = field(default_factory=list)
    effect: Obj = field(default_factory=dict)

    @property
    def kind(self) -> Resource:
        """The resource of a call that is about one."""
        assert self.resource is not None
        return self.resource

    @property
    def place(self) -> tuple[str, str]:
        return (self.namespace, self.name)

    @property
    def dry_run(self) -> bool:
        return bool(self.query.get("dryRun"))

    @property
    def manager(self) -> str:
        """Who writes, for managedFields."""
        return self.query.get("fieldManager") or self.user_agent.split("/")[0] or "unknown"


@dataclass(slots=True)
class Reply:
    """An answer before it is encoded. `raw` wins over `obj`."""

    obj: Obj | None = None
    status: int = 200
    raw: bytes | None = None
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
