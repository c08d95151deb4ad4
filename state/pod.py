"""A pod with what decides about moving it, as plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


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
