"""Closing takes less than ten seconds, whatever hangs: a call that never answers, a journal that is away."""

import asyncio

import pytest

from bot.engine import Engine
from bot.ports import Place
from handlers.ports import Message
from state.events import Nudged
from state.orders import LabelNode
from state.run import RunPhase
from tests.builders import START, run
from tests.shell.journal import away
from tests.shell.ports import MemoryChat
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


async def test_given_a_free_run_beside_a_busy_one_when_closed_then_it_goes_at_once() -> None:
    world = rig()
    world.kubernetes = kubernetes = HangingKubernetes(world.world)
    world.put(begun(QUICK))
    world.put(run(id="r-2", phase=RunPhase.PLANNED))
    engine = Engine(world.around(), world.ownership)
    for run_id in world.store.stored:
        engine.nudge(run_id)
    await kubernetes.called.wait()
    closing = asyncio.create_task(engine.aclose())
    await until(lambda: world.ownership.released, "the free run's hand-over", 2.0)
    early = list(world.ownership.released)
    kubernetes.answer.set()
    await closing

    assert early == ["r-2"]
    assert sorted(set(world.ownership.released)) == ["r-1", "r-2"]


class SlowChat(MemoryChat):
    """Posts arrive; their answers take until the gate opens."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()

    async def post(self, channel: str, message: Message, *, key: str, thread: str = "") -> Place:
        place = await super().post(channel, message, key=key, thread=thread)
        await self.gate.wait()
        return place


async def test_given_a_message_on_its_way_when_closed_then_it_is_known_where_it_stands() -> None:
    world = rig()
    world.chat = chat = SlowChat()
    world.put(run(phase=RunPhase.PLANNED))
    engine = Engine(world.around(), world.ownership)
    engine.nudge("r-1")
    await until(lambda: chat.posts, "the first message")
    closing = asyncio.create_task(engine.aclose())
    await settled()
    chat.gate.set()
    await closing

    assert (await world.store.messages("r-1"))["progress"].ts == "1.000"
    assert world.ownership.released == ["r-1"]


async def test_given_events_without_pause_when_closed_then_the_run_goes_at_once_all_the_same() -> None:
    world = rig()
    world.put(run(phase=RunPhase.PLANNED))
    engine = Engine(world.around(), world.ownership)
    engine.nudge("r-1")
    await until(lambda: engine._keepers, "the keeper")
    keeper = engine._keepers["r-1"]

    async def press_on() -> None:
        while not keeper.parted:
            keeper._put(Nudged(START))
            await asyncio.sleep(0)

    pressing = asyncio.create_task(press_on())
    async with asyncio.timeout(2):
        await engine.aclose()
    await pressing

    assert world.ownership.released == ["r-1"]


async def test_given_a_call_decided_while_closing_when_closed_then_it_is_not_sent_and_stays_open_for_nobody() -> None:
    world = rig()
    world.put(begun(QUICK))
    world.store.gate.clear()
    engine = Engine(world.around(), world.ownership)
    engine.nudge("r-1")
    await until(lambda: world.store.gate._waiters, "the decision on its way into the journal")
    closing = asyncio.create_task(engine.aclose())
    await settled()
    world.store.gate.set()
    await closing

    assert world.world.journal == []
    assert world.store.stored["r-1"].run.intent is None
    assert [c.log["reason"] for c in world.store.changes if c.log.get("kind") == "withheld"] == ["handed-over[]"]
    assert world.ownership.released == ["r-1"]
