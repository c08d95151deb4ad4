"""News is told once, and a dip has to last before it takes good news back."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from state.news import forget, notice, tell
from state.reasons import Code, reason
from state.run import Run
from state.snapshot import Snapshot
from tests.builders import START, policy, two_workers
from tests.core.worlds import at, change_node, change_worker, fixed, iks, join, kubernetes, leave

GOOD = join(leave(two_workers(), "w1"))
"""Example 2 with w1 replaced by n1, whose GPUs can be used."""
BAD = change_node(GOOD, "n1", allocatable={"nvidia.com/gpu": 0})
FLAP = change_node(GOOD, "n1", labels={"nvidia.com/gpu.present": "false"}, allocatable={})
GONE = kubernetes(GOOD, nodes=GOOD.kubernetes.nodes[:-1])
INFO = change_node(GOOD, "n1", labels={"nvidia.com/gpu.count": None, "nvidia.com/gpu.product": None})
ARRIVED = [Code.NODE_READY, Code.GPUS_READY]
LOST = [Code.NODE_READY, Code.GPUS_LOST]


def moment(seconds: int) -> datetime:
    return START + timedelta(seconds=seconds)


def watched(looks: Iterable[tuple[int, Snapshot]], subject: Run | None = None) -> Run:
    """A run that has looked at these moments, in seconds."""
    found = subject or fixed()
    for seconds, world in looks:
        found = notice(found, at(world, moment(seconds)))
    return found


def codes(subject: Run) -> list[Code]:
    return [note.reason.code for note in subject.notes]


@pytest.mark.parametrize(
    ("looks", "told"),
    [
        ([(0, GOOD)], [Code.NODE_READY]),
        ([(0, GOOD), (89, GOOD)], [Code.NODE_READY]),
        ([(0, GOOD), (90, GOOD)], ARRIVED),
        ([(0, BAD), (600, BAD)], [Code.NODE_READY]),
        ([(0, GOOD), (60, BAD), (70, GOOD), (120, GOOD)], [Code.NODE_READY]),
        ([(0, GOOD), (60, BAD), (70, GOOD), (160, GOOD)], ARRIVED),
        ([(0, GOOD), (90, GOOD), (100, BAD), (189, BAD)], ARRIVED),
        ([(0, GOOD), (90, GOOD), (100, BAD), (150, GOOD), (160, BAD), (245, BAD)], ARRIVED),
        ([(0, GOOD), (90, GOOD), (100, BAD), (190, BAD)], LOST),
        ([(0, GOOD), (90, GOOD), (100, BAD), (190, BAD), (900, BAD)], LOST),
        ([(0, GOOD), (90, GOOD), (100, FLAP), (140, GOOD)], ARRIVED),
        ([(0, GOOD), (90, GOOD), (100, FLAP), (200, FLAP)], LOST),
        ([(0, GOOD), (90, GOOD), (100, INFO), (900, INFO)], ARRIVED),
        ([(0, GOOD), (90, GOOD), (100, GONE), (150, GOOD)], ARRIVED),
        ([(0, GOOD), (90, GOOD), (100, GONE), (190, GONE)], LOST),
        ([(0, GOOD), (80, GONE), (90, GOOD), (100, GOOD)], [Code.NODE_READY]),
        (
            [(0, GOOD), (90, GOOD), (100, BAD), (190, BAD), (200, GOOD), (290, GOOD)],
            [Code.NODE_READY, Code.GPUS_LOST, Code.GPUS_READY],
        ),
        (
            [(0, GOOD), (90, GOOD), (100, BAD), (190, BAD), (200, GOOD), (290, GOOD), (300, BAD), (400, BAD)],
            [Code.NODE_READY, Code.GPUS_LOST, Code.GPUS_LOST],
        ),
    ],
    ids=[
        "just seen",
        "not stable yet",
        "stable",
        "never good",
        "B096 dip at the start begins anew",
        "B096 stable after the dip",
        "B096 short dip",
        "two short dips",
        "long dip",
        "B097 long dip, told once",
        "B017 flap",
        "B017 flap that lasts",
        "B018 info labels",
        "node away for a moment",
        "node away for long",
        "node away at the start begins anew",
        "lost and back",
        "lost twice",
    ],
)
def test_given_looks_when_a_workers_gpus_come_and_go_then_only_what_lasts_is_told(
    looks: list[tuple[int, Snapshot]], told: list[Code]
) -> None:
    """Good news that was taken back is no note any more; it may come again."""
    assert codes(watched(looks)) == told


def test_given_the_same_news_again_and_again_then_nothing_is_added() -> None:
    """B097."""
    once = watched([(0, GOOD), (90, GOOD)])

    assert watched([(100, GOOD), (110, GOOD), (3600, GOOD)], once) == once


def test_given_a_lost_gpu_then_the_cause_and_the_numbers_are_told() -> None:
    note = watched([(0, GOOD), (90, GOOD), (100, BAD), (190, BAD)]).notes[-1]

    assert note.at == moment(190)
    assert (note.reason.text("worker"), note.reason.text("node")) == ("n1", "10.240.1.1")
    why = note.reason.cause
    assert why is not None
    assert (why.code, why.text("stage")) == (Code.WAIT_GPUS, "unhealthy-gpu")
    assert (why.facts["have"], why.facts["want"], why.text("resource")) == (0, 1, "nvidia.com/gpu")


def test_given_a_worker_that_leaves_then_its_gpus_are_not_said_to_be_lost() -> None:
    leaving = change_worker(BAD, "n1", desired_state="deleted", state="deleting")

    found = watched([(0, GOOD), (90, GOOD), (100, leaving), (300, leaving)])

    assert codes(found) == ARRIVED
    assert (found.healthy_since, found.dips) == ({}, {})


def test_given_a_worker_that_is_gone_then_nothing_of_it_is_remembered() -> None:
    found = watched([(0, GOOD), (90, GOOD), (100, leave(GOOD, "n1"))])

    assert (found.healthy_since, found.dips) == ({}, {})


def test_given_a_bot_that_was_away_then_what_it_missed_is_told_once() -> None:
    """B097: the dip came and went unseen; two looks apart prove nothing about the time between."""
    found = watched([(0, GOOD), (90, GOOD), (9000, GOOD)])

    assert codes(found) == ARRIVED


@pytest.mark.parametrize(
    ("world", "told"),
    [
        (two_workers(), []),
        (change_worker(two_workers(), "w1", version="1.36.0_1507"), []),
        (iks(two_workers(), workers=(*two_workers().iks.workers, GOOD.iks.workers[-1])), []),
        (change_node(GOOD, "n1", ready=False), []),
        (change_worker(GOOD, "n1", version=""), [Code.NODE_READY]),
        (change_worker(GOOD, "n1", version="1.35.4_1528"), []),
    ],
    ids=["old workers", "one of ours", "no node yet", "node not ready", "IKS silent, node on target", "old minor"],
)
def test_given_a_look_then_only_new_workers_on_the_target_arrive(world: Snapshot, told: list[Code]) -> None:
    assert codes(watched([(0, world)])) == told


def test_given_no_plan_yet_then_nothing_is_noticed() -> None:
    subject = replace(fixed(), baseline=None)

    assert notice(subject, GOOD) == subject


def test_given_a_shorter_policy_then_it_decides_what_lasts() -> None:
    durations = replace(policy().durations, stable=timedelta(seconds=5))
    subject = fixed(policy=policy(durations=durations))

    assert codes(watched([(0, GOOD), (5, GOOD)], subject)) == ARRIVED


def test_given_a_note_when_told_again_then_it_stays_as_it_was_until_forgotten() -> None:
    first = tell(fixed(), "k", moment(0), reason(Code.NODE_READY, worker="n1"))
    again = tell(first, "k", moment(5), reason(Code.GPUS_READY, worker="n1"))
    anew = tell(forget(again, "k"), "k", moment(9), reason(Code.GPUS_READY, worker="n1"))

    assert again == first
    assert [(n.key, n.at) for n in anew.notes] == [("k", moment(9))]
