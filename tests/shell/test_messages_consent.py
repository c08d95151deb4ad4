"""What will need consent is only said under a plan; under a worker's card it takes the button away."""

from dataclasses import replace

import pytest

from bot.messages import Words
from state.events import Observed
from state.machine import transition
from state.reasons import Code, reason
from state.run import Run
from tests.builders import START, pod, run, two_workers

BARE = reason(Code.BARE_PODS, pods=("default/notebook",))


def planned() -> Run:
    world = two_workers()
    bare = pod("notebook", "10.240.0.64", owner=None, gpus=0)
    world = replace(world, kubernetes=replace(world.kubernetes, pods=(*world.kubernetes.pods, bare)))
    return transition(run(), Observed(START, world)).run


@pytest.mark.parametrize(("step", "offered"), [("", True), ("move-workloads/w1", False)], ids=["plan", "worker"])
def test_given_a_bare_pod_when_asked_then_only_the_workers_card_has_no_approve_button(step: str, offered: bool) -> None:
    told = planned()
    card = Words().card(told, replace(told.approvals[0], step_key=step, card=(BARE,)))
    buttons = [b["action_id"] for block in card.blocks if block["type"] == "actions" for b in block["elements"]]

    assert ("gm:approve" in buttons) is offered
    assert "notebook" in str(card.blocks)
