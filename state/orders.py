"""Calls to the outside as data, each with a natural key.

An order names what to do and to whom by identity (worker id, node uid, pod uid), so that doing it late, or to the
wrong thing that took the same name, is refused by the other side.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class LabelNode:
    """Set (str) or remove (None) labels in one JSON merge patch, then read them back (B005, B075)."""

    node: str
    uid: str
    worker_id: str
    labels: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class CordonNode:
    node: str
    uid: str
    worker_id: str


@dataclass(frozen=True, slots=True)
class UncordonNode:
    node: str
    uid: str
    worker_id: str


@dataclass(frozen=True, slots=True)
class EvictPod:
    """Ask the eviction API to move one pod. Never a plain delete."""

    namespace: str
    pod: str
    uid: str
    node: str


@dataclass(frozen=True, slots=True)
class InstallChart:
    """`helm install` under a fixed release name; nothing is waited for.

    Attributes:
        repository: https://… of a chart repository, oci://… of a registry, or a path; from configuration.
        values: chart values, JSON types.
    """

    release: str
    namespace: str
    chart: str
    version: str
    repository: str
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UpdateMaster:
    """Move the control plane to `version` (major.minor.patch, never a build)."""

    cluster_id: str
    version: str


@dataclass(frozen=True, slots=True)
class ReplaceWorker:
    """Delete a worker and have its pool create another at the control plane's minor (`update: true`)."""

    cluster_id: str
    worker_id: str
    pool_id: str


@dataclass(frozen=True, slots=True)
class CreatePool:
    """Create a temporary pool like `like_pool`, in `zone`/`subnet`, of `size` workers.

    `labels` are those of the model without the opt-out labels.
    """

    cluster_id: str
    name: str
    like_pool: str
    flavor: str
    vpc: str
    zone: str
    subnet: str
    size: int
    operating_system: str
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RemovePool:
    """Remove a pool that this run created, with all its workers."""

    cluster_id: str
    pool_id: str
    name: str


Order = (
    LabelNode
    | CordonNode
    | UncordonNode
    | EvictPod
    | InstallChart
    | UpdateMaster
    | ReplaceWorker
    | CreatePool
    | RemovePool
)

ONCE = (UpdateMaster, ReplaceWorker, CreatePool, RemovePool)
"""Orders that must never be repeated on a guess: the protocol with baseline, settle time and last looks applies."""


def natural_key(order: Order) -> str:
    """What the order is about, for the log, the journal of intents and humans."""
    match order:
        case LabelNode() | CordonNode() | UncordonNode():
            return f"{type(order).__name__}({order.node} {order.uid})"
        case EvictPod():
            return f"EvictPod({order.namespace}/{order.pod} {order.uid})"
        case InstallChart():
            return f"InstallChart({order.namespace}/{order.release} {order.version})"
        case UpdateMaster():
            return f"UpdateMaster({order.cluster_id} {order.version})"
        case ReplaceWorker():
            return f"ReplaceWorker({order.cluster_id} {order.worker_id})"
        case CreatePool():
            return f"CreatePool({order.cluster_id} {order.name})"
        case RemovePool():
            return f"RemovePool({order.cluster_id} {order.pool_id})"
