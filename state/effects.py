"""What a transition asks the shell to do. Imperative; plain values; nothing here is ever stored."""

from dataclasses import dataclass

from state.events import Person
from state.reasons import Reason
from state.run import Intent


@dataclass(frozen=True, slots=True)
class Observe:
    """Look at the whole cluster and come back with Observed or LookFailed."""


@dataclass(frozen=True, slots=True)
class GiveOrder:
    """Make the call of this (already saved) intent, once, and come back with Ordered."""

    intent: Intent


@dataclass(frozen=True, slots=True)
class Tell:
    """Bring the run's messages (living progress, cards, posts) up to what the run says now."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Say something to one person only."""

    to: Person
    reason: Reason


Effect = Observe | GiveOrder | Tell | Answer
