"""How steps move on a look: what sends a question back, what breaks, what stops the run, what heals by itself."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from state.events import RetryRequested
from state.orders import EvictPod
from state.reasons import Code
from state.run import StepPhase
from state.snapshot import Pod, Snapshot
from tests.builders import pod
from tests.core.driving import kinds, look
from tests.core.midway import asked, card_of, emptied, held_up, move, twist, wait
from tests.core.worlds import change_node, change_worker, iks, kubernetes, leave, with_pods

# --- asked again


def test_given_a_lifted_cordon_when_the_replacement_is_due_then_it_is_asked_again_and_says_who() -> None:
    """B007: k8s-driver-manager opens nodes that it did not close."""
    d = emptied()
    answered = d.run.approvals[-1].id
    twist(d, lambda w: change_node(w, "w1", unschedulable=False, cordoned_by="k8s-driver-manager"))

    look(d)
    look(d)

    assert "ReplaceWorker" not in kinds(d)
    question = d.run.approvals[-1]
    assert (question.id != answered, question.decision) == (True, None)
    first = card_of(d)[0]
    assert first.code is Code.CARD_CHANGED
    assert first.cause is not None
    assert (first.cause.code, first.cause.text("by")) == (Code.CORDON_LIFTED, "k8s-driver-manager")
    d.click()
    assert kinds(d)[-2:] == ["CordonNode", "ReplaceWorker"]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda w: with_pods(w, pod("late-6f-1", "10.240.0.64", created_at=w.at)), Code.NEW_PODS),
        (lambda w: change_node(w, "w1", unschedulable=False), Code.CORDON_LIFTED),
    ],
    ids=["new pods", "cordon lifted"],
)
def test_given_a_replacement_that_had_to_wait_when_its_facts_changed_then_it_is_asked_again(
    change: Callable[[Snapshot], Snapshot], code: Code
) -> None:
    d = held_up()
    twist(d, change)

    look(d)
    assert move(d).note.code is code
    look(d)

    assert "ReplaceWorker" not in kinds(d)
    assert d.run.approvals[-1].decision is None
    assert card_of(d)[0].code is Code.CARD_CHANGED


def test_given_a_bare_pod_that_came_while_emptying_when_seen_then_it_is_not_evicted_unasked() -> None:
    d = emptied()
    twist(d, lambda w: with_pods(w, pod("notebook", "10.240.0.64", owner=None, created_at=w.at)))

    look(d)
    look(d)

    assert not any("notebook" in line for line in d.model.journal)
    assert d.run.intent is None
    assert Code.BARE_PODS in {line.code for line in card_of(d)}
    assert d.run.approvals[-1].decision is None


def test_given_a_stuck_drain_when_retried_with_a_new_bare_pod_then_it_is_asked_again() -> None:
    """An approval given long ago does not cover what has come since."""
    d = emptied()
    twist(d, lambda w: with_pods(w, pod("stuck-6f-1", "10.240.0.64", deleting_since=w.at)))
    look(d)
    wait(d, timedelta(minutes=31))
    look(d)
    assert move(d).phase is StepPhase.FAILED
    twist(d, lambda w: with_pods(w, pod("notebook", "10.240.0.64", owner=None, created_at=w.at)))

    d.say(RetryRequested)
    look(d)

    assert not any("notebook" in line for line in d.model.journal)
    assert move(d).phase is StepPhase.AWAITING_APPROVAL
    assert Code.BARE_PODS in {line.code for line in card_of(d)}


def test_given_a_pod_of_a_deployment_that_came_while_emptying_when_seen_then_it_moves_too() -> None:
    d = emptied()
    twist(d, lambda w: with_pods(w, pod("late-6f-1", "10.240.0.64", created_at=w.at)))

    look(d)

    assert d.run.intent is not None
    assert isinstance(d.run.intent.order, EvictPod)


@pytest.mark.parametrize(
    ("late", "again"),
    [
        (pod("gpu-burn-7d-another", "10.240.0.64"), False),
        (pod("notebook", "10.240.0.64", owner=None), True),
        (pod("other-5c-1", "10.240.0.64"), True),
    ],
    ids=["the same owner's pod", "a bare pod", "another owner's"],
)
def test_given_a_card_when_its_facts_change_unanswered_then_it_is_renewed_only_for_what_matters(
    late: Pod, again: bool
) -> None:
    """A pod that restarts under another name asks nobody again."""
    d = asked()
    shown = d.run.approvals[-1]
    gone = "gpu-burn-7d-46pml"

    def change(world: Snapshot) -> Snapshot:
        return with_pods(kubernetes(world, pods=tuple(p for p in world.kubernetes.pods if p.name != gone)), late)

    twist(d, change)
    look(d)

    found = d.run.approvals[-1]
    assert (found.id, found.revision) == (shown.id, 2 if again else 1)
    assert found.card != shown.card


def test_given_a_good_click_when_the_world_changed_before_it_was_seen_then_it_no_longer_counts() -> None:
    d = asked()
    twist(d, lambda w: with_pods(w, pod("other-5c-1", "10.240.0.64")))

    d.click()
    look(d)

    assert "CordonNode" not in kinds(d)
    assert card_of(d)[0].code is Code.CARD_CHANGED
    assert d.run.approvals[-1].decision is None


# --- never two away, never onto nothing


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda w: change_worker(w, "w2", health="critical"), Code.OTHERS_UNREADY),
        (lambda w: change_node(w, "w2", ready=False), Code.OTHERS_UNREADY),
        (lambda w: leave(w, "w2"), Code.POOL_SHORT),
        (lambda w: iks(w, master=replace(w.iks.master, pending=True)), Code.MASTER_NOT_THERE),
        (
            lambda w: change_node(w, "w1", labels={"nvidia.com/gpu-driver-upgrade-state": "upgrade-failed"}),
            Code.UPGRADE_FAILED,
        ),
    ],
    ids=["unhealthy", "not ready", "B052 one fewer", "master moves", "B013 upgrade failed"],
)
def test_given_an_open_question_when_it_may_not_be_done_any_more_then_it_is_withdrawn_and_says_why(
    change: Callable[[Snapshot], Snapshot], code: Code
) -> None:
    d = asked()
    twist(d, change)

    look(d)

    assert d.run.approvals[-1].decision is not None
    assert (move(d).phase, move(d).note.code) == (StepPhase.DUE, code)


@pytest.mark.parametrize("value", ["upgrade-required", "upgrade-done"])
def test_given_another_upgrade_state_when_asked_then_it_does_not_matter(value: str) -> None:
    d = asked()
    twist(d, lambda w: change_node(w, "w1", labels={"nvidia.com/gpu-driver-upgrade-state": value}))

    look(d)

    assert move(d).phase is StepPhase.AWAITING_APPROVAL
