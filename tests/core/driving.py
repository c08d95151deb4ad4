"""Drive a run to where a test begins."""

from collections.abc import Callable

from state.events import Approved, Observed, Ordered, OutcomeKind
from state.machine import transition
from state.orders import natural_key
from state.reasons import Code, Reason
from state.run import Goal, RunPhase, StepKind, StepPhase, StepRun
from state.snapshot import Snapshot
from tests.builders import policy, run
from tests.core.model import APPROVER, Drive, Model


def drive(world: Snapshot, until: Callable[[Drive], bool], *, goal: Goal = Goal.MIGRATE) -> Drive:
    """Let a run go on, everything approved, until something is so."""
    found = Drive(Model(world), run(goal=goal, policy=policy()))
    for _ in range(200):
        found.go(ticks=1)
        if until(found):
            return found
    raise AssertionError([(s.key, s.phase, str(s.note)) for s in found.run.steps])


def ordered(word: str) -> Callable[[Drive], bool]:
    return lambda d: any(line.startswith(word) for line in d.model.journal)


def step(d: Drive, kind: StepKind) -> StepRun:
    return next(s for s in d.run.steps if s.kind is kind)


def in_phase(kind: StepKind, phase: StepPhase) -> Callable[[Drive], bool]:
    return lambda d: any(s.kind is kind and s.phase is phase for s in d.run.steps)


def settle(d: Drive, ticks: int = 30) -> None:
    """Let time pass while nobody clicks."""
    d.approve = False
    d.go(ticks=ticks)


def kinds(d: Drive) -> list[str]:
    return [line.split("(")[0] for line in d.model.journal]


def until_open(d: Drive, word: str) -> None:
    """Approve the open question and let calls be answered, until the intent of such an order is open."""
    question = d.run.approvals[-1]
    d.run = transition(d.run, Approved(d.at, "t", APPROVER, question.id, question.revision)).run
    for _ in range(50):
        if d.run.intent is None:
            d.run = transition(d.run, Observed(d.at, d.model.snapshot)).run
            if d.run.intent is None:
                d.model.tick()
            continue
        if natural_key(d.run.intent.order).startswith(word):
            return
        detail = d.model.order(d.run.intent.order)
        d.run = transition(d.run, Ordered(d.at, d.run.intent.op, OutcomeKind.ACCEPTED, None, detail)).run
    raise AssertionError([(s.key, s.phase, str(s.note)) for s in d.run.steps])


def outcome(d: Drive, kind: OutcomeKind, why: Reason | None = None) -> None:
    """The answer to the open order; what follows from it is not given."""
    assert d.run.intent is not None
    d.run = transition(d.run, Ordered(d.at, d.run.intent.op, kind, why)).run


def lost(d: Drive) -> None:
    """The open call takes effect; its answer does not arrive."""
    assert d.run.intent is not None
    d.model.order(d.run.intent.order)
    outcome(d, OutcomeKind.UNKNOWN)


def look(d: Drive) -> None:
    """One look at the world as it is."""
    d.run = transition(d.run, Observed(d.at, d.model.snapshot)).run


def phase(d: Drive) -> RunPhase:
    return d.run.phase


def codes(d: Drive) -> list[Code]:
    """What was told so far."""
    return [n.reason.code for n in d.run.notes]
