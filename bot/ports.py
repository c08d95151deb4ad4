"""Outside systems as the shell needs them: small protocols in our words.

Reads raise TransientError or PermanentError. Mutating calls raise PermanentError (refused), TransientError (refused for
now, nothing happened) or OutcomeUnknown (the request may have been accepted). No other exception leaves an adapter.
Adapters answer with the core's values; no library type passes this line.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from handlers.ports import Message
from state.events import HumanEvent
from state.journal import Brake, Change, InboxEntry, MessageRecord, StoredRun
from state.orders import (
    CordonNode,
    CreatePool,
    EvictPod,
    InstallChart,
    LabelNode,
    RemovePool,
    ReplaceWorker,
    UncordonNode,
    UpdateMaster,
)
from state.reasons import Reason
from state.run import Run
from state.snapshot import IksView, KubernetesView

__all__ = [
    "Change",
    "Chat",
    "Clock",
    "ClusterRef",
    "Fleet",
    "Helm",
    "Iks",
    "InboxEntry",
    "Kubernetes",
    "MessageRecord",
    "Ownership",
    "Place",
    "RunStore",
    "StoredRun",
]


@dataclass(frozen=True, slots=True)
class ClusterRef:
    """A cluster as IKS knows it."""

    id: str
    name: str


class Iks(Protocol):
    """IBM Cloud Kubernetes Service."""

    async def resolve(self, name_or_id: str) -> ClusterRef:
        """Find the one cluster. PermanentError: CLUSTER_NOT_FOUND, CLUSTER_AMBIGUOUS (with ids)."""
        ...

    async def look(self, cluster_id: str) -> IksView: ...

    async def update_master(self, order: UpdateMaster) -> None: ...

    async def replace_worker(self, order: ReplaceWorker) -> None: ...

    async def create_pool(self, order: CreatePool) -> str:
        """The new pool's id."""
        ...

    async def remove_pool(self, order: RemovePool) -> None: ...


class Kubernetes(Protocol):
    """The API server of one cluster."""

    async def look(self, *, fresh: bool = False) -> KubernetesView:
        """See the cluster; `fresh` believes no cache, for the look after a call of ours."""
        ...

    async def label(self, order: LabelNode) -> None: ...

    async def cordon(self, order: CordonNode) -> None: ...

    async def uncordon(self, order: UncordonNode) -> None: ...

    async def evict(self, order: EvictPod) -> None:
        """201 and 404 are success. TransientError carries EVICTION_BLOCKED, EVICTION_THROTTLED or …_MISCONFIGURED."""
        ...

    async def dry_run_evict(self, order: EvictPod) -> Reason | None:
        """What would hold the eviction up now; None when nothing would. Changes nothing."""
        ...

    async def claim(self, facts: Mapping[str, str], holder: str) -> Mapping[str, str]:
        """Write the mark of a run into the cluster; the mark that stands afterwards: ours, or a fresh stranger's."""
        ...

    async def claim_worker(self, worker_id: str, facts: Mapping[str, str]) -> Mapping[str, str]:
        """Write the mark onto a worker's node too; the mark that stands there afterwards, empty without a node."""
        ...

    async def unclaim(self, run_id: str) -> None:
        """Take a run's marks away."""
        ...

    async def watch(self, changed: Callable[[], None]) -> None:
        """Follow nodes and pods until cancelled, calling `changed` (cheap, may be called often) after each change."""
        ...

    def renew_access(self) -> None:
        """Forget credentials and connections: the next call fetches a fresh kubeconfig, watches start anew."""
        ...

    async def aclose(self) -> None: ...


