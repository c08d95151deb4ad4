"""The shape of a step: three pure questions over one snapshot, and the card that asks for leave.

`verify` is asked first and judges by what is there, not by what was ordered: what is already done is skipped, which gives
dry run, resume and "prepare before 1.36 exists" for free. `check` names what forbids acting now and runs again after the
click. `act` says which orders; it skips what is under way. Waiting is `verify`'s, never an order's.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from state.orders import Order
from state.policy import Durations
from state.reasons import Reason
from state.run import Baseline, Run, StepKind, StepRun
from state.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Done:
    """The world is as this step wants it."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """Not yet; `on` names the first thing it waits for."""

    on: Reason


@dataclass(frozen=True, slots=True)
class Broken:
    """It will not come by itself."""

    why: Reason


Verdict = Done | Waiting | Broken


@dataclass(frozen=True, slots=True)
class Scope:
    """What a step knows beside the snapshot: its run and its own instance."""

    run: Run
    step: StepRun

    @property
    def baseline(self) -> Baseline:
        assert self.run.baseline is not None, "steps exist only after planning"
        return self.run.baseline

    @property
    def target(self) -> str:
        """The minor to go to, such as 1.36."""
        return self.run.policy.target_minor

    def patient_since(self, patience: timedelta) -> datetime | None:
        """When the step was given its time: at its first order, or by the last retry."""
        return self.step.deadline_at - patience if self.step.deadline_at is not None else None


def never_asks(_snapshot: Snapshot, _scope: Scope) -> tuple[Reason, ...]:
    """Card of a step that needs no button."""
    return ()


@dataclass(frozen=True, slots=True)
class Step:
    """One chapter.

    Attributes:
        patience: which of the policy's durations is its deadline.
        card: lines of the question; a step whose `asks` is false needs no button.
        asks: whether a human has to approve each instance.
    """

    kind: StepKind
    patience: Callable[[Durations], timedelta]
    check: Callable[[Snapshot, Scope], tuple[Reason, ...]]
    act: Callable[[Snapshot, Scope], tuple[Order, ...]]
    verify: Callable[[Snapshot, Scope], Verdict]
    card: Callable[[Snapshot, Scope], tuple[Reason, ...]] = never_asks
    asks: bool = False
