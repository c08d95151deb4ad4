"""Runs halfway through the first worker."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from state.events import OutcomeKind
from state.reasons import Reason
from state.run import StepKind, StepPhase
from state.snapshot import Snapshot
from tests.builders import NEW, two_workers
from tests.core.driving import drive, in_phase, look, outcome, step, until_open
from tests.core.model import Drive
from tests.core.worlds import change_node


def twist(d: Drive, change: Callable[[Snapshot], Snapshot]) -> None:
    d.model.snapshot = change(d.model.snapshot)


def wait(d: Drive, span: timedelta) -> None:
    twist(d, lambda w: replace(w, at=w.at + span))


def asked() -> Drive:
    """The question about w1 is open."""
    d = drive(two_workers(), in_phase(StepKind.MOVE_WORKLOADS, StepPhase.AWAITING_APPROVAL))
    d.approve = False
    return d


def emptied() -> Drive:
    """w1 is closed and empty; its replacement is due and not asked for yet."""
    d = asked()
    until_open(d, "EvictPod")
    assert d.run.intent is not None
    d.model.order(d.run.intent.order)
    outcome(d, OutcomeKind.ACCEPTED)
    return d


def replaced() -> Drive:
    """w1 is gone and its successor is there, healthy but not for long enough yet."""
    d = asked()
    d.click()
    while not any(p.component == "nvidia-driver" for p in d.model.snapshot.kubernetes.pods):
        d.model.tick()
        look(d)
    assert replacing(d).phase is StepPhase.VERIFYING
    return d


def fresh(world: Snapshot) -> str:
    """The successor's id."""
    return next(w.id for w in world.iks.workers if w.version == NEW)


def move(d: Drive) -> Any:
    return step(d, StepKind.MOVE_WORKLOADS)


def replacing(d: Drive) -> Any:
    return step(d, StepKind.REPLACE_WORKER)


def card_of(d: Drive) -> tuple[Reason, ...]:
    return d.run.approvals[-1].card


def held_up() -> Drive:
    """w1 is empty; its replacement waits, because w2 is not Ready for a moment."""
    d = emptied()
    twist(d, lambda w: change_node(w, "w2", ready=False))
    look(d)
    assert (move(d).phase, replacing(d).phase) == (StepPhase.DONE, StepPhase.DUE)
    twist(d, lambda w: change_node(w, "w2", ready=True))
    return d
