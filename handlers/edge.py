"""What a listener is given: the ports of the edge in one value, so that it can be called without Slack."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from handlers.ports import Clusters, Desk, Message, Runs, Submit, Words
from state.errors import GpuMigrateError
from state.events import Person, TurnedAway
from state.journal import Brake as Set
from state.reasons import Code, Reason, reason
from state.run import Run

Told = TypeVar("Told")

PATIENCE = timedelta(seconds=2.5)  # Slack shows an error after 3 s


class Whisper(Protocol):
    """Show a message to one person, in the background: a click's acknowledgement cannot carry text."""

    def __call__(self, to: Person, message: Message) -> None: ...


class Brake(Protocol):
    """The brake of the whole fleet: while it is set, nothing is ordered in any cluster. Raises TransientError."""

    async def set_brake(self, by: str, reason: str) -> None: ...

    async def lift_brake(self, by: str = "") -> None: ...

    async def get_brake(self) -> Set | None: ...


@dataclass(frozen=True, slots=True)
class Heard:
    """One signal and what came of it, for the log: refused ones too."""

    what: str
    by: Person
    outcome: Reason | None = None


def unrecorded(_heard: Heard) -> None:
    """Nobody listens."""


@dataclass(frozen=True, slots=True)
class Edge:
    """The ports that listeners use.

    Attributes:
        now: the time that events carry.
        heard: is told of every signal once, refused ones too.
        patience: how long a listener may work before it gives up and says so.
        brake: stops everything; without one every run is paused by itself.
    """

    submit: Submit
    runs: Runs
    desk: Desk
    words: Words
    clusters: Clusters
    whisper: Whisper
    now: Callable[[], datetime]
    heard: Callable[[Heard], None] = unrecorded
    patience: timedelta = PATIENCE
    brake: Brake | None = None


async def in_time(work: Awaitable[Told], patience: timedelta) -> Told | Reason:
    """Await within the patience. Past it, or when the store cannot be reached, the reason: try again."""
    try:
        async with asyncio.timeout(patience.total_seconds()):
            return await work
    except TimeoutError:
        return reason(Code.NOT_RECORDED)
    except GpuMigrateError as error:
        return reason(Code.NOT_RECORDED, error.reason)


async def turn_away(edge: Edge, run: Run, event: TurnedAway) -> Reason:
    """Record that somebody was refused, in the log of the run they spoke to; what they are told is the event's reason."""
    if not run.phase.ended:
        await edge.submit.submit(run.id, event)
    return event.reason


def has_ended(run: Run) -> Reason:
    """What is said to whoever speaks to a run that is over."""
    return reason(Code.RUN_ENDED, run=run.id, cluster=run.cluster, phase=run.phase.value)
