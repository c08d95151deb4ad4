"""Named places around a call at which a process may die, freeze or lose its journal: where the crash tests stop it.

In life nothing happens at them. Whoever starts the process hands the points in, as an argument and in no other way:

    await serve(settings, points)

No setting, no environment variable, no option of the command line and no message can, so that nothing here is ever reached
from outside. A program that wants to die at a place derives from `Points` and is its own entry point beside `bot.cli`
(tests/flows/mortal.py does); everything else about such a process is what runs in production.
"""

from dataclasses import dataclass
from enum import StrEnum

from state.events import Event, Ordered
from state.orders import natural_key
from state.run import Run, StepPhase


class Place(StrEnum):
    """Where the loop is, in the order of a call's life."""

    BEFORE_INTENT = "before-intent"  # decided, nothing stored
    INTENT_SAVED = "intent-saved"  # stored, nothing sent
    MARKED = "marked"  # the cluster carries our mark; the last look at lease and fence is next
    BEFORE_CALL = "before-call"  # the last look was good; the clock is asked once more, then the call leaves
    CALLED = "called"  # the answer is here, or is known to be lost
    BEFORE_OUTCOME = "before-outcome"  # the loop has the outcome, nothing stored
    OUTCOME_SAVED = "outcome-saved"
    VERIFYING = "verifying"  # a look was judged while the effect of a call is awaited


class Points:
    """What happens at a place: nothing."""

    async def reach(self, place: Place, subject: str) -> None:
        """Go on. `subject`: natural key of the order, or the key of the step that is verified (VERIFYING)."""


@dataclass(frozen=True, slots=True)
class Spot:
    """The two sides of one save."""

    before: Place
    after: Place
    subject: str


def around_save(event: Event, before: Run, after: Run) -> tuple[Spot, ...]:
    """Which places a save lies between: that of an outcome, that of a new intent, or none."""
    found = []
    if isinstance(event, Ordered) and before.intent is not None and before.intent.op == event.op:
        subject = natural_key(before.intent.order)
        found.append(Spot(Place.BEFORE_OUTCOME, Place.OUTCOME_SAVED, subject))
    if after.intent is not None and (before.intent is None or before.intent.op != after.intent.op):
        subject = natural_key(after.intent.order)
        found.append(Spot(Place.BEFORE_INTENT, Place.INTENT_SAVED, subject))
    return tuple(found)


def verified(run: Run) -> tuple[str, ...]:
    """Steps whose effect is awaited."""
    return tuple(step.key for step in run.steps if step.phase is StepPhase.VERIFYING)
