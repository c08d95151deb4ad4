"""Ask a step's last look what forbids its order."""

from collections.abc import Callable

from state.reasons import Code
from state.run import Run, StepKind
from state.snapshot import Snapshot
from state.steps import STEPS
from state.steps.step import Scope
from tests.builders import master
from tests.core.worlds import iks

Change = Callable[[Snapshot], Snapshot]


def updated(world: Snapshot) -> Snapshot:
    return iks(world, master=master("1.36.0_1506"))


def checked(kind: StepKind, world: Snapshot, subject: Run) -> list[Code]:
    step = next(s for s in subject.steps if s.kind is kind)
    return [r.code for r in STEPS[kind].check(world, Scope(subject, step))]


def same(world: Snapshot) -> Snapshot:
    return world
