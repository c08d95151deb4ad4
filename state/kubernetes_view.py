"""The API server's half of a snapshot: nodes, pods, workloads and the operator's traces, as plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from state.pod import Owner, Pod
from state.taint import Taint


@dataclass(frozen=True, slots=True)
class Node:
    """A Kubernetes node.

    Attributes:
        worker_id: label ibm-cloud.kubernetes.io/worker-id, "" when absent.
        allocatable: GPU resources only (nvidia.com/gpu, …/gpu.shared, …/mig-…), counts; a missing key is 0.
        capacity: the same of status.capacity.
        annotations: only those of this product (prefix gpu-migrate/).
        cordoned_by: field manager of spec.unschedulable, "" when unknown.
        ready_since: lastTransitionTime of the Ready condition.
    """

    name: str
    uid: str
    worker_id: str
    labels: Mapping[str, str]
    ready: bool
    unschedulable: bool
    created_at: datetime
    allocatable: Mapping[str, int]
    capacity: Mapping[str, int]
    taints: tuple[Taint, ...] = ()
    annotations: Mapping[str, str] = field(default_factory=dict)
    kubelet_version: str = ""
    resource_version: str = ""
    cordoned_by: str = ""
    ready_since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Workload:
    """An owner of GPU pods and how it fares. `desired`/`available`: as its own status counts (Jobs: completions)."""

    owner: Owner
    desired: int
    available: int
    gpus: Mapping[str, int] = field(default_factory=dict)
    finished: bool = False


@dataclass(frozen=True, slots=True)
class Budget:
    """A PodDisruptionBudget with the pods (uids) that it guards.

    Attributes:
        allowed: disruptionsAllowed. `healthy`, `wanted`: currentHealthy, desiredHealthy.
        always_allow: unhealthyPodEvictionPolicy AlwaysAllow.
    """

    namespace: str
    name: str
    allowed: int
    healthy: int
    wanted: int
    pods: tuple[str, ...] = ()
    always_allow: bool = False


@dataclass(frozen=True, slots=True)
class Release:
    """The newest revision of a Helm release of the operator. `chart`: name and version, as gpu-operator-v26.7.0."""

    name: str
    namespace: str
    chart: str
    status: str
    revision: int
    updated_at: datetime | None = None

    @property
    def chart_version(self) -> str:
        """`26.7.0`, without the leading v."""
        return self.chart.rpartition("-")[2].removeprefix("v")


@dataclass(frozen=True, slots=True)
class ClusterPolicy:
    """The operator's own verdict. `release`: owner by Helm's annotations as namespace/name, "" when not Helm's."""

    name: str
    state: str
    message: str = ""
    release: str = ""


@dataclass(frozen=True, slots=True)
class DaemonSet:
    """A DaemonSet of the operator's namespace."""

    namespace: str
    name: str
    app: str
    desired: int
    ready: int


@dataclass(frozen=True, slots=True)
class KubernetesView:
    """The API server's half.

    Attributes:
        version: gitVersion of GET /version, such as v1.35.4+IKS.
        pods: pods on GPU nodes, pods that ask for GPUs, pods of the operator's namespaces.
        releases: Helm releases of chart gpu-operator in all namespaces.
        foreign: names of NVIDIA CRDs that exclude this procedure (GPUCluster, a DRA driver's DeviceClass …).
        may_not: permissions that are missing, as "verb resource".
        marker: annotations of the Lease in the cluster that names a run, instance and fence; empty when absent.
    """

    version: str
    nodes: tuple[Node, ...]
    pods: tuple[Pod, ...]
    workloads: tuple[Workload, ...] = ()
    budgets: tuple[Budget, ...] = ()
    releases: tuple[Release, ...] = ()
    cluster_policies: tuple[ClusterPolicy, ...] = ()
    daemon_sets: tuple[DaemonSet, ...] = ()
    foreign: tuple[str, ...] = ()
    may_not: tuple[str, ...] = ()
    marker: Mapping[str, str] = field(default_factory=dict)
