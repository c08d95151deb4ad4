"""One cluster at one moment, as plain values: what every decision is made from.

Two halves, because two systems know them: IKS (machines) and the Kubernetes API (nodes, pods, operator). Adapters
project raw JSON to these records at once; nothing of a client library, no clock and no judgement enters here.
A worker and its node are joined by worker id (label `ibm-cloud.kubernetes.io/worker-id`), never by name: a node's name
is an IP and can come back (B026).
"""

from dataclasses import dataclass
from datetime import datetime

from state.iks_view import Addon, IksView, Master, OfferedVersion, Pool, Worker, Zone
from state.kubernetes_view import Budget, ClusterPolicy, DaemonSet, KubernetesView, Node, Release, Workload
from state.pod import Container, Owner, Pod
from state.reasons import Reason
from state.taint import Taint


@dataclass(frozen=True, slots=True)
class Forecast:
    """What the eviction API said about a pod (uid) when asked without meaning it. `blocked`: None when it may go."""

    uid: str
    blocked: Reason | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The whole cluster at one moment.

    Attributes:
        at: when the look began (UTC).
        forecast: answers of the eviction API to dry runs, as far as it was asked and answered.
    """

    at: datetime
    iks: IksView
    kubernetes: KubernetesView
    forecast: tuple[Forecast, ...] = ()

    def worker(self, worker_id: str) -> Worker | None:
        return next((w for w in self.iks.workers if w.id == worker_id), None)

    def pool(self, pool_id: str) -> Pool | None:
        return next((p for p in self.iks.pools if p.id == pool_id), None)

    def node_of(self, worker_id: str) -> Node | None:
        """The node of a worker, joined by label."""
        return next((n for n in self.kubernetes.nodes if n.worker_id == worker_id), None)

    def pods_on(self, node: Node) -> tuple[Pod, ...]:
        """Pods of this node object; older ones belong to a predecessor of the same name (B026)."""
        return tuple(p for p in self.kubernetes.pods if p.node_name == node.name and p.created_at >= node.created_at)

    def workers_in(self, pool_id: str) -> tuple[Worker, ...]:
        """Workers of a pool that are not gone."""
        return tuple(w for w in self.iks.workers if w.pool_id == pool_id and w.state != "deleted")


__all__ = [
    "Addon",
    "Budget",
    "ClusterPolicy",
    "Container",
    "DaemonSet",
    "Forecast",
    "IksView",
    "KubernetesView",
    "Master",
    "Node",
    "OfferedVersion",
    "Owner",
    "Pod",
    "Pool",
    "Release",
    "Snapshot",
    "Taint",
    "Worker",
    "Workload",
    "Zone",
]
