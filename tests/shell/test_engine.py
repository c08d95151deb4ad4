"""Which runs are kept here: found by the tick or a nudge, picked up again after a failure, handed over at the end."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from bot import engine as bot_engine
from bot.engine import Engine
from state.errors import TransientError
from state.events import PauseRequested, Person
from state.journal import Brake, StoredRun
from state.orders import LabelNode
from state.reasons import Code, reason
from state.run import RunPhase
from tests.builders import START, run
from tests.shell.journal import MemoryOwnership, away
from tests.shell.rig import QUICK, QuietKubernetes, Rig, begun, rig, settled, until

PAUSE = PauseRequested(START, "t-1", Person("U0OPERATOR1", "T1", "C1"))
REWOUND = TransientError(reason(Code.STORE_REWOUND, run="r-1", known=5, found=3))


@asynccontextmanager
async def running(world: Rig) -> AsyncIterator[Engine]:
    engine = Engine(world.around(), world.ownership)
    try:
        yield engine
    finally:
        async with asyncio.timeout(5):
            await engine.aclose()


def owned(world: Rig) -> float:
    return world.metrics.registry.get_sample_value("gpu_migrate_runs_owned") or 0.0


WAITING = run(phase=RunPhase.PLANNED)


async def test_given_runs_that_are_due_when_it_ticks_then_each_is_kept_once() -> None:
    world = rig()
    world.put(WAITING)
    world.ownership.ready = ["r-1"]
    async with running(world) as engine:
        for _ in range(5):
            await engine.tick()
            await settled()

        assert world.ownership.taken == ["r-1"]
        assert owned(world) == 1


async def test_given_a_nudge_when_nobody_keeps_the_run_then_it_is_taken_at_once() -> None:
    world = rig()
    world.put(WAITING)
    async with running(world) as engine:
        engine.nudge("r-1")
        await until(lambda: owned(world) == 1, "the keeper")


async def test_given_a_nudge_when_the_run_is_kept_then_its_inbox_is_read() -> None:
    world = rig()
    world.put(begun())
    async with running(world) as engine:
        engine.nudge("r-1")
        await until(lambda: world.world.journal, "work")
        await world.store.submit("r-1", PAUSE)
        engine.nudge("r-1")
        await until(lambda: world.store.stored["r-1"].run.pause, "the pause")


@pytest.mark.parametrize("why", ["unknown", "ended", "somebody else's"])
async def test_given_a_run_that_is_not_to_be_kept_when_nudged_then_nobody_keeps_it(why: str) -> None:
    world = rig()
    if why != "unknown":
        world.put(run(phase=RunPhase.DONE) if why == "ended" else WAITING)
    world.ownership.mine = why != "somebody else's"
    async with running(world) as engine:
        engine.nudge("r-1")
        await settled()

        assert owned(world) == 0
        assert world.world.looks == 0


class BrokenOnce(QuietKubernetes):
    """The first order meets a bug."""

    broken = False

    async def label(self, order: LabelNode) -> None:
        if not self.broken:
            self.broken = True
            raise ZeroDivisionError(order.node)
        await super().label(order)


async def test_given_a_keeper_that_failed_when_some_time_has_passed_then_the_run_is_picked_up_again() -> None:
    world = rig()
    world.kubernetes = BrokenOnce(world.world)
    world.put(begun(QUICK))
    world.ownership.ready = ["r-1"]
    async with running(world) as engine:
        await engine.tick()
        await until(lambda: world.store.changes and not owned(world), "the failure")
        async with asyncio.timeout(2 * bot_engine.REST_SECONDS):
            while not world.world.journal:
                await engine.tick()
                await asyncio.sleep(0.02)

    assert world.ownership.taken == ["r-1", "r-1"]


async def test_given_a_conflict_when_the_run_is_due_again_then_it_rests_before_it_is_taken_again() -> None:
    world = rig()
    world.store.gate.clear()
    world.put(begun())
    world.ownership.ready = ["r-1"]
    async with running(world) as engine:
        await engine.tick()
        await until(lambda: world.world.looks, "a look")
        world.store.overtake("r-1")
        world.store.gate.set()
        await until(lambda: not owned(world), "the end of the keeper")
        for _ in range(3):
            await engine.tick()
            await settled()

    assert world.ownership.taken == ["r-1"]


async def test_given_the_journal_away_when_it_ticks_then_it_says_so_and_lives_on() -> None:
    world = rig()
    world.put(WAITING)
    world.ownership.ready, world.ownership.trouble = ["r-1"], away()
    async with running(world) as engine:
        await engine.tick()
        world.ownership.trouble = None
        await engine.tick()
        await until(lambda: owned(world) == 1, "the keeper")

    assert world.metrics.registry.get_sample_value("gpu_migrate_journal_errors_total") == 1


async def test_given_the_brake_when_it_ticks_then_kept_runs_hear_of_it_and_the_number_shows_it() -> None:
    world = rig()
    world.put(WAITING)
    async with running(world) as engine:
        engine.nudge("r-1")
        await until(lambda: owned(world) == 1, "the keeper")
        world.fleet.brake = Brake("U1", "stop-all", START)
        await engine.tick()
        await until(lambda: world.store.stored["r-1"].run.brake, "the brake")
        shown = world.metrics.registry.get_sample_value("gpu_migrate_brake")
        world.fleet.brake = None
        await engine.tick()
        await until(lambda: world.store.stored["r-1"].run.brake is None, "its lifting")

    assert shown == 1
    assert world.metrics.registry.get_sample_value("gpu_migrate_brake") == 0


async def test_given_kept_runs_when_closed_then_all_are_handed_over_and_nothing_starts_any_more() -> None:
    world = rig()
    world.put(begun(QUICK))
    engine = Engine(world.around(), world.ownership)
    engine.nudge("r-1")
    await until(lambda: world.world.journal, "work")
    async with asyncio.timeout(5):
        await engine.aclose()
    stored = len(world.store.changes)
    engine.nudge("r-1")
    await settled()

    assert world.ownership.released == ["r-1"]
    assert (len(world.store.changes), owned(world)) == (stored, 0)


async def test_given_the_journal_away_when_closed_then_it_ends_all_the_same() -> None:
    world = rig()
    world.put(WAITING)
    engine = Engine(world.around(), world.ownership)
    engine.nudge("r-1")
    await until(lambda: owned(world) == 1, "the keeper")
    world.ownership.trouble = away()
    async with asyncio.timeout(5):
        await engine.aclose()


class Lost(MemoryOwnership):
    """The journal has forgotten the run: the second take says so, as the first keeper remembers more."""

    async def take(self, run_id: str) -> StoredRun | None:
        if self.taken:
            self.store.stored.pop(run_id, None)
            raise REWOUND
        return await super().take(run_id)


async def test_given_a_journal_without_the_run_when_noticed_then_its_channel_is_told_once() -> None:
    world = rig()
    world.ownership = Lost(world.store)
    world.put(WAITING)
    async with running(world) as engine:
        engine.nudge("r-1")
        await until(lambda: owned(world) == 1, "the keeper")
        await until(lambda: world.memory_chat.posts, "the first message")
        world.store.trouble = REWOUND
        engine.nudge("r-1")
        await until(lambda: "r-1/lost" in world.memory_chat.posts, "the word about it")

    assert world.store.accepted == ["r-1"]


async def test_given_a_rewound_journal_when_noticed_then_the_run_goes_on_from_it_and_says_so() -> None:
    world = rig()
    world.put(begun(QUICK))
    async with running(world) as engine:
        engine.nudge("r-1")
        await until(lambda: world.world.journal, "work")
        world.store.trouble = REWOUND
        engine.nudge("r-1")
        await until(lambda: not owned(world), "the end of the keeper")

        def said() -> bool:
            engine.nudge("r-1")  # in vain while the run rests
            return any(change.log["event"] == "Rewound" for change in world.store.changes)

        await until(said, "the word about it", bot_engine.REST_SECONDS + 5)
