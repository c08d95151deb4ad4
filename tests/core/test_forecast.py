"""How many GPU-minutes workloads will miss, said before somebody agrees to it."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from state.planner import plan
from state.policy import Durations
from state.reasons import Code, Reason, reason
from state.run import Run, StepKind, StepPhase, StepRun
from state.shortfall import forecast, typical
from state.snapshot import Snapshot
from state.steps.move_card import card
from state.steps.step import Scope
from tests.builders import NEW, START, master, node, one_worker, pod, policy, run, two_workers, worker
from tests.core.half_done import temporary
from tests.core.worlds import change_node, change_worker, iks, join, kubernetes, with_pods, without_pods


def said(lines: tuple[Reason, ...]) -> list[tuple[object, object]]:
    """GPUs and GPU-minutes of the forecasts among some lines."""
    return [(r.facts["gpus"], r.facts["lost"]) for r in lines if r.code is Code.CARD_FORECAST]


def two_gpus(world: Snapshot) -> Snapshot:
    """The world with two GPUs in each worker, of which one is used."""
    offered = {"nvidia.com/gpu": 2}
    return change_node(change_node(world, "w1", allocatable=offered), "w2", allocatable=offered)


STAYS_OPEN = {"close_old_nodes": False}
IDLE = kubernetes(two_workers(), pods=())
JOINED = join(two_workers())
SLICED = kubernetes(
    one_worker(),
    nodes=(node("10.240.0.64", "w1", allocatable={"nvidia.com/gpu": 0, "nvidia.com/mig-1g.18gb": 7}),),
    pods=tuple(replace(pod(f"s{n}", "10.240.0.64"), gpus={"nvidia.com/mig-1g.18gb": 1}) for n in range(7)),
)


@pytest.mark.parametrize(
    ("world", "choices", "told"),
    [
        (two_workers(), {}, [(2, 50)]),
        (one_worker(), {}, []),
        (IDLE, {}, []),
        (JOINED, {}, []),
        (with_pods(JOINED, pod("other", "10.240.1.1")), {}, [(2, 50)]),
        (change_node(JOINED, "n1", unschedulable=True), {}, [(2, 50)]),
        (change_node(JOINED, "n1", ready=False), {}, [(2, 50)]),
        (two_gpus(two_workers()), {}, [(1, 25)]),
        (two_gpus(two_workers()), STAYS_OPEN, []),
        (two_workers(), STAYS_OPEN, [(2, 50)]),
        (temporary(one_worker()), {}, []),
        (SLICED, {}, []),
        (change_worker(change_worker(two_workers(), "w1", version=NEW), "w2", version=NEW), {}, []),
        (two_workers(), {"durations": Durations(typical_replace=timedelta(minutes=7, seconds=20))}, [(2, 15)]),
    ],
    ids=[
        "example 2",
        "example 1: the temporary pool takes it",
        "nothing runs",
        "free GPU that stays",
        "GPU that stays is taken",
        "GPU that stays is closed",
        "GPU that stays is not ready",
        "half of the GPUs used: the first waits",
        "half of the GPUs used, old nodes open: nobody waits",
        "all GPUs used, old nodes open",
        "temporary pool is there",
        "slices are counted as they are",
        "nothing to replace",
        "another guess, rounded up",
    ],
)
def test_given_a_plan_then_it_says_how_many_gpu_minutes_are_lost_or_nothing(
    world: Snapshot, choices: Mapping[str, Any], told: list[tuple[int, int]]
) -> None:
    assert said(plan(run(policy=policy(**choices)), world).warnings) == told


def on_card(world: Snapshot, subject: Run | None = None) -> list[tuple[object, object]]:
    planned = plan(subject or run(), iks(world, master=master("1.36.0_1506")))
    step = next(s for s in planned.steps if s.kind is StepKind.MOVE_WORKLOADS)
    return said(card(world, Scope(planned, step)))


@pytest.mark.parametrize(
    ("world", "told"),
    [
        (two_workers(), [(1, 25)]),
        (JOINED, []),
        (IDLE, []),
        (temporary(one_worker()), []),
        (two_gpus(with_pods(two_workers(), pod("more", "10.240.0.64"))), [(2, 50)]),
        (with_pods(without_pods(JOINED, lambda p: p.gpus != {}), pod("web", "10.240.0.64", gpus=0)), []),
    ],
    ids=["no place", "free GPU", "nothing runs", "temporary pool", "two pods", "no GPU asked for"],
)
def test_given_a_workers_card_then_it_says_what_its_own_pods_miss(world: Snapshot, told: list[tuple[int, int]]) -> None:
    assert on_card(world) == told


def replaced(minutes: int, ended: int, **changes: Any) -> StepRun:
    """A replacement that took so long and ended so many minutes after the start."""
    end = START + timedelta(minutes=ended)
    facts: dict[str, Any] = {
        "phase": StepPhase.DONE,
        "started_at": end - timedelta(minutes=minutes),
        "ordered_at": end - timedelta(minutes=minutes),
        "finished_at": end,
        **changes,
    }
    return StepRun(f"replace-worker/{ended}", StepKind.REPLACE_WORKER, **facts)


@pytest.mark.parametrize(
    ("steps", "minutes"),
    [
        ((), 25),
        ((replaced(18, 30),), 18),
        ((replaced(18, 30), replaced(12, 60)), 12),
        ((replaced(12, 60), replaced(18, 30)), 12),
        ((replaced(18, 30, phase=StepPhase.VERIFYING, finished_at=None),), 25),
        ((replaced(0, 30, ordered_at=None),), 25),
        ((replaced(18, 30, started_at=None),), 25),
    ],
    ids=["none yet", "one", "the last one", "whatever the order", "under way", "found done", "odd"],
)
def test_given_replacements_of_this_run_then_the_last_one_is_the_better_guess(
    steps: tuple[StepRun, ...], minutes: int
) -> None:
    subject = run(steps=steps)

    assert typical(subject) == timedelta(minutes=minutes)
    told = reason(Code.CARD_FORECAST, gpus=3, seconds=minutes * 60, lost=3 * minutes)
    assert forecast(subject, 3) == (told,)


def test_given_nobody_has_to_wait_then_there_is_nothing_to_say() -> None:
    assert forecast(run(), 0) == ()


def test_given_a_worker_without_a_node_then_the_plan_still_stands() -> None:
    world = iks(two_workers(), workers=(*two_workers().iks.workers, worker("w3")))

    assert said(plan(run(), world).warnings) == [(2, 50)]
