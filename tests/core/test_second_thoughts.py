"""Between the decision and the call, or its second attempt, the world may change: then it is decided anew."""

from dataclasses import replace

import pytest

from state.events import OutcomeKind, RetryRequested
from state.orders import ReplaceWorker
from state.reasons import Code
from state.run import StepKind, StepPhase
from tests.builders import one_worker, pod
from tests.core.driving import drive, in_phase, kinds, look, outcome, step, until_open
from tests.core.midway import asked, card_of, move, replacing, twist
from tests.core.model import Drive
from tests.core.worlds import change_node, change_worker, iks, with_pods


def unanswered() -> Drive:
    """The replacement of w1 never left; nobody knows that yet."""
    d = asked()
    until_open(d, "ReplaceWorker")
    outcome(d, OutcomeKind.UNKNOWN)
    return d


def settled(d: Drive) -> None:
    for _ in range(7):
        d.model.tick()
        look(d)


def test_given_another_worker_that_fell_ill_when_settled_then_the_replacement_is_not_asked_for_again() -> None:
    """Never two GPU workers away at once."""
    d = unanswered()
    twist(d, lambda w: change_worker(w, "w2", health="critical"))

    settled(d)

    assert (d.run.intent, replacing(d).phase) == (None, StepPhase.DUE)
    assert (replacing(d).note.code, replacing(d).note.cause.code) == (Code.OTHERS_UNREADY, Code.WAIT_WORKER)
    twist(d, lambda w: change_worker(w, "w2", health="normal"))
    look(d)
    assert d.run.intent is not None
    assert isinstance(d.run.intent.order, ReplaceWorker)


def test_given_a_lifted_cordon_when_settled_then_it_is_asked_anew() -> None:
    d = unanswered()
    twist(d, lambda w: change_node(w, "w1", unschedulable=False))

    settled(d)

    assert d.run.intent is None
    assert move(d).phase is StepPhase.AWAITING_APPROVAL
    assert card_of(d)[0].code is Code.CARD_CHANGED


def test_given_a_busy_master_when_settled_then_the_update_is_asked_anew() -> None:
    d = drive(one_worker(), in_phase(StepKind.UPDATE_MASTER, StepPhase.AWAITING_APPROVAL))
    d.approve = False
    until_open(d, "UpdateMaster")
    outcome(d, OutcomeKind.UNKNOWN)
    twist(d, lambda w: iks(w, master=replace(w.iks.master, state="deploying")))

    settled(d)

    update = step(d, StepKind.UPDATE_MASTER)
    assert (d.run.intent, update.phase, update.note and update.note.code) == (None, StepPhase.DUE, Code.MASTER_BUSY)


@pytest.mark.parametrize("failed", [False, True], ids=["while it is emptied", "before it is retried"])
def test_given_a_bare_pod_that_came_to_the_temporary_pool_when_seen_then_it_is_not_evicted_unasked(
    failed: bool,
) -> None:
    d = drive(one_worker(), in_phase(StepKind.REMOVE_TEMPORARY_POOL, StepPhase.AWAITING_APPROVAL))
    d.approve = False
    until_open(d, "EvictPod")
    name = next(n.name for n in d.model.snapshot.kubernetes.nodes if n.unschedulable)
    twist(d, lambda w: with_pods(w, pod("notebook", name, gpus=0, owner=None, created_at=w.at)))

    outcome(d, OutcomeKind.REFUSED if failed else OutcomeKind.POSTPONED)
    if failed:
        d.say(RetryRequested)
    settled(d)

    assert not any("notebook" in line for line in d.model.journal)
    assert "RemovePool" not in kinds(d)
    assert step(d, StepKind.REMOVE_TEMPORARY_POOL).phase is StepPhase.AWAITING_APPROVAL
    assert Code.BARE_PODS in {line.code for line in card_of(d)}
