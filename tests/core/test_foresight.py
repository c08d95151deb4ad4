"""What the eviction API said beforehand stands in the plan and on the worker's card, before what budgets seem to say."""

from dataclasses import replace
from datetime import timedelta

import pytest

from state.approval import open_for
from state.events import Observed
from state.foresight import candidates, held_up, worth_asking
from state.machine import transition
from state.planner import plan
from state.reasons import Code, Reason, reason
from state.run import Run, RunPhase, StepKind, StepPhase
from state.snapshot import Budget, Forecast, Snapshot
from tests.builders import START, policy, run, two_workers
from tests.core.model import Drive, Model

POD = "gpu-burn-7d-46pml"
UID = f"uid-{POD}"
BLOCKED = reason(Code.EVICTION_BLOCKED, pods=(f"default/{POD}",), budget="default/burn", allowed=0)
TWICE = reason(Code.EVICTION_MISCONFIGURED, pod=f"default/{POD}", budgets=("default/a", "default/b"))
OPEN = Budget("default", "burn", allowed=1, healthy=2, wanted=1, pods=(UID,))
CLOSED = replace(OPEN, allowed=0, wanted=2)


def world(*forecast: Forecast, budget: Budget | None = None) -> Snapshot:
    snapshot = two_workers()
    budgets = (budget,) if budget else ()
    return replace(snapshot, forecast=forecast, kubernetes=replace(snapshot.kubernetes, budgets=budgets))


@pytest.mark.parametrize(
    ("snapshot", "codes"),
    [
        (world(budget=CLOSED), [Code.PDB_BLOCKS]),
        (world(budget=OPEN), []),
        (world(Forecast(UID), budget=CLOSED), []),
        (world(Forecast(UID, BLOCKED), budget=OPEN), [Code.PDB_BLOCKS]),
        (world(Forecast(UID, TWICE)), [Code.EVICTION_MISCONFIGURED]),
        (world(Forecast(UID, reason(Code.EVICTION_BLOCKED, pods=(POD,), budget=""))), [Code.EVICTION_BLOCKED]),
        (world(Forecast("uid-gone", BLOCKED), budget=CLOSED), [Code.PDB_BLOCKS]),
    ],
    ids=["closed", "open", "closed, forecast free", "open, forecast blocked", "two", "nameless", "about another pod"],
)
def test_given_forecast_and_budgets_when_planned_then_the_forecast_comes_first(
    snapshot: Snapshot, codes: list[Code]
) -> None:
    planned = plan(run(), snapshot)

    assert [w.code for w in planned.warnings if w.code is not Code.CARD_FORECAST] == codes


def test_given_a_blocked_forecast_when_shown_then_pod_and_budget_are_named() -> None:
    snapshot = world(Forecast(UID, BLOCKED))
    pods = tuple(p for p in snapshot.kubernetes.pods if p.uid == UID)

    assert held_up(snapshot, pods) == (reason(Code.PDB_BLOCKS, pod=f"default/{POD}", budget="default/burn", allowed=0),)


def test_given_many_pods_when_chosen_then_guarded_ones_come_first_and_leaving_ones_not_at_all() -> None:
    snapshot = world(budget=replace(OPEN, pods=("uid-gpu-burn-7d-z6xnh",)))
    first, second = snapshot.kubernetes.pods
    leaving = replace(first, name="leaving", uid="uid-leaving", deleting_since=START)
    plain = replace(first, name="plain", uid="uid-plain", gpus={})
    snapshot = replace(snapshot, kubernetes=replace(snapshot.kubernetes, pods=(plain, leaving, first, second)))

    chosen = [order.pod for order in candidates(snapshot, "1.36")]

    assert chosen == [second.name, first.name, "plain"]


def asked() -> Drive:
    """A run that waits for the answer about its first worker."""
    drive = Drive(Model(two_workers()), run(), approve=False)
    drive.go(1)
    while not any(
        s.kind is StepKind.MOVE_WORKLOADS and s.phase is StepPhase.AWAITING_APPROVAL for s in drive.run.steps
    ):
        drive.click()
        drive.model.tick()
        drive.send(Observed(drive.at, drive.model.snapshot))
        assert drive.at < START + timedelta(hours=1)
    return drive


def worker_card(drive: Drive) -> tuple[tuple[Reason, ...], int]:
    step = next(s for s in drive.run.steps if s.kind is StepKind.MOVE_WORKLOADS)
    found = open_for(drive.run, step.key)
    assert found is not None
    return found.card, found.revision


def test_given_an_open_card_when_the_forecast_changes_then_the_card_says_so_and_its_buttons_stay_good() -> None:
    drive = asked()
    before, revision = worker_card(drive)
    blocked = replace(drive.model.snapshot, forecast=(Forecast(UID, BLOCKED),))
    drive.send(Observed(drive.at, blocked))

    after, same = worker_card(drive)
    assert Code.PDB_BLOCKS not in [line.code for line in before]
    assert Code.PDB_BLOCKS in [line.code for line in after]
    assert same == revision


def test_given_an_open_card_when_nothing_changes_then_the_run_stays_the_same() -> None:
    drive = asked()
    again = transition(drive.run, Observed(drive.at, drive.model.snapshot))

    assert again.run == drive.run


@pytest.mark.parametrize(
    ("subject", "worth"),
    [
        (run(phase=RunPhase.PLANNING), True),
        (run(phase=RunPhase.PLANNED), True),
        (run(phase=RunPhase.ACTIVE), False),
        (run(phase=RunPhase.DONE), False),
        (replace(plan(run(policy=policy()), two_workers()), phase=RunPhase.ACTIVE), False),
        (asked().run, True),
        (replace(asked().run, phase=RunPhase.ABORTING), False),
    ],
    ids=["planning", "planned", "no steps", "done", "labels due", "worker asked", "aborting"],
)
def test_given_a_run_when_a_worker_is_not_yet_due_then_nobody_is_asked(subject: Run, worth: bool) -> None:
    assert worth_asking(subject) is worth
