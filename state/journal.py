"""What the journal takes and gives: a run with its place in it, a transition, an inbox entry, a message's whereabouts.

Values only. How they are kept is `state/store`; what a run means is `state/run.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from state.events import HumanEvent
from state.run import Run


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run with its place in the journal. `version` counts its transitions; `fence` its owners."""

    run: Run
    version: int
    fence: int


@dataclass(frozen=True, slots=True)
class InboxEntry:
    """A recorded event of a person. `id` is its place in the stream."""

    id: str
    event: HumanEvent


@dataclass(frozen=True, slots=True)
class Change:
    """One transition to be stored: all of it or nothing.

    Attributes:
        stored: what it was decided on (expected version and fence).
        run: what it shall be.
        op: operation id made before the first try and reused for each, so that a lost reply cannot apply it twice.
        log: what happened, flat JSON for the run's log (event type, actor, phase before and after, reasons).
        wake_at: when the run is due again; None leaves no alarm.
        taken: inbox entries that this transition consumed.
    """

    stored: StoredRun
    run: Run
    op: str
    log: Mapping[str, object]
    wake_at: datetime | None
    taken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MessageRecord:
    """What is known of one of our messages. `ts` is "" between the intent to post it and the answer."""

    channel: str
    ts: str
    digest: str
    since: datetime
    thread: str = ""


@dataclass(frozen=True, slots=True)
class Brake:
    """Somebody (or the failure rate) stopped every run of the fleet."""

    by: str
    reason: str
    at: datetime
