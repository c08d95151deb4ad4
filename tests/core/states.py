"""Draw how runs and steps change, from what the machine does: `python -m tests.core.states > docs/states.md`.

Nothing is written down by hand: random histories are played, and each change of a phase is noted with the event that
made it. What no history has shown is not in the picture.
"""

import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from state.events import Approved, Began, Event, OutcomeKind, Rejected
from state.run import Goal, Run
from tests.builders import START, one_worker, run, two_workers
from tests.core.model import APPROVER, OPERATOR, Model
from tests.core.test_machine import PEOPLE, TWISTS, Chaos, play

HISTORIES = 3000
MOVES = 250
Change = tuple[str, str]
Changes = dict[Change, set[str]]

INTRODUCTION = """\
Made by `python -m tests.core.states > docs/states.md`: each change was seen in a played history. Words of events are those
of `state/events.py`: `Observed` is a look at the cluster, `Ordered` an answer to a call. One event may carry a step through
several phases; the table then shows where it came to rest."""

_USUAL: tuple[tuple[object, ...], ...] = (
    ("look", "as it is"),
    ("tick",),
    ("done", OutcomeKind.ACCEPTED, True),
    ("answer", Approved, APPROVER, False),
)
_PLAIN: tuple[tuple[object, ...], ...] = (
    ("brake",),
    ("lift",),
    ("lift",),
    ("rewound",),
    ("failed", True),
    ("wait",),
    ("late",),
)


@dataclass
class Watching(Chaos):
    """Notes each change of a phase with the name of its event."""

    runs: Changes | None = None
    steps: Changes | None = None

    def send(self, event: Event) -> None:
        before = self.run
        super().send(event)
        assert self.runs is not None
        assert self.steps is not None
        name = type(event).__name__
        _note(self.runs, before.phase.value, self.run.phase.value, name)
        for old, new in _pairs(before, self.run):
            _note(self.steps, old, new, name)


def _note(into: Changes, old: str, new: str, event: str) -> None:
    if old != new:
        into.setdefault((old, new), set()).add(event)


def _pairs(before: Run, after: Run) -> Iterator[Change]:
    """Phases of the steps that both runs have."""
    known = {step.key: step.phase.value for step in before.steps}
    return ((known[step.key], step.phase.value) for step in after.steps if step.key in known)


def explore(histories: int) -> tuple[Changes, Changes]:
    """Changes of runs and of steps in so many histories; the same ones each time."""
    runs: Changes = {}
    steps: Changes = {}
    for seed in range(histories):
        dice = random.Random(seed)  # noqa: S311 (no secret)
        world = dice.choice([one_worker, two_workers])()
        chaos = Watching(Model(world), run(goal=dice.choice(list(Goal))), runs=runs, steps=steps)
        chaos.send(Began(START, "b"))
        oddness = dice.choice([0.02, 0.05, 0.2])
        for _ in range(MOVES):
            play(chaos, _odd(dice) if dice.random() < oddness else dice.choice(_USUAL))
    return runs, steps


def _odd(dice: random.Random) -> tuple[object, ...]:
    moves: list[tuple[object, ...]] = [
        ("look", dice.choice(sorted(TWISTS))),
        ("done", dice.choice(list(OutcomeKind)), dice.random() < 0.8),
        ("answer", dice.choice([Approved, Rejected]), APPROVER, dice.random() < 0.3),
        ("say", dice.choice(PEOPLE), OPERATOR),
        dice.choice(_PLAIN),
    ]
    return dice.choice(moves)


def page(runs: Changes, steps: Changes) -> str:
    """The whole page."""
    parts = [
        "# Phases",
        INTRODUCTION,
        "## Of a run",
        _picture(runs),
        _table(runs),
        "## Of a step",
        _picture(steps),
        _table(steps),
    ]
    return "\n\n".join(parts) + "\n"


def _picture(changes: Changes) -> str:
    lines = [f"    {_id(old)} --> {_id(new)}" for old, new in sorted(changes)]
    return "\n".join(["```mermaid", "stateDiagram-v2", *lines, "```"])


def _id(phase: str) -> str:
    return phase.replace("-", "_")


def _table(changes: Changes) -> str:
    rows = [f"| {old} | {new} | {', '.join(sorted(events))} |" for (old, new), events in sorted(changes.items())]
    return "\n".join(["| from | to | by |", "|---|---|---|", *rows])


if __name__ == "__main__":
    sys.stdout.write(page(*explore(HISTORIES)))
