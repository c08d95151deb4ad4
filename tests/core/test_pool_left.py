"""A temporary pool costs money: however a run ends, its removal was offered, or people were told that it is still there."""

import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from state.events import AbortRequested, Approved, Observed, OutcomeKind, Rejected, RetryRequested
from state.reasons import Code, reason
from state.run import RunPhase, StepKind, StepPhase
from state.snapshot import Snapshot
from tests.builders import one_worker, pool, run
from tests.core.driving import codes, drive, in_phase, kinds, look, outcome, phase, settle, step, until_open
from tests.core.model import APPROVER, OPERATOR, Drive, Model
from tests.core.test_machine import PEOPLE, TWISTS, Chaos, play
from tests.core.worlds import change_worker, iks

BUSY = reason(Code.IKS_BUSY, status=400, message="operations pending")
REMOVE = StepKind.REMOVE_TEMPORARY_POOL


def aborting() -> Drive:
    """The temporary pool is there; the run is being aborted and its removal is asked about."""
    d = drive(one_worker(), in_phase(StepKind.MOVE_WORKLOADS, StepPhase.AWAITING_APPROVAL))
    d.approve = False
    d.say(AbortRequested)
    settle(d, 2)
    assert step(d, REMOVE).phase is StepPhase.AWAITING_APPROVAL
    return d


def sick(d: Drive, health: str = "critical") -> None:
    d.model.snapshot = change_worker(d.model.snapshot, "w1", health=health)
    look(d)


def test_given_a_removal_that_is_put_off_when_something_is_in_the_way_meanwhile_then_it_is_offered_again() -> None:
    d = aborting()
    until_open(d, "RemovePool")
    outcome(d, OutcomeKind.POSTPONED, BUSY)
    sick(d)
    settle(d, 3)
    assert phase(d) is RunPhase.ABORTING

    sick(d, "normal")

    assert step(d, REMOVE).phase is StepPhase.AWAITING_APPROVAL
    d.click()
    settle(d, 5)
    assert phase(d) is RunPhase.ABORTED
    assert Code.TEMPORARY_POOL_LEFT not in codes(d)


def test_given_a_pool_that_is_going_when_aborted_then_nobody_is_asked_about_it_again() -> None:
    d = drive(one_worker(), in_phase(REMOVE, StepPhase.AWAITING_APPROVAL))
    d.approve = False
    until_open(d, "RemovePool")
    world = d.model.snapshot
    going = tuple(replace(p, state="deleting") if p.name == "temp-gpu-r-1" else p for p in world.iks.pools)
    outcome(d, OutcomeKind.ACCEPTED)
    d.model.snapshot = iks(world, pools=going)
    asked = len(d.run.approvals)

    d.say(AbortRequested)
    settle(d, 3)

    assert (phase(d), len(d.run.approvals)) == (RunPhase.ABORTING, asked)
    d.model.snapshot = iks(d.model.snapshot, pools=going[:1], workers=d.model.snapshot.workers_in(going[0].id))
    settle(d, 1)
    assert phase(d) is RunPhase.ABORTED
    assert Code.TEMPORARY_POOL_LEFT not in codes(d)


def test_given_a_removal_that_cannot_be_offered_when_aborted_again_then_the_pool_is_left_and_people_are_told() -> None:
    d = aborting()
    sick(d)
    assert step(d, REMOVE).phase is StepPhase.DUE
    settle(d, 20)
    assert phase(d) is RunPhase.ABORTING, "it waits for somebody, whoever that costs"

    d.say(AbortRequested)

    assert phase(d) is RunPhase.ABORTED
    left = next(n.reason for n in d.run.notes if n.reason.code is Code.TEMPORARY_POOL_LEFT)
    assert dict(left.facts) == {"pool": "temp-gpu-r-1", "size": 1, "flavor": "gx3.16x80.l4"}


def test_given_a_removal_that_was_refused_when_retried_then_it_goes_after_all() -> None:
    d = aborting()
    until_open(d, "RemovePool")
    outcome(d, OutcomeKind.REFUSED, BUSY)
    settle(d, 3)
    assert phase(d) is RunPhase.ABORTING

    d.say(RetryRequested)
    settle(d, 5)

    assert phase(d) is RunPhase.ABORTED
    assert kinds(d)[-1] == "RemovePool"


def test_given_a_removal_that_was_refused_when_aborted_again_then_it_ends_and_says_what_is_left() -> None:
    d = aborting()
    until_open(d, "RemovePool")
    outcome(d, OutcomeKind.REFUSED, BUSY)

    d.say(AbortRequested)

    assert phase(d) is RunPhase.ABORTED
    assert Code.TEMPORARY_POOL_LEFT in codes(d)


