"""Two owners at once: who was stopped for longer than its lease makes no call, and two bots on two stores see each other."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.perform import NotOurs, give
from bot.points import Place, Points
from state.events import OutcomeKind
from state.orders import CordonNode, Order, ReplaceWorker, UpdateMaster
from state.reasons import Code
from state.run import Intent, RunPhase
from state.store import RedisStore
from tests.builders import CLUSTER, POOL, one_worker
from tests.shell.ports import MemoryChat, World
from tests.shell.process import Deadly, end_lease, eventually, hands_of, people, start_process, track_tasks
from tests.stored import begun, opened
from tests.valkey import Valkey, running


class Frozen(Points):
    """Stops at one place of one call until it is thawed; every other call goes on."""

    def __init__(self, place: Place, subject: str) -> None:
        self._at = (place, subject)
        self.reached = asyncio.Event()
        self.thawed = asyncio.Event()

    async def reach(self, place: Place, subject: str) -> None:
        if place is self._at[0] and subject.startswith(self._at[1]) and not self.thawed.is_set():
            self.reached.set()
            await self.thawed.wait()


@pytest.fixture
def two_stores() -> Iterator[tuple[Valkey, Valkey]]:
    with running() as one, running() as other:
        yield one, other


class TakenOver(Points):
    """While the call waits for its last look, the lease runs out and another replica takes the run."""

    def __init__(self, url: str, other: RedisStore) -> None:
        self._url = url
        self._other = other

    async def reach(self, place: Place, subject: str) -> None:
        if place is Place.MARKED and subject:
            await end_lease(self._url, "bot-a")
            assert await self._other.ownership.take("run-1") is not None


REPLACE = ReplaceWorker(CLUSTER, "w1", POOL)


@pytest.mark.parametrize(
    "order",
    [REPLACE, UpdateMaster(CLUSTER, "1.36.0"), CordonNode("10.240.0.64", "uid-w1", "w1")],
    ids=lambda order: type(order).__name__,
)
async def test_given_a_take_over_right_before_the_last_look_when_looking_then_no_call_leaves(
    valkey: Valkey, order: Order
) -> None:
    world = World(one_worker())
    async with opened(valkey.url, "bot-a") as mine, opened(valkey.url, "bot-b") as other:
        stored = await begun(mine)
        stored = replace(stored, run=replace(stored.run, policy=world.policy))
        hands = hands_of(mine, world, TakenOver(valkey.url, other))
        with pytest.raises(NotOurs):
            await give(hands, stored, Intent("run-1:op1", order, "step", world.now(), known_workers=("w1",)))

    assert world.journal == []


async def test_given_a_lease_that_cannot_be_renewed_when_looking_then_no_call_leaves() -> None:
    world = World(one_worker())
    with running() as server:
        async with opened(server.url, "bot-a") as mine:
            stored = await begun(mine)
            stored = replace(stored, run=replace(stored.run, policy=world.policy))
            server.kill()
            outcome = await give(hands_of(mine, world, Points()), stored, Intent("op", REPLACE, "step", world.now()))

    assert outcome.kind is OutcomeKind.WITHHELD
    assert world.journal == []


@pytest.mark.parametrize("call", ["UpdateMaster", "CreatePool", "ReplaceWorker", "RemovePool"])
async def test_given_an_owner_stopped_longer_than_its_lease_when_it_goes_on_then_it_makes_no_call(
    valkey: Valkey, call: str
) -> None:
    track_tasks()
    world, chat, ice = World(one_worker()), MemoryChat(), Frozen(Place.MARKED, call)
    async with people(valkey.url, world) as humans:
        first = await start_process(valkey.url, "bot-a", world, chat, ice)
        run_id = await humans.start(first)
        await humans.until(run_id, ice.reached)
        await end_lease(valkey.url, "bot-a")
        second = await start_process(valkey.url, "bot-b", world, chat, Points())
        run = await humans.until(run_id, asyncio.Event())
        ice.thawed.set()
        await eventually(lambda: first.number("gpu_migrate_runs_owned") == 0, "the old owner goes on")
        await first.kill()
        await second.close()

    made = [line for line in world.journal if line.startswith(call)]
    assert run.phase is RunPhase.DONE
    assert len(made) == 1


async def test_given_two_bots_on_two_stores_when_the_second_starts_then_it_is_blocked_while_the_first_works(
    two_stores: tuple[Valkey, Valkey],
) -> None:
    track_tasks()
    world, deadly = World(one_worker()), Deadly(Place.CALLED, ["LabelNode(10.240.0.64 uid-w1)"])
    # each look lets half a minute of this world pass, so the mark has to hold for many looks of both
    world.policy = replace(world.policy, durations=replace(world.policy.durations, stale=timedelta(hours=1)))
    one, other = two_stores
    async with people(one.url, world) as humans, people(other.url, world) as strangers:
        first = await start_process(one.url, "bot", world, MemoryChat(), deadly)
        await humans.until(await humans.start(first), deadly.hit)
        second = await start_process(other.url, "bot", world, MemoryChat(), Points())
        second_run = await strangers.start(second)
        blocked = await strangers.once(second_run, lambda run: bool(run.blockers))
        calls = list(world.journal)
        await first.kill()  # nobody renews the mark any more
        free = await strangers.once(second_run, lambda run: run.phase is RunPhase.PLANNED and not run.blockers)
        done = await strangers.until(second_run, asyncio.Event())
        await second.close()

    assert [why.code for why in blocked.blockers] == [Code.OTHER_RUN_IN_CLUSTER]
    assert calls == world.journal[: len(calls)]
    assert Code.HALF_DONE in [why.code for why in free.warnings]
    assert done.phase is RunPhase.DONE
    assert [line.partition("(")[0] for line in world.journal].count("InstallChart") == 1