class Helm(Protocol):
    """The helm command."""

    async def install(self, order: InstallChart, kubeconfig: bytes) -> None: ...

    async def version(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Place:
    """Where a message stands. `thread`: ts of its root, "" for a root."""

    channel: str
    ts: str
    thread: str = ""


class Chat(Protocol):
    """Slack."""

    async def post(self, channel: str, message: Message, *, key: str, thread: str = "") -> Place:
        """Post a message that carries `key` as metadata, so that it can be found again."""
        ...

    async def update(self, place: Place, message: Message, *, key: str) -> None:
        """Rewrite a message. PermanentError(SLACK_REFUSED, error=message_not_found …): post a new one."""
        ...

    async def whisper(self, channel: str, user: str, message: Message) -> None:
        """Show something to one person only; falls back to a direct message."""
        ...

    async def find(self, channel: str, key: str, *, thread: str = "", since: datetime | None = None) -> Place | None:
        """Look for a message of ours that carries `key`."""
        ...

    async def is_member(self, channel: str) -> bool: ...


class RunStore(Protocol):
    """The journal. Each call has a deadline: TransientError (STORE_…) past it; RunConflict when overtaken."""

    async def create(self, run: Run, event_id: str) -> str | None:
        """Create a run unless its cluster has an active one; None when created, else that run's id.

        The same event id creates once: a repeat returns None too.
        """

    async def claim_cluster(self, stored: StoredRun, cluster_id: str) -> str | None:
        """Bind a resolved IKS id to this run; None when it is ours, else the run that holds it under another name."""

    async def load(self, run_id: str) -> StoredRun | None: ...

    async def apply(self, change: Change) -> StoredRun:
        """Store a transition. RunConflict when version or fence moved on (somebody else owns or changed it)."""

    async def submit(self, run_id: str, event: HumanEvent) -> bool:
        """Append to the inbox once per event id, within 2 s; False: no such run. PermanentError(RUN_ENDED): not kept."""

    async def inbox(self, run_id: str) -> tuple[InboxEntry, ...]: ...

    async def active(self, cluster: str) -> str | None: ...

    async def recent(self, limit: int) -> tuple[StoredRun, ...]:
        """Newest first, ended ones included."""

    async def actives(self) -> tuple[str, ...]:
        """Ids of all runs that are not ended."""

    async def log(self, run_id: str, limit: int = 1000) -> tuple[Mapping[str, object], ...]:
        """Oldest first; rows carry version, at and what `Change.log` said."""

    def accept_rewound(self, run_id: str) -> None:
        """Take the journal's word for a run from now on, after TransientError(STORE_REWOUND) was dealt with."""

    async def messages(self, run_id: str) -> Mapping[str, MessageRecord]: ...

    async def put_message(self, run_id: str, key: str, record: MessageRecord) -> None: ...


class Ownership(Protocol):
    """Which runs this replica owns (lease per replica, fence per run)."""

    async def take(self, run_id: str) -> StoredRun | None:
        """Become (or stay) the owner when nobody alive is; the run with our fence, else None."""

    async def release(self, run_id: str, heir: str = "") -> None: ...

    async def pass_by(self, run_id: str) -> None:
        """Leave a run that only newer code can read to others, and don't ask for it for a while."""

    def heir(self) -> str:
        """Who shall have one of our runs, as the last `due` found; "" while we have no more than our share."""

    def holds(self, margin_seconds: float) -> bool:
        """Whether our lease is good for at least that long, by the monotonic clock, without asking anybody."""

    async def still_owns(self, stored: StoredRun) -> bool:
        """Last look before a mutating call: the lease renewed just now, and the run's fence still ours."""

    async def due(self) -> tuple[str, ...]:
        """Runs with an inbox entry or an alarm that passed (or ownerless ones), as far as they are ours to work on."""


class Fleet(Protocol):
    """What concerns all runs at once. Raises TransientError."""

    async def get_brake(self) -> Brake | None: ...

    async def set_brake(self, by: str, reason: str) -> None:
        """Stop every run; a brake that is set keeps its first reason."""

    async def failed(self, member: str, at: datetime, window: timedelta) -> tuple[str, ...]:
        """Note a failed step once per member; all members of the last `window` since the brake was last lifted."""


class Clock(Protocol):
    def now(self) -> datetime:
        """UTC, aware."""
        ...
