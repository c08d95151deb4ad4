"""What an aborted run gives back: its own, as long as it is the same node, and only where that is safe (B091, B093)."""

from collections.abc import Callable

import pytest

from state.opt_out import DRIVER, OPERANDS
from state.orders import LabelNode, UncordonNode
from state.reasons import Code
from state.run import RunPhase, StepKind, StepRun
from state.snapshot import Snapshot
from state.steps import undo
from state.steps.step import Done, Scope, Waiting
from tests.builders import CLUSTER_POLICY, OPTED_OUT, release, two_workers
from tests.core.worlds import change_node, change_worker, fixed, kubernetes, leave

UNDO = StepRun(StepKind.UNDO.value, StepKind.UNDO)
LIFT = UncordonNode("10.240.0.64", "uid-w1", "w1")
BARE = LabelNode("10.240.0.64", "uid-w1", "w1", {OPERANDS: None, DRIVER: None})


def scope() -> Scope:
    ours = fixed(cordons={"uid-w1": "w1"}, labelled=("uid-w1",), phase=RunPhase.ABORTING)
    return Scope(ours, UNDO)


def touched() -> Snapshot:
    """Both nodes are closed and labelled; only the first is ours."""
    world = change_node(two_workers(), "w1", unschedulable=True, labels=OPTED_OUT)
    return change_node(world, "w2", unschedulable=True, labels=OPTED_OUT)


def test_given_nodes_of_ours_and_of_others_when_undone_then_only_ours_are_given_back() -> None:
    assert undo.act(touched(), scope()) == (LIFT, BARE)
    assert undo.check(touched(), scope()) == ()


@pytest.mark.parametrize(
    "present",
    [lambda w: kubernetes(w, releases=(release(),)), lambda w: kubernetes(w, cluster_policies=(CLUSTER_POLICY,))],
    ids=["release", "policy alone"],
)
def test_given_an_operator_when_undone_then_the_labels_stay(present: Callable[[Snapshot], Snapshot]) -> None:
    assert undo.act(present(touched()), scope()) == (LIFT,)


@pytest.mark.parametrize(
    "change",
    [
        lambda w: leave(w, "w1"),
        lambda w: change_node(w, "w1", uid="uid-of-a-later-node"),
        lambda w: change_node(w, "w1", unschedulable=False, labels=dict.fromkeys(OPTED_OUT)),
    ],
    ids=["gone", "another node of that name", "given back by somebody"],
)
def test_given_nothing_left_of_ours_when_looked_then_there_is_nothing_to_do(
    change: Callable[[Snapshot], Snapshot],
) -> None:
    world = change(touched())

    assert undo.act(world, scope()) == ()
    assert undo.verify(world, scope()) == Done()


def test_given_a_node_on_the_target_when_undone_then_its_labels_are_not_the_undoings_business() -> None:
    world = change_worker(touched(), "w1", version="1.36.0_1507")

    assert undo.act(world, scope()) == (LIFT,)


def test_given_one_label_left_when_undone_then_it_goes_too() -> None:
    world = change_node(touched(), "w1", unschedulable=False, labels={DRIVER: None})

    assert undo.act(world, scope()) == (BARE,)


def test_given_something_left_when_verified_then_each_node_is_named_once() -> None:
    found = undo.verify(touched(), scope())

    assert isinstance(found, Waiting)
    assert (found.on.code, found.on.text("node")) == (Code.WAIT_CORDON, "10.240.0.64")
