"""A cordon, or its lifting, whose answer was lost: what does not show was not done, and is done, not blamed on others."""

import pytest

from state.events import AbortRequested, OutcomeKind, PauseRequested, ResumeRequested
from state.intents import Finding, look_for
from state.machine import transition
from state.orders import CordonNode, UncordonNode
from state.reasons import Code
from state.run import RunPhase, StepPhase
from tests.builders import two_workers
from tests.core.driving import kinds, look, lost, outcome, settle, until_open
from tests.core.midway import asked, move
from tests.core.model import OPERATOR, Drive
from tests.core.test_intents import intent
from tests.core.worlds import change_node

CORDON = CordonNode("10.240.0.64", "uid-w1", "w1")
UNCORDON = UncordonNode("10.240.0.64", "uid-w1", "w1")


@pytest.mark.parametrize(
    ("order", "closed", "finding"),
    [
        (CORDON, True, Finding.ADOPT),
        (CORDON, False, Finding.NOTHING_YET),
        (UNCORDON, False, Finding.ADOPT),
        (UNCORDON, True, Finding.NOTHING_YET),
    ],
)
def test_given_a_lost_answer_when_looked_for_then_the_node_itself_tells(
    order: CordonNode | UncordonNode, closed: bool, finding: Finding
) -> None:
    world = change_node(two_workers(), "w1", unschedulable=closed)

    assert look_for(intent(order), world).finding is finding


def closing() -> Drive:
    """The cordon of w1 is on its way."""
    d = asked()
    until_open(d, "CordonNode")
    return d


def test_given_a_cordon_that_never_left_when_looked_then_it_is_set_and_nobody_is_asked_again() -> None:
    d = closing()
    outcome(d, OutcomeKind.UNKNOWN)

    look(d)

    assert d.run.intent is not None
    assert (d.run.intent.order, d.run.intent.unknown) == (CORDON, False)
    assert (move(d).phase, d.run.cordons) == (StepPhase.ACTING, {})
    settle(d)
    assert len(d.run.approvals) == 3
    assert "ReplaceWorker" in kinds(d) or move(d).phase is StepPhase.ACTING


def test_given_a_cordon_that_took_effect_when_looked_then_it_is_ours() -> None:
    d = closing()
    lost(d)

    look(d)

    assert d.run.cordons == {"uid-w1": "w1"}


def test_given_cordons_that_never_leave_when_looked_again_and_again_then_no_yes_is_thrown_away() -> None:
    d = closing()
    for _ in range(6):
        outcome(d, OutcomeKind.UNKNOWN)
        look(d)

    assert d.run.intent is not None
    assert d.run.intent.order == CORDON
    assert len(d.run.approvals) == 3


def test_given_a_lost_cordon_and_a_pause_when_looked_then_it_waits_for_resume() -> None:
    d = closing()
    outcome(d, OutcomeKind.UNKNOWN)
    d.say(PauseRequested)

    look(d)

    assert (d.run.intent, d.run.cordons) == (None, {})
    d.say(ResumeRequested)
    assert d.model.journal.count("CordonNode(10.240.0.64 uid-w1)") == 1


def test_given_a_lifting_that_never_left_when_aborted_then_it_is_lifted_before_the_run_ends() -> None:
    """B093: an unanswered call is no reason to leave a cordon behind."""
    d = closing()
    lost(d)
    look(d)
    outcome(d, OutcomeKind.REFUSED)
    d.run = transition(d.run, AbortRequested(d.at, "t", OPERATOR)).run
    look(d)
    assert d.run.intent is not None
    assert d.run.intent.order == UNCORDON
    outcome(d, OutcomeKind.UNKNOWN)

    settle(d)

    assert d.run.phase is RunPhase.ABORTED
    assert not any(n.unschedulable for n in d.model.snapshot.kubernetes.nodes)
    assert [n.reason.code for n in d.run.notes].count(Code.UNCORDONED) == 1
