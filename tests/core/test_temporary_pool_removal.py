"""Taking the temporary pool away: emptied first, and only when nothing needs it any more."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from state.orders import CordonNode, EvictPod, RemovePool
from state.reasons import Code
from state.run import RunPhase, StepKind, StepRun, TemporaryPool
from state.snapshot import Snapshot
from state.steps import remove_temporary_pool as remove
from state.steps.step import Done, Scope, Waiting
from tests.builders import CLUSTER, START, one_worker, pod, pool
from tests.core.test_temporary_pool import MODEL, NAME, made, world
from tests.core.worlds import LATER, at, change_node, change_worker, fixed, iks, join, kubernetes, leave, with_pods

REMOVE = StepRun("remove-temporary-pool", StepKind.REMOVE_TEMPORARY_POOL)


def removing(**changes: Any) -> Scope:
    given: dict[str, Any] = {"temporary_pool": TemporaryPool(NAME, "pool-t"), **changes}
    return Scope(fixed(one_worker(), healthy_since={"t1": START, "n1": START}, **given), REMOVE)


def apart() -> Snapshot:
    """The successor n1 on 10.240.1.1 is free; the workload runs in the temporary pool, on t1 at 10.240.2.1."""
    found = change_worker(join(made(world()), "t1", "10.240.2.1"), "t1", pool_id="pool-t", pool_name=NAME)
    found = join(leave(found, "w1"), "n1", "10.240.1.1")
    return at(with_pods(found, pod("gpu-burn-7d-2", "10.240.2.1", created_at=LATER)), LATER)


def closed(found: Snapshot) -> Snapshot:
    return change_node(found, "t1", unschedulable=True)


def moved(found: Snapshot) -> Snapshot:
    pods = (replace(p, node_name="10.240.1.1") if p.app == "gpu-burn" else p for p in found.kubernetes.pods)
    return kubernetes(found, pods=tuple(pods))


def test_given_a_workload_in_the_pool_when_emptied_then_it_moves_before_the_pool_goes() -> None:
    evict = EvictPod("default", "gpu-burn-7d-2", "uid-gpu-burn-7d-2", "10.240.2.1")

    assert remove.act(apart(), removing()) == (CordonNode("10.240.2.1", "uid-t1", "t1"), evict)
    assert remove.act(closed(apart()), removing()) == (evict,)
    assert remove.act(closed(moved(apart())), removing()) == (RemovePool(CLUSTER, "pool-t", NAME),)


def test_given_a_pod_that_is_going_when_emptied_then_it_is_not_asked_again_and_the_pool_stays() -> None:
    going = apart()
    pods = (replace(p, deleting_since=LATER) if p.app == "gpu-burn" else p for p in going.kubernetes.pods)

    assert remove.act(closed(kubernetes(going, pods=tuple(pods))), removing()) == ()


def test_given_a_workload_that_is_not_back_when_empty_then_the_pool_stays() -> None:
    found = closed(moved(apart()))
    short = (replace(w, available=0) for w in found.kubernetes.workloads)

    assert remove.act(kubernetes(found, workloads=tuple(short)), removing()) == ()


@pytest.mark.parametrize(
    "change",
    [
        lambda w: iks(w, pools=(MODEL,)),
        lambda w: iks(w, pools=(MODEL, pool("pool-t", 1, name=NAME, state="deleting"))),
        lambda w: change_worker(w, "t1", desired_state="deleted"),
    ],
    ids=["gone", "going", "its worker is going"],
)
def test_given_a_removal_that_is_under_way_when_acting_then_nothing_is_ordered(
    change: Callable[[Snapshot], Snapshot],
) -> None:
    assert remove.act(change(closed(moved(apart()))), removing()) == ()


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        (lambda w: w, []),
        (lambda w: iks(w, pools=(MODEL,)), []),
        (lambda w: change_node(w, "n1", unschedulable=True), [Code.PODS_WOULD_NOT_FIT]),
        (lambda w: with_pods(w, pod("other-1-a", "10.240.1.1", created_at=LATER)), [Code.PODS_WOULD_NOT_FIT]),
        (lambda w: change_worker(w, "n1", health="critical"), [Code.WAIT_WORKER, Code.LAST_GPU_WORKER]),
        (lambda w: change_worker(w, "t1", health="critical"), []),
        (lambda w: change_node(w, "t1", ready=False), []),
    ],
    ids=["fine", "gone already", "no room: closed", "no room: full", "successor unwell", "it is unwell", "it is away"],
)
def test_given_a_world_when_the_removal_is_checked_then_what_forbids_it_is_named(
    change: Callable[[Snapshot], Snapshot], codes: list[Code]
) -> None:
    assert [r.code for r in remove.check(change(apart()), removing())] == codes


def test_given_an_aborted_run_when_checked_then_an_unwell_successor_is_no_reason_but_the_last_worker_is() -> None:
    sick = change_worker(apart(), "n1", health="critical")

    assert [r.code for r in remove.check(sick, removing(phase=RunPhase.ABORTING))] == [Code.LAST_GPU_WORKER]


def test_given_only_the_temporary_worker_when_checked_then_it_stays() -> None:
    alone = leave(apart(), "n1")

    assert Code.LAST_GPU_WORKER in [r.code for r in remove.check(alone, removing())]


def test_given_pools_of_similar_names_when_looked_for_then_only_ours_is_found() -> None:
    theirs = iks(world(), pools=(MODEL, pool("pool-x", 1, name="temp-gpu-r-11")))

    assert remove.act(theirs, removing()) == ()
    assert remove.act(theirs, removing(temporary_pool=None)) == ()


def test_given_the_pool_is_gone_when_verified_then_its_workers_have_to_be_gone_too() -> None:
    listed = iks(closed(moved(apart())), pools=(MODEL,))

    waiting = remove.verify(listed, removing())
    assert isinstance(waiting, Waiting)
    assert waiting.on.facts["workers"] == ("t1",)
    assert remove.verify(leave(listed, "t1"), removing()) == Done()


def test_given_pods_or_the_pool_when_verified_then_they_are_named() -> None:
    for found, code in ((apart(), Code.WAIT_PODS_GONE), (moved(apart()), Code.WAIT_POOL_GONE)):
        verdict = remove.verify(found, removing())

        assert isinstance(verdict, Waiting)
        assert verdict.on.code is code


def test_given_the_pool_when_asked_then_the_card_names_its_workers_and_pods() -> None:
    card = remove.card(apart(), removing())

    assert [line.code for line in card] == [
        Code.CARD_REMOVE_POOL,
        Code.CARD_PODS_MOVE,
        Code.CARD_COST,
        Code.CARD_NOTHING_HAPPENS,
    ]
    assert card[0].facts["workers"] == ("t1",)
