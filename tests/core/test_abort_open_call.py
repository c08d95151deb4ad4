"""An abort while a call is on its way: what the call does is given back too, once it is known that it did."""

import pytest

from state.events import AbortRequested, OutcomeKind
from state.reasons import Code, reason
from state.run import StepKind, StepPhase
from tests.builders import one_worker
from tests.core.driving import drive, in_phase, kinds, look, lost, outcome, settle, step, until_open
from tests.core.model import Drive


def closing() -> Drive:
    """A node is about to be closed."""
    d = drive(one_worker(), in_phase(StepKind.MOVE_WORKLOADS, StepPhase.AWAITING_APPROVAL))
    until_open(d, "CordonNode")
    return d


def closed(d: Drive) -> list[str]:
    return [n.name for n in d.model.snapshot.kubernetes.nodes if n.unschedulable]


@pytest.mark.parametrize("looks", [0, 1, 3])
def test_given_a_cordon_on_its_way_when_aborted_then_the_node_is_opened_once_its_outcome_is_known(looks: int) -> None:
    d = closing()
    intent = d.run.intent
    assert intent is not None

    d.say(AbortRequested)
    for _ in range(looks):
        look(d)

    assert d.run.intent == intent
    assert step(d, StepKind.UNDO).phase is StepPhase.DUE
    d.model.order(intent.order)
    outcome(d, OutcomeKind.ACCEPTED)
    settle(d)
    assert kinds(d)[-1] == "UncordonNode"
    assert closed(d) == []


def test_given_a_cordon_whose_answer_is_lost_when_aborted_then_the_node_is_opened() -> None:
    d = closing()

    d.say(AbortRequested)
    look(d)
    lost(d)
    settle(d)

    assert kinds(d)[-1] == "UncordonNode"
    assert closed(d) == []


def test_given_a_cordon_that_is_refused_when_aborted_then_there_is_nothing_to_open() -> None:
    d = closing()

    d.say(AbortRequested)
    look(d)
    outcome(d, OutcomeKind.REFUSED, reason(Code.API_REFUSED, status=409))
    settle(d)

    assert step(d, StepKind.UNDO).phase is StepPhase.DONE
    assert "UncordonNode" not in kinds(d)
