"""The brake of the whole fleet, as one run sees it, and the count that sets it without anybody's order.

While the brake is set no run orders or asks anything; looking, and watching what was ordered before, goes on. Steps of
several runs failing within a short time have one cause more often than not, so the fleet stops itself and a human lets
it go on. Storing the brake and the count is the store's business.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta

from state.events import Braked
from state.journal import Brake
from state.news import tell
from state.reasons import Code, Reason, reason
from state.run import Note, Run, StepKind, StepPhase, StepRun
from state.stepping import with_step

FAILURES = frozenset({Code.STEP_FAILED, Code.STEP_STUCK})
_BY_ITSELF = "failures"


@dataclass(frozen=True, slots=True)
class Limit:
    """How many runs may fail within how long. `runs` 0: no count ever sets the brake."""

    runs: int = 3
    window: timedelta = timedelta(minutes=30)


def why(brake: Brake | None) -> Reason | None:
    """A stored brake in our words."""
    if brake is None:
        return None
    at = brake.at.isoformat()
    kind, _, clusters = brake.reason.partition(" ")
    if brake.by == "" and kind == _BY_ITSELF:
        cause = reason(Code.RUNS_FAILED, clusters=tuple(clusters.split()))
        return reason(Code.BRAKE, cause, at=at)
    return reason(Code.BRAKE, by=brake.by, detail=brake.reason, at=at)


def told_reason(clusters: Iterable[str]) -> str:
    """What the store keeps as the reason of a brake that the count has set; `why` reads it."""
    return f"{_BY_ITSELF} {' '.join(sorted(clusters))}"


def failures(notes: Iterable[Note], before: Iterable[Note] = ()) -> tuple[Note, ...]:
    """Notes of failed steps that were not there before."""
    known = {note.key for note in before}
    return tuple(note for note in notes if note.reason.code in FAILURES and note.key not in known)


def braked(run: Run, event: Braked) -> Run:
    """The brake was set or lifted; a brake that the run knows already changes nothing."""
    if run.phase.ended or run.brake == event.reason:
        return run
    run = replace(run, brake=event.reason)
    if event.reason is not None:
        return tell(run, f"brake:{event.reason.text('at')}", event.at, event.reason)
    steps = tuple(replace(s, note=None) if by_brake(s) else s for s in run.steps)
    what = reason(Code.BRAKE_LIFTED)
    return tell(replace(run, steps=steps), f"brake-lifted:{event.at.isoformat()}", event.at, what)


def held(run: Run, step: StepRun, waits_for: Reason | None = None) -> Run:
    """Nothing begins while the run is paused; under the brake the step says that it is the brake."""
    if run.brake is None:
        return run
    note = run.brake
    if step.kind is StepKind.UNDO and waits_for is not None:
        note = reason(Code.UNDO_WAITS, run.brake, nodes=waits_for.facts.get("node", ""))
    return with_step(run, replace(step, note=note))


def by_brake(step: StepRun) -> bool:
    """Whether a step waits for the brake and nothing else."""
    return step.note is not None and step.note.code in (Code.BRAKE, Code.UNDO_WAITS)


def waits_for_people(step: StepRun) -> bool:
    """Whether a step is due and something has been found that forbids it."""
    return step.phase is StepPhase.DUE and step.note is not None and not by_brake(step)
