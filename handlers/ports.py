"""What the edge calls, in its own words, so that it can submit and answer without importing the shell."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from state.events import HumanEvent, Person
from state.policy import Policy
from state.reasons import Reason
from state.run import Goal, Run


@dataclass(frozen=True, slots=True)
class Message:
    """What a person reads: `text` (always; push notifications and screen readers get it) and Block Kit `blocks`."""

    text: str
    blocks: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class StartRequest:
    """Somebody asked for a run. `id`: the signal's natural id (trigger id); the run's id is made of it."""

    id: str
    cluster: str
    goal: Goal
    by: Person


class Submit(Protocol):
    """Put something into the journal, before the acknowledgement. Total deadline 2 s; never raises for the store."""

    async def start(self, request: StartRequest) -> Reason:
        """Create a run, continue a prepared one, or say what runs already.

        STARTED_LOOKING, RECORDED (a prepared run goes on), RUN_EXISTS, NOT_IN_CHANNEL, NOT_RECORDED.
        """
        ...

    async def submit(self, run_id: str, event: HumanEvent) -> Reason:
        """Append an event to a run's inbox, once per event id. RECORDED, NO_SUCH_RUN, RUN_ENDED or NOT_RECORDED."""
        ...


class Runs(Protocol):
    """Read what is remembered. Raises TransientError when the store cannot be read within 2 s."""

    async def active(self, cluster: str) -> Run | None: ...

    async def get(self, run_id: str) -> Run | None: ...

    async def recent(self, limit: int) -> tuple[Run, ...]:
        """Newest first, ended ones included."""
        ...


class Desk(Protocol):
    """Slow answers to one person: looked up in the background, said when ready."""

    def plan(self, cluster: str, by: Person) -> None:
        """Look at a cluster and show the person what a run would do (dry run; nothing is stored)."""
        ...


@dataclass(frozen=True, slots=True)
class Clusters:
    """What the edge knows of the configuration: cluster name or id as configured → its policy, and our Slack team."""

    policies: Mapping[str, Policy]
    team: str = ""


class Words(Protocol):
    """Reason or run → what a person reads. Implemented by bot/messages."""

    def answer(self, reason: Reason, here: str = "") -> Message:
        """`here`: the cluster, for commands to type."""
        ...

    def help(self, reason: Reason | None = None) -> Message: ...

    def clusters(self, clusters: Clusters, runs: tuple[Run, ...]) -> Message: ...

    def status(self, run: Run) -> Message: ...

    def runs(self, runs: tuple[Run, ...], brake: Reason | None = None) -> Message:
        """`brake`: why nothing is ordered in any cluster."""
        ...

    def report(self, run: Run) -> Message: ...
