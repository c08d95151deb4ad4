"""A cluster in which nothing is left to do: a run there says so and is over, and holds nothing."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from state.opt_out import DRIVER
from state.reasons import Code
from state.run import Decision, Goal, RunPhase
from state.snapshot import Snapshot
from tests.builders import OLD, one_worker, pool, run, two_workers
from tests.core.driving import codes, drive
from tests.core.model import Drive, Model
from tests.core.worlds import change_node, change_worker, iks, kubernetes, without_pods


def finished(world: Snapshot) -> Snapshot:
    """The world after a whole migration."""
    return drive(world, lambda d: d.run.phase is RunPhase.DONE).model.snapshot


def started(world: Snapshot, goal: Goal = Goal.MIGRATE) -> Drive:
    d = Drive(Model(world), run(goal=goal))
    d.approve = False
    d.go(ticks=1)
    return d


@pytest.mark.parametrize("goal", Goal)
@pytest.mark.parametrize("world", [one_worker, two_workers], ids=["example 1", "example 2"])
def test_given_a_migrated_cluster_when_started_then_the_run_says_so_and_is_over(
    world: Callable[[], Snapshot], goal: Goal
) -> None:
    d = started(finished(world()), goal)

    assert d.run.phase is RunPhase.DONE
    assert d.run.ending is not None
    assert d.run.ending.code is Code.ALREADY_MIGRATED
    assert codes(d) == [Code.ALREADY_MIGRATED]
    assert d.run.approvals == ()
    assert d.model.journal == []


def first(world: Snapshot) -> str:
    return world.iks.workers[-1].id


@pytest.mark.parametrize(
    "change",
    [
        lambda w: change_worker(w, first(w), version=OLD),
        lambda w: change_worker(w, first(w), health="critical"),
        lambda w: change_node(w, first(w), allocatable={}),
        lambda w: change_node(w, first(w), ready=False),
        lambda w: change_node(w, first(w), labels={DRIVER: "false"}),
        lambda w: without_pods(w, lambda p: p.component == "nvidia-driver"),
        lambda w: kubernetes(w, releases=()),
        lambda w: iks(w, master=replace(w.iks.master, pending=True)),
        lambda w: iks(w, pools=(*w.iks.pools, pool("pool-x", 1, name="temp-gpu-pool"))),
        lambda w: iks(w, workers=()),
    ],
    ids=[
        "an old worker",
        "an unwell worker",
        "no GPUs",
        "a node away",
        "driver switched off",
        "no driver",
        "no operator",
        "the control plane moves",
        "a temporary pool",
        "no workers",
    ],
)
def test_given_something_left_to_do_when_started_then_a_plan_is_shown(change: Callable[[Snapshot], Snapshot]) -> None:
    d = started(change(finished(two_workers())))

    assert d.run.phase is RunPhase.PLANNED
    assert Code.ALREADY_MIGRATED not in {why.code for why in d.run.blockers}


def test_given_an_open_plan_when_somebody_finished_by_hand_then_its_question_is_withdrawn() -> None:
    d = started(two_workers())
    assert d.run.phase is RunPhase.PLANNED
    d.model.snapshot = finished(two_workers())

    d.go(ticks=1)

    assert (d.run.phase, d.run.ending and d.run.ending.code) == (RunPhase.DONE, Code.ALREADY_MIGRATED)
    assert [a.decision for a in d.run.approvals] == [Decision.WITHDRAWN]
