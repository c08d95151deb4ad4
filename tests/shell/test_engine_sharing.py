"""Runs that are left to others: because they have fewer, or because only newer code can read them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from bot import engine as bot_engine
from bot.engine import Engine
from bot.ports import InboxEntry, Place
from handlers.ports import Message
from state.codec import Unreadable
from state.events import Approved, PauseRequested, Person
from state.orders import LabelNode
from state.run import RunPhase
from tests.builders import START, run
from tests.shell.journal import MemoryOwnership, MemoryStore, away
from tests.shell.ports import MemoryChat
from tests.shell.rig import QuietKubernetes, Rig, begun, rig, settled, until

WAITING = run(phase=RunPhase.PLANNED)
HEIR = "7 bot-b"


@asynccontextmanager
async def running(world: Rig) -> AsyncIterator[Engine]:
    engine = Engine(world.around(), world.ownership)
    try:
        yield engine
    finally:
        async with asyncio.timeout(15):
            await engine.aclose()


def number(world: Rig, name: str) -> float:
    return world.metrics.registry.get_sample_value(f"gpu_migrate_{name}") or 0.0


async def kept(world: Rig, engine: Engine, count: int = 1) -> None:
    for run_id in world.store.stored:
        engine.nudge(run_id)
    await until(lambda: number(world, "runs_owned") == count, "keepers")


async def leaving(world: Rig, engine: Engine) -> None:
    """Tick until a run was left."""
    async with asyncio.timeout(5):
        while not world.ownership.released:
            await engine.tick()
            await asyncio.sleep(0.005)


class Held(QuietKubernetes):
    """The first call does not come back before it may."""

    def __init__(self, world: Rig) -> None:
        super().__init__(world.world)
        self.gate = asyncio.Event()
        self.begun = asyncio.Event()

    async def label(self, order: LabelNode) -> None:
        self.begun.set()
        await self.gate.wait()
        await super().label(order)


async def test_given_a_poorer_replica_when_it_ticks_then_one_run_is_left_to_it_and_no_click_takes_it_back() -> None:
    world = rig()
    world.put(WAITING)
    world.put(replace(WAITING, id="r-2"))
    async with running(world) as engine:
        await kept(world, engine, 2)
        world.ownership.poor = HEIR
        await leaving(world, engine)
        world.ownership.poor = ""
        for _ in range(3):
            await engine.tick()
            engine.nudge("r-1")
            await settled()

        assert world.ownership.released == [f"r-1 to {HEIR}"]
        assert number(world, "runs_owned") == 1
        assert number(world, "runs_handed_over_total") == 1
        assert world.store.changes == []


async def test_given_a_call_under_way_when_a_poorer_replica_is_there_then_the_run_stays_until_its_outcome_is_stored() -> (
    None
):
    world = rig()
    world.kubernetes = held = Held(world)
    world.put(begun())
    async with running(world) as engine:
        await kept(world, engine)
        await asyncio.wait_for(held.begun.wait(), 5)
        world.ownership.poor = HEIR
        for _ in range(20):
            await engine.tick()
            await settled()
        during = list(world.ownership.released)
        held.gate.set()
        await leaving(world, engine)

        assert during == []
        assert [c.log["kind"] for c in world.store.changes if c.log["event"] == "Ordered"][:1] == ["accepted"]
        assert world.store.stored["r-1"].run.intent is None


async def test_given_a_free_run_beside_a_busy_one_when_one_shall_go_then_the_free_one() -> None:
    world = rig()
    world.kubernetes = held = Held(world)
    world.put(begun())
    world.put(replace(WAITING, id="r-2"))
    async with running(world) as engine:
        await kept(world, engine, 2)
        await asyncio.wait_for(held.begun.wait(), 5)
        world.ownership.poor = HEIR
        await leaving(world, engine)
        held.gate.set()

        assert world.ownership.released == [f"r-2 to {HEIR}"]


class SlowChat(MemoryChat):
    """Posts arrive; their answers take as long as the gate is closed, and so do whispers."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.whispering = asyncio.Event()

    async def whisper(self, channel: str, user: str, message: Message) -> None:
        self.whispering.set()
        await self.gate.wait()
        await super().whisper(channel, user, message)

    async def post(self, channel: str, message: Message, *, key: str, thread: str = "") -> Place:
        place = await super().post(channel, message, key=key, thread=thread)
        await self.gate.wait()
        return place