def test_given_a_no_to_the_removal_when_the_migration_is_done_then_the_end_names_the_pool() -> None:
    d = drive(one_worker(), in_phase(REMOVE, StepPhase.AWAITING_APPROVAL))
    question = d.run.approvals[-1]

    d.say(Rejected, APPROVER, approval=question.id, revision=question.revision)
    settle(d)

    assert phase(d) is RunPhase.DONE
    assert Code.TEMPORARY_POOL_LEFT in codes(d)


@pytest.mark.parametrize("how", [AbortRequested, Rejected])
def test_given_the_pool_of_an_earlier_run_when_the_plan_is_refused_then_people_are_told(how: type) -> None:
    world = one_worker()
    found = Drive(Model(iks(world, pools=(*world.iks.pools, pool("pool-x", 1, name="temp-gpu-r-0")))), run())
    found.approve = False
    found.go(ticks=1)
    facts = {"approval": found.run.approvals[0].id, "revision": 1} if how is Rejected else {}

    found.say(how, APPROVER if how is Rejected else OPERATOR, **facts)

    assert phase(found) is RunPhase.ABORTED
    assert Code.TEMPORARY_POOL_LEFT in codes(found)


# --- whatever happens

USUAL: tuple[tuple[object, ...], ...] = (
    ("look", "as it is"),
    ("tick",),
    ("done", OutcomeKind.ACCEPTED, True),
    ("answer", Approved, APPROVER, False),
)
PLAIN: tuple[tuple[object, ...], ...] = (("brake",), ("lift",), ("lift",), ("failed", True), ("wait",), ("late",))
POOL_STAYS = sorted(set(TWISTS) - {"nothing left"})


class Remembering(Chaos):
    """Knows the last world that the run has seen, and how often people wanted it to end."""

    seen: Snapshot | None = None
    aborts: int = 0

    def send(self, event: object) -> None:
        if isinstance(event, Observed) and not self.run.phase.ended:
            self.seen = event.snapshot
        self.aborts += isinstance(event, AbortRequested)
        super().send(event)  # type: ignore[arg-type]


def odd(dice: random.Random) -> tuple[object, ...]:
    moves: list[tuple[object, ...]] = [
        ("look", dice.choice(POOL_STAYS)),
        ("done", dice.choice(list(OutcomeKind)), dice.random() < 0.8),
        ("answer", dice.choice([Approved, Rejected]), APPROVER, False),
        ("say", dice.choice(PEOPLE), OPERATOR),
        ("say", AbortRequested, OPERATOR),
        dice.choice(PLAIN),
    ]
    return dice.choice(moves)


def left_pools(seen: Snapshot) -> set[str]:
    return {p.name for p in seen.iks.pools if p.name.startswith("temp-gpu") and p.state == "active"}


def offered(chaos: Chaos) -> bool:
    return any(a.step_key == REMOVE.value for a in chaos.run.approvals)


BEGINNINGS = (
    in_phase(StepKind.ADD_TEMPORARY_POOL, StepPhase.AWAITING_APPROVAL),
    in_phase(StepKind.ADD_TEMPORARY_POOL, StepPhase.VERIFYING),
    in_phase(StepKind.MOVE_WORKLOADS, StepPhase.AWAITING_APPROVAL),
    in_phase(StepKind.REPLACE_WORKER, StepPhase.VERIFYING),
    in_phase(REMOVE, StepPhase.AWAITING_APPROVAL),
)


@pytest.mark.parametrize("until", BEGINNINGS, ids=["asked for", "being made", "there", "in use", "asked about"])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 10**9), oddness=st.sampled_from([0.05, 0.15, 0.4]))
def test_given_any_history_when_the_run_ends_with_its_pool_then_people_were_told(
    until: Callable[[Drive], bool], seed: int, oddness: float
) -> None:
    dice = random.Random(seed)  # noqa: S311 (no secret)
    begun = drive(one_worker(), until)
    chaos = Remembering(begun.model, begun.run)
    chaos.send(Observed(begun.at, begun.model.snapshot))
    for _ in range(300):
        if chaos.run.phase.ended:
            break
        play(chaos, odd(dice) if dice.random() < oddness else dice.choice(USUAL))

    told = {n.reason.text("pool") for n in chaos.run.notes if n.reason.code is Code.TEMPORARY_POOL_LEFT}
    assert chaos.seen is not None
    if chaos.run.phase.ended:
        left = left_pools(chaos.seen)
        assert left <= told
        assert not left or offered(chaos) or chaos.aborts > 1, "no run lets go of its pool by itself"
