"""One cluster at one moment, as plain values: what every decision is made from.

Two halves, because two systems know them: IKS (machines) and the Kubernetes API (nodes, pods, operator). Adapters
project raw JSON to these records at once; nothing of a client library, no clock and no judgement enters here.
A worker and its node are joined by worker id (label `ibm-cloud.kubernetes.io/worker-id`), never by name: a node's name
is an IP and can come back (B026).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Master:
    """The control plane as IKS tells it.

    Attributes:
        version: masterKubeVersion without " (pending)", such as 1.35.4_1528.
        pending: whether a version change is running.
        state: lifecycle.masterState (deployed, updating, update_failed, update_cancelled …).
        status: lifecycle.masterStatus, free text, shown verbatim.
        health: lifecycle.masterHealth (normal, error, unavailable, unsupported).
        target_version: what IKS would update to.
        endpoint: URL of the API server; it can change with an update.
    """

    version: str
    pending: bool
    state: str
    status: str
    health: str
    target_version: str = ""
    endpoint: str = ""


@dataclass(frozen=True, slots=True)
class OfferedVersion:
    """A row of IKS's versions endpoint. `end_of_service` is "" while supported."""

    major: int
    minor: int
    patch: int
    end_of_service: str = ""


@dataclass(frozen=True, slots=True)
class Addon:
    """A cluster add-on. `supported_range` as IKS spells it, for example `>=1.31.0 <1.36.0`; "" when not told."""

    name: str
    version: str
    supported_range: str = ""


@dataclass(frozen=True, slots=True)
class Taint:
    key: str
    value: str
    effect: str


@dataclass(frozen=True, slots=True)
class Zone:
    """A zone of a pool. `size`: workers wanted there. `subnet`: id of the primary subnet, "" when not told."""

    id: str
    subnet: str
    size: int


@dataclass(frozen=True, slots=True)
class Pool:
    """A worker pool.

    Attributes:
        labels: custom labels; every new worker of the pool gets them (B055).
        autoscaled: whether the cluster autoscaler owns its size.
        autobalanced: whether IKS refills it; None when IKS does not say. False means: replace only deletes.
        state: lifecycle.actualState; "deleted" means gone.
    """

    id: str
    name: str
    flavor: str
    zones: tuple[Zone, ...]
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    autoscaled: bool = False
    autobalanced: bool | None = None
    operating_system: str = ""
    vpc: str = ""
    state: str = "active"

    @property
    def size(self) -> int:
        """Workers wanted over all zones."""
        return sum(zone.size for zone in self.zones)


@dataclass(frozen=True, slots=True)
class Worker:
    """An IKS machine.

    Attributes:
        state: lifecycle.actualState, verbatim (deployed, deleting, provision_failed …).
        desired_state: lifecycle.desiredState.
        health: health.state; "" until the machine has reported.
        version: kubeVersion.actual, "" while provisioning.
        message: lifecycle.message, else health.message; verbatim for humans.
        pending_operation: lifecycle.pendingOperation.
    """

    id: str
    pool_id: str
    pool_name: str
    flavor: str
    zone: str
    ip: str
    state: str
    desired_state: str
    health: str
    version: str
    target_version: str = ""
    message: str = ""
    pending_operation: str = ""
    operating_system: str = ""

    @property
    def leaving(self) -> bool:
        """Being deleted or gone: nothing else will be accepted for it."""
        return self.desired_state == "deleted" or self.state in ("deleting", "deleted", "delete_failed")

    @property
    def normal(self) -> bool:
        """Deployed and healthy by IKS's word alone (unknown words are "not yet", B053)."""
        return self.state == "deployed" and self.health == "normal" and not self.leaving


@dataclass(frozen=True, slots=True)
class IksView:
    """IKS's half.

    Attributes:
        cluster_id: the id; names are only for humans.
        offering: kubernetes or openshift.
        provider: vpc-gen2, classic …
        workers: all that IKS lists, leaving and deleted ones included.
        endpoint_types: which service endpoints are on (public, private).
    """

    cluster_id: str
    cluster_name: str
    offering: str
    provider: str
    master: Master
    workers: tuple[Worker, ...]
    pools: tuple[Pool, ...]
    versions: tuple[OfferedVersion, ...] = ()
    addons: tuple[Addon, ...] = ()
    region: str = ""
    state: str = "normal"


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
class Owner:
    """The controller a pod belongs to in the end: a Deployment, not its ReplicaSet."""

    kind: str
    namespace: str
    name: str
    uid: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class Container:
    """State of one container. `state`: waiting, running, terminated or "". `reason`: of waiting or terminated."""

    name: str
    ready: bool
    restarts: int
    state: str
    reason: str = ""
    message: str = ""
    exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod on a GPU node, one that asks for GPUs, or one of the GPU operator.

    Attributes:
        owner: None for a bare pod (nothing makes it anew).
        gpus: requested GPU resources, init containers included, by resource name.
        app: label `app`. `component`: label app.kubernetes.io/component. `part`: label role (NFD), else "".
        ready: condition Ready.
        scheduled_reason: reason of PodScheduled=False ("" when scheduled), with its message beside it.
        mirror: a static pod's mirror. `empty_dir`: names of emptyDir volumes on disk (medium Memory is harmless).
        host_local: volumes that never move (local PV, hostPath) by name.
        grace_seconds: terminationGracePeriodSeconds.
    """

    namespace: str
    name: str
    uid: str
    node_name: str
    phase: str
    ready: bool
    created_at: datetime
    owner: Owner | None
    gpus: Mapping[str, int] = field(default_factory=dict)
    app: str = ""
    component: str = ""
    part: str = ""
    deleting_since: datetime | None = None
    reason: str = ""
    message: str = ""
    scheduled_reason: str = ""
    scheduled_message: str = ""
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    mirror: bool = False
    empty_dir: tuple[str, ...] = ()
    host_local: tuple[str, ...] = ()
    grace_seconds: int = 30
    selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: tuple[tuple[str, str, str, str], ...] = ()  # key, operator, value, effect

    @property
    def finished(self) -> bool:
        return self.phase in ("Succeeded", "Failed")

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"


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


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The whole cluster at one moment. `at`: when the look began (UTC)."""

    at: datetime
    iks: IksView
    kubernetes: KubernetesView

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
