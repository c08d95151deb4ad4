"""The brake while a run is kept: nothing leaves, nothing spins, everybody hears of it once. And the audit of a whole run."""

import asyncio
from datetime import timedelta

from bot.audit import audit_json, audit_report
from bot.points import Place, Points
from state.braking import Limit
from state.events import Person, RetryRequested, TurnedAway
from state.orders import UpdateMaster
from state.reasons import Code, reason
from state.run import Run, RunPhase, StepPhase
from tests.builders import one_worker
from tests.shell.ports import MemoryChat, World
from tests.shell.process import OPERATOR, Process, eventually, people, start_process, track_tasks
from tests.valkey import Valkey


class Stop(Points):
    """Pulls the brake when a call has been made."""

    def __init__(self) -> None:
        self.process: Process | None = None

    async def reach(self, place: Place, subject: str) -> None:
        if place is Place.CALLED and subject.startswith("UpdateMaster") and self.process is not None:
            await self.process.store.set_brake("U0OPERATOR1", "stop-all")
            self.process = None


def told(run: Run, code: Code) -> int:
    return [note.reason.code for note in run.notes].count(code)


async def test_given_a_brake_in_the_middle_when_set_and_lifted_then_calls_stop_and_go_on(valkey: Valkey) -> None:
    track_tasks()
    world, chat, stop = World(one_worker()), MemoryChat(), Stop()
    process = await start_process(valkey.url, "bot", world, chat, stop)
    stop.process = process
    async with people(valkey.url, world) as humans:
        run_id = await humans.start(process)
        await humans.until_ordered(run_id, world, "UpdateMaster")
        await eventually(lambda: process.number("gpu_migrate_brake") == 1, "the gauge does not show the brake")
        braked = await humans.once(run_id, lambda run: run.brake is not None and _master_done(run))
        looks, calls = world.looks, list(world.journal)
        saved = process.saved()
        await eventually(lambda: world.looks > looks + 30, "it does not look any more")
        quiet, still = process.saved() - saved, list(world.journal)
        await process.store.lift_brake("U0OPERATOR1")
        run = await humans.until(run_id, asyncio.Event())
        said = f"{run_id}/note:brake:"
        await eventually(lambda: any(key.startswith(said) for key in chat.posts), "the channel did not hear of it")
    gauge = process.number("gpu_migrate_brake")
    await process.close()

    assert braked.brake is not None
    assert braked.brake.text("by") == "U0OPERATOR1"
    assert still == calls
    assert quiet <= 3
    assert gauge == 0
    assert run.phase is RunPhase.DONE
    assert sum(key.startswith(said) for key in chat.posts) == 1
    assert (told(run, Code.BRAKE), told(run, Code.BRAKE_LIFTED)) == (1, 1)


def _master_done(run: Run) -> bool:
    return any(s.key == "update-master" and s.phase is StepPhase.DONE for s in run.steps)


async def test_given_a_step_that_fails_when_that_is_too_many_then_the_bot_stops_everything_itself(
    valkey: Valkey,
) -> None:
    track_tasks()
    world, chat = World(one_worker()), MemoryChat()
    world.limit, world.refused = Limit(1, timedelta(days=3650)), (UpdateMaster,)  # the world has a time of its own
    process = await start_process(valkey.url, "bot", world, chat, Points())
    async with people(valkey.url, world) as humans:
        run_id = await humans.start(process)
        approving = asyncio.create_task(humans.until(run_id, asyncio.Event()))
        braked = await humans.once(run_id, lambda run: run.brake is not None)
        world.refused = ()
        await process.store.lift_brake("U0OPERATOR1")
        await humans.once(run_id, lambda run: run.brake is None)
        await humans.submit(run_id, RetryRequested(world.now(), "retry", OPERATOR))
        run = await approving
    await process.close()

    assert braked.brake is not None
    assert braked.brake.cause == reason(Code.RUNS_FAILED, clusters=("gpu-single",))
    assert run.phase is RunPhase.DONE
    assert told(run, Code.BRAKE) == 1


async def test_given_a_whole_run_when_audited_then_the_chain_is_whole_and_refusals_are_in_it(valkey: Valkey) -> None:
    track_tasks()
    world = World(one_worker())
    process = await start_process(valkey.url, "bot", world, MemoryChat(), Points())
    async with people(valkey.url, world) as humans:
        run_id = await humans.start(process)
        await humans.once(run_id, lambda run: run.phase is RunPhase.PLANNED)
        stranger = Person("U0ONLOOKER1", "T1", "C1")
        refusal = reason(Code.NOT_APPROVER, user=stranger.user)
        for number in range(2):
            event = TurnedAway(world.now(), f"click-{number}", stranger, "gm:approve", refusal, f"{run_id}:1", 1)
            await humans.submit(run_id, event)
        await humans.until(run_id, asyncio.Event())
    stored = await process.store.runs.load(run_id)
    rows = await process.store.runs.log(run_id, 10_000)
    await process.store.set_brake("U0OPERATOR1", "stop-all")
    fleet = await process.store.fleet.whole_log()
    await process.close()

    assert stored is not None
    assert "Whole: rows 0 to" in audit_report(rows, stored, fleet)
    assert "Whole: entries 0 to 0 of the fleet's log" in audit_report(rows, stored, fleet)
    text = audit_json(rows, stored, fleet)
    assert text.count('"result": "refused: not-approver[user=U0ONLOOKER1]"') == 2
    for order in world.journal:
        assert f'"order": "{order}"' in text