async def test_given_a_message_on_its_way_when_the_run_is_left_then_it_is_known_where_it_stands_before() -> None:
    world = rig()
    world.chat = chat = SlowChat()
    world.put(WAITING)
    async with running(world) as engine:
        await kept(world, engine)
        await until(lambda: chat.posts, "the first message")
        world.ownership.poor = HEIR
        for _ in range(5):
            await engine.tick()
            await settled()
        early = list(world.ownership.released)
        chat.gate.set()
        await leaving(world, engine)
        records = await world.store.messages("r-1")

        assert early == []
        assert records["progress"].ts == "1.000"


async def test_given_a_click_that_changes_nothing_when_the_run_is_left_then_the_person_is_still_answered() -> None:
    world = rig()
    world.chat = chat = SlowChat()
    world.put(WAITING)
    async with running(world) as engine:
        await kept(world, engine)
        await world.store.submit("r-1", Approved(START, "t-1", Person("U0ONLOOKER1", "T1", "C1"), "r-1:99", 1))
        engine.nudge("r-1")
        await asyncio.wait_for(chat.whispering.wait(), 5)
        world.ownership.poor = HEIR
        await engine.tick()
        chat.gate.set()
        await leaving(world, engine)

        assert [user for user, _ in chat.whispers] == ["U0ONLOOKER1"]


class Unreleased(MemoryOwnership):
    """The journal is away whenever a run shall be released."""

    tries = 0

    async def release(self, run_id: str, heir: str = "") -> None:  # noqa: ARG002 (the port's signature)
        self.tries += 1
        raise away()


async def test_given_the_journal_away_when_a_run_is_left_then_it_stays_ours_and_is_kept_again() -> None:
    world = rig()
    world.ownership = ownership = Unreleased(world.store)
    world.put(WAITING)
    async with running(world) as engine:
        await kept(world, engine)
        ownership.poor = HEIR
        async with asyncio.timeout(5):
            while not ownership.tries:
                await engine.tick()
                await asyncio.sleep(0.005)
        ownership.poor = ""
        await until(lambda: number(world, "runs_owned") == 0, "the end of the keeper")
        async with asyncio.timeout(2 * bot_engine.HANDED_SECONDS):
            while number(world, "runs_owned") == 0:
                await engine.tick()
                await asyncio.sleep(0.02)

        assert number(world, "runs_handed_over_total") == 0


async def test_given_we_close_when_a_poorer_replica_is_there_then_runs_are_left_to_anybody() -> None:
    world = rig()
    world.put(WAITING)
    async with running(world) as engine:
        await kept(world, engine)
        world.ownership.poor = HEIR
        await engine.aclose()
        await engine.tick()

    assert world.ownership.released[0] == "r-1"


class OfTomorrow(MemoryStore):
    """Holds a click of a kind that this version does not know, once it is told to."""

    newer = False

    async def inbox(self, run_id: str) -> tuple[InboxEntry, ...]:
        if self.newer:
            raise Unreadable("tag Teleported")
        return await super().inbox(run_id)


@pytest.mark.parametrize("when", ["at the start", "in the middle"])
async def test_given_a_click_of_a_newer_version_when_read_then_the_run_is_left_to_others_and_let_alone(
    when: str,
) -> None:
    world = rig()
    world.store = store = OfTomorrow()
    world.ownership.store = store
    world.put(WAITING)
    world.ownership.ready = ["r-1"]
    async with running(world) as engine:
        store.newer = when == "at the start"
        await engine.tick()
        await until(lambda: world.ownership.taken, "the keeper")
        store.newer = True
        for _ in range(20):
            await engine.tick()
            await settled()
        await until(lambda: world.ownership.passed, "the run passed by")
        await engine.tick()

        assert world.ownership.taken == ["r-1"]
        assert world.ownership.passed == ["r-1"]
        assert number(world, "runs_unreadable") == 1
        assert number(world, "runs_owned") == 0


async def test_given_a_keeper_that_failed_when_it_has_rested_then_the_run_is_kept_again_though_nothing_is_due() -> None:
    world = rig()
    world.put(WAITING)
    async with running(world) as engine:
        await kept(world, engine)
        world.store.overtake("r-1")
        await world.store.submit("r-1", PauseRequested(START, "t-1", Person("U0OPERATOR1", "T1", "C1")))
        engine.nudge("r-1")
        await until(lambda: number(world, "runs_owned") == 0, "the end of the keeper")
        async with asyncio.timeout(2 * bot_engine.REST_SECONDS):
            while world.store.stored["r-1"].run.pause is None:
                await engine.tick()
                await asyncio.sleep(0.02)

    assert world.ownership.taken == ["r-1", "r-1"]
