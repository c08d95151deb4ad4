"""What IBM's pretend cloud needs of a cluster's Kubernetes: nodes that come and go, a control plane that restarts.

Only protocols and their values; who answers them is decided in the world's composition.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Machine:
    """A worker that joins its cluster as a node. `version`: build such as 1.36.0_1507."""

    worker_id: str
    ip: str
    flavor: str
    version: str
    pool_id: str
    pool_name: str
    zone: str
    region: str
    operating_system: str
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: Mapping[str, str] = field(default_factory=dict)
    preinstalled: bool = False


@dataclass(frozen=True, slots=True)
class Access:
    """How a user reaches the API server. `ca`: PEM, "" for plain HTTP."""

    url: str
    ca: str
    token: str


class KubernetesSide(Protocol):
    """One cluster's Kubernetes, seen from IBM's machines. `url`: where its API server answers now."""

    @property
    def url(self) -> str: ...

    async def join(self, machine: Machine) -> None:
        """Create the Node; it becomes Ready by itself."""

    async def lost(self, ip: str) -> None:
        """Let the Node stop reporting: it goes NotReady."""

    async def leave(self, ip: str, worker_id: str) -> None:
        """Delete the Node, if it still belongs to that worker."""

    async def relabel(self, ip: str, labels: Mapping[str, str | None]) -> None:
        """Set labels; None takes one off."""

    async def retaint(self, ip: str, taints: Mapping[str, str], old: Mapping[str, str]) -> None:
        """Replace the pool's `old` taints (key → `value:Effect`) on a node."""

    async def restart(self, version: str, gap: float, *, moves: bool = False) -> None:
        """Refuse connections for `gap` seconds, then answer as `version` (v1.36.0+IKS), at another URL if it moves."""

    def access(self, user: str, life: float, *, admin: bool) -> Access:
        """Let `user` in for `life` seconds."""
