"""IKS's half of a snapshot: control plane, pools, workers, as plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from state.taint import Taint


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
