"""The loop of one run: saved before it acts, patient with its journal, gone when the run is somebody else's."""

import asyncio
import contextlib
import gc
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from bot.keeper import Keeper
from state.errors import RunConflict, TransientError
from state.events import Braked, PauseRequested, Person, Rewound
from state.journal import Brake
from state.orders import LabelNode, UpdateMaster, natural_key
from state.reasons import Code, reason
from state.run import Intent, Run, RunPhase
from state.snapshot import KubernetesView
from tests.builders import START, run
from tests.shell.journal import away
from tests.shell.rig import QUICK, SLOW, QuietKubernetes, Rig, begun, rig, settled, until

OPERATOR = Person("U0OPERATOR1", "T1", "C1")
PAUSE = PauseRequested(START, "t-1", OPERATOR)


@asynccontextmanager
async def keeping(world: Rig, kept: Run) -> AsyncIterator[tuple[Keeper, asyncio.Task[None]]]:
    """A keeper at work; it is ended afterwards."""
    keeper = Keeper(world.around(), world.put(kept))
    task = asyncio.create_task(keeper.keep())
    try:
        yield keeper, task
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError, RunConflict, TransientError):
            await task


async def ended(task: asyncio.Task[None]) -> None:
    async with asyncio.timeout(5):
        await task


async def test_given_an_order_when_it_is_decided_then_nothing_leaves_before_the_journal_has_it() -> None:
    world = rig()
    world.store.gate.clear()
    async with keeping(world, begun()):
        await until(lambda: world.world.looks, "a look")
        await settled()
        withheld = list(world.world.journal)
        world.store.gate.set()
        await until(lambda: world.world.journal, "the call")

    assert withheld == []
    assert world.store.changes[0].run.intent is not None
    assert isinstance(world.store.changes[0].run.intent.order, LabelNode)


def journal_errors(world: Rig) -> float:
    return world.metrics.registry.get_sample_value("gpu_migrate_journal_errors_total") or 0.0


async def test_given_the_journal_away_when_an_order_is_decided_then_it_waits_and_goes_on_later() -> None:
    world = rig()
    world.store.trouble = away()
    async with keeping(world, begun()) as (_, task):
        await until(lambda: journal_errors(world) >= 2, "two vain tries")
        withheld = list(world.world.journal)
        assert not task.done()
        world.store.trouble = None
        await until(lambda: world.world.journal, "the call")

    assert withheld == []


async def test_given_a_journal_that_lost_history_when_met_then_waiting_does_not_help_and_the_keeper_ends() -> None:
    world = rig()
    world.store.trouble = TransientError(reason(Code.STORE_REWOUND, run="r-1", known=5, found=3))
    async with keeping(world, begun()) as (_, task):
        with pytest.raises(TransientError) as caught:
            await ended(task)

    assert caught.value.reason.code is Code.STORE_REWOUND
    assert world.world.journal == []


async def test_given_the_lease_lost_when_a_call_is_due_then_none_is_made_and_the_keeper_ends() -> None:
    world = rig()
    world.ownership.mine = False
    async with keeping(world, begun()) as (_, task):
        await ended(task)

    assert world.world.journal == []


async def test_given_somebody_else_changed_the_run_when_stored_then_the_keeper_ends_with_the_conflict() -> None:
    world = rig()
    world.store.gate.clear()
    async with keeping(world, begun()) as (keeper, task):
        await until(lambda: world.world.looks, "a look")
        world.store.overtake(keeper.run.id)
        world.store.gate.set()
        with pytest.raises(RunConflict):
            await ended(task)

    assert world.world.journal == []


async def test_given_an_open_intent_when_taken_up_then_it_is_looked_for_and_never_called_again() -> None:
    order = UpdateMaster("c", "1.36.0")
    kept = replace(begun(), intent=Intent("r-1:op1", order, "update-master", START), ops=1)
    world = rig()
    async with keeping(world, kept):
        await until(lambda: world.store.changes, "a transition")
        await settled()

    first = world.store.changes[0]
    assert first.log["kind"] == "unknown"
    assert first.run.intent is not None
    assert first.run.intent.unknown
    assert natural_key(order) not in world.world.journal


async def test_given_alarms_when_nobody_says_anything_then_the_run_is_looked_at_again_and_again() -> None:
    world = rig()
    async with keeping(world, run(policy=replace(run().policy, durations=QUICK))):
        await until(lambda: world.world.looks >= 5, "looks by alarm")

    assert world.store.stored["r-1"].run.phase is RunPhase.PLANNED


