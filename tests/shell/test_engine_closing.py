"""Closing takes less than ten seconds, whatever hangs: a call that never answers, a journal that is away."""

import asyncio

import pytest

from bot.engine import Engine
from state.orders import LabelNode
from tests.shell.journal import away
from tests.shell.rig import QUICK, QuietKubernetes, begun, rig, settled, until

HAND_OVER_SECONDS = 10.0


class HangingKubernetes(QuietKubernetes):
    """Takes the first call; answers it when told to, and never by itself."""

    def __init__(self, *world: object) -> None:
        super().__init__(*world)  # type: ignore[arg-type]
        self.called, self.answer = asyncio.Event(), asyncio.Event()

    async def label(self, order: LabelNode) -> None:
        self.called.set()
        await self.answer.wait()
        await super().label(order)


@pytest.mark.parametrize("hangs", ["the call", "the journal"])
async def test_given_something_that_hangs_when_closed_then_it_ends_in_time(hangs: str) -> None:
    world = rig()
    world.kubernetes = kubernetes = HangingKubernetes(world.world)
    world.put(begun(QUICK))
    engine = Engine(world.around(), world.ownership)
    engine.nudge("r-1")
    await kubernetes.called.wait()
    if hangs == "the journal":
        world.store.trouble = away()
        kubernetes.answer.set()
    loop = asyncio.get_running_loop()
    began = loop.time()
    await engine.aclose()

    assert loop.time() - began < HAND_OVER_SECONDS
    assert world.store.stored["r-1"].run.intent is not None  # whoever comes next finds out by looking
    assert world.ownership.released == ["r-1"]


async def test_given_a_call_under_way_when_closed_then_it_comes_to_its_outcome_and_no_other_begins() -> None:
    world = rig()
    world.kubernetes = kubernetes = HangingKubernetes(world.world)
    world.put(begun(QUICK))
    engine = Engine(world.around(), world.ownership)
    engine.nudge("r-1")
    await kubernetes.called.wait()
    closing = asyncio.create_task(engine.aclose())
    await settled()
    kubernetes.answer.set()
    await closing
    await until(lambda: world.ownership.released, "the hand-over")

    assert world.world.journal == ["LabelNode(10.240.0.64 uid-w1)"]
    assert any(change.log.get("kind") == "accepted" for change in world.store.changes)
