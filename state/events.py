"""What happened outside, in our words, past tense. Every event carries `at` (UTC): time is data.

Events of people carry `id`, the natural id of the signal (trigger id): the inbox takes each once.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from state.reasons import Reason
from state.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Person:
    """Who spoke: Slack user and team id, and the channel where an answer only for them can be shown."""

    user: str
    team: str = ""
    channel: str = ""


@dataclass(frozen=True, slots=True)
class Began:
    """The run exists now: look and plan."""

    at: datetime
    id: str


@dataclass(frozen=True, slots=True)
class Approved:
    at: datetime
    id: str
    by: Person
    approval: str
    revision: int


@dataclass(frozen=True, slots=True)
class Rejected:
    at: datetime
    id: str
    by: Person
    approval: str
    revision: int


@dataclass(frozen=True, slots=True)
class PauseRequested:
    at: datetime
    id: str
    by: Person


@dataclass(frozen=True, slots=True)
class ResumeRequested:
    at: datetime
    id: str
    by: Person


@dataclass(frozen=True, slots=True)
class RetryRequested:
    at: datetime
    id: str
    by: Person


@dataclass(frozen=True, slots=True)
class AbortRequested:
    at: datetime
    id: str
    by: Person


@dataclass(frozen=True, slots=True)
class ContinueRequested:
    """`start` on a prepared run: go on to the migration."""

    at: datetime
    id: str
    by: Person


@dataclass(frozen=True, slots=True)
class TurnedAway:
    """A person was refused at the edge; recorded so that each click and command has its entry in the log (B057, B062).

    Attributes:
        wanted: what they asked for, such as `gm:approve` or `abort`. approval, revision: of the button, if it was one.
        reason: what they were told.
    """

    at: datetime
    id: str
    by: Person
    wanted: str
    reason: Reason
    approval: str = ""
    revision: int = 0


@dataclass(frozen=True, slots=True)
class Braked:
    """The fleet's brake was set, or lifted (None). Never stored: it is read anew by each process."""

    at: datetime
    reason: Reason | None


@dataclass(frozen=True, slots=True)
class Rewound:
    """The journal turned out to be older than what was seen of it: a restored backup, a failover that lost writes."""

    at: datetime
    known: int
    found: int


@dataclass(frozen=True, slots=True)
class Nudged:
    """Something may have changed (watch, timer, restart): look again."""

    at: datetime
    id: str = ""


@dataclass(frozen=True, slots=True)
class Observed:
    """A look succeeded. Never stored: the next one replaces it."""

    at: datetime
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class LookFailed:
    """A look failed as a whole or in part; then nothing is decided."""

    at: datetime
    reason: Reason
    access_lost: bool = False  # credentials: a human is needed, waiting does not help


class OutcomeKind(StrEnum):
    ACCEPTED = "accepted"
    REFUSED = "refused"  # nothing happened; the same call would be refused again
    POSTPONED = "postponed"  # nothing happened; ask again later
    UNKNOWN = "unknown"  # may have happened
    WITHHELD = "withheld"  # mode observe, or the last look said no: nothing left the product


@dataclass(frozen=True, slots=True)
class Ordered:
    """The outcome of the call of intent `op`. `detail`: an id the other side gave, such as a pool id."""

    at: datetime
    op: str
    kind: OutcomeKind
    reason: Reason | None = None
    detail: str = ""


HumanEvent = (
    Approved
    | Rejected
    | PauseRequested
    | ResumeRequested
    | RetryRequested
    | AbortRequested
    | ContinueRequested
    | TurnedAway
)
Event = HumanEvent | Began | Nudged | Braked | Rewound | Observed | LookFailed | Ordered