class StormyKubernetes(QuietKubernetes):
    """Its watch has news a thousand times a second."""

    looks = 0

    async def look(self, *, fresh: bool = False) -> KubernetesView:
        self.looks += 1
        return await super().look(fresh=fresh)

    async def watch(self, changed: Callable[[], None]) -> None:
        while True:
            changed()
            await asyncio.sleep(0.001)


async def test_given_a_storm_of_watch_events_when_kept_then_there_is_at_most_one_look_a_second() -> None:
    world = rig()
    world.kubernetes = stormy = StormyKubernetes(world.world)
    async with keeping(world, run(policy=replace(run().policy, durations=SLOW))):
        await asyncio.sleep(2.5)  # what is counted is what happens within a time

    assert 2 <= stormy.looks <= 3


async def test_given_a_person_when_the_inbox_is_read_then_the_entry_goes_with_its_transition_and_is_answered() -> None:
    world = rig()
    async with keeping(world, begun()) as (keeper, _):
        await until(lambda: world.world.journal, "work")
        await world.store.submit("r-1", PAUSE)
        keeper.nudge()
        await until(lambda: keeper.run.pause, "the pause")

    assert await world.store.inbox("r-1") == ()
    taken = next(change for change in world.store.changes if change.taken)
    assert (taken.taken, taken.log["actor"]) == (("1-0",), "U0OPERATOR1")


async def test_given_the_brake_when_heard_twice_then_it_is_stored_once_and_lifted_again() -> None:
    world = rig()
    why = reason(Code.BRAKE, by="U1", detail="stop-all", at="now")
    async with keeping(world, run(phase=RunPhase.PLANNED)) as (keeper, _):
        keeper.brake(why)
        await until(lambda: keeper.run.brake == why, "the brake")
        keeper.brake(why)
        await settled()
        keeper.brake(None)
        await until(lambda: keeper.run.brake is None, "its lifting")

    assert [c.log["event"] for c in world.store.changes].count(Braked.__name__) == 2


async def test_given_the_brake_set_since_the_decision_when_called_then_the_call_is_withheld() -> None:
    world = rig()
    world.fleet.brake = Brake("U1", "stop-all", START)
    async with keeping(world, begun()):
        await until(lambda: any(c.log.get("kind") == "withheld" for c in world.store.changes), "the outcome")

    assert world.world.journal == []


async def test_given_another_version_in_the_journal_when_an_alarm_passes_then_the_run_is_given_up() -> None:
    world = rig()
    async with keeping(world, run(phase=RunPhase.PLANNED, policy=replace(run().policy, durations=QUICK))) as (k, task):
        await until(lambda: world.world.looks, "a look")
        world.store.overtake(k.run.id)
        await ended(task)


class BrokenKubernetes(QuietKubernetes):
    """Raises what no adapter may raise."""

    async def label(self, order: LabelNode) -> None:
        raise ZeroDivisionError(order.node)


async def test_given_a_bug_in_a_task_when_it_is_met_then_the_keeper_ends_for_the_run_to_be_picked_up() -> None:
    world = rig()
    world.kubernetes = BrokenKubernetes(world.world)
    async with keeping(world, begun()) as (_, task):
        await ended(task)

    assert world.store.stored["r-1"].run.intent is not None


async def test_given_what_is_known_already_when_it_begins_then_it_is_said_first() -> None:
    world = rig()
    keeper = Keeper(world.around(), world.put(begun()), (Rewound(START, 5, 3),))
    task = asyncio.create_task(keeper.keep())
    await until(lambda: world.store.changes, "a transition")
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task

    assert world.store.changes[0].log["event"] == "Rewound"


async def test_given_a_keeper_that_ends_at_once_when_gone_then_nothing_of_it_was_left_unawaited(
    recwarn: pytest.WarningsRecorder,
) -> None:
    world = rig()
    world.store.trouble = TransientError(reason(Code.STORE_REWOUND, run="r-1", known=5, found=3))
    keeper = Keeper(world.around(), world.put(begun()))
    with pytest.raises(TransientError):
        await keeper.keep()
    del keeper
    gc.collect()

    assert [str(warning.message) for warning in recwarn.list] == []
