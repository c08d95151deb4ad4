"""Whatever dies around a call, each call that must not be doubled is made once, and the run ends as if nothing had been."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from state.effects import GiveOrder, Observe
from state.events import Event, Nudged, Observed, Ordered, OutcomeKind
from state.machine import transition
from state.run import RunPhase
from state.snapshot import Snapshot
from tests.builders import one_worker, run, two_workers
from tests.core.model import Drive, Model

ONCE = ("UpdateMaster", "ReplaceWorker", "CreatePool", "RemovePool", "InstallChart")


@dataclass
class Fragile(Drive):
    """Dies before or after the n-th call as told: the outcome is lost, a new process finds the open intent."""

    fates: list[str] = field(default_factory=list)

    def send(self, event: Event) -> None:
        queue: list[Event] = [event]
        while queue:
            step = transition(self.run, queue.pop(0))
            self.run = step.run
            for effect in step.effects:
                if isinstance(effect, GiveOrder):
                    queue = self._call(effect, queue)
                elif isinstance(effect, Observe) and not queue:
                    queue.append(Observed(self.at, self.model.snapshot))

    def _call(self, effect: GiveOrder, queue: list[Event]) -> list[Event]:
        intent = effect.intent
        fate = self.fates.pop(0) if self.fates else "answered"
        if fate == "before":
            return [Ordered(self.at, intent.op, OutcomeKind.UNKNOWN), Nudged(self.at)]
        detail = self.model.order(intent.order)
        if fate == "after":
            return [Ordered(self.at, intent.op, OutcomeKind.UNKNOWN), Nudged(self.at)]
        return [*queue, Ordered(self.at, intent.op, OutcomeKind.ACCEPTED, None, detail)]


def once_only(journal: list[str]) -> list[str]:
    return [line for line in journal if line.startswith(ONCE)]


@pytest.mark.parametrize("world", [one_worker, two_workers], ids=["example 1", "example 2"])
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(fates=st.lists(st.sampled_from(["answered", "before", "after"]), max_size=25))
def test_given_any_deaths_around_calls_when_restarted_then_each_once_only_call_is_made_once(
    world: Callable[[], Snapshot], fates: list[str]
) -> None:
    clean = Drive(Model(world()), run())
    clean.go()
    broken = Fragile(Model(world()), run(), fates=list(fates))

    broken.go(ticks=400)

    assert broken.run.phase is RunPhase.DONE or _gave_up_after_two_lost_attempts(broken)
    assert len(set(once_only(broken.model.journal))) == len(once_only(broken.model.journal))
    assert set(once_only(broken.model.journal)) <= set(once_only(clean.model.journal))


def _gave_up_after_two_lost_attempts(broken: Fragile) -> bool:
    """Two attempts in a row that never left: a human is asked, nothing was done."""
    return any(s.note is not None and s.note.code.value == "not-started" for s in broken.run.steps)
