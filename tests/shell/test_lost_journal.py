"""Redis emptied or put back in time in the middle of a run: stop, say so, and go on from what the cluster shows."""

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from bot.messages import Words
from bot.points import Place, Points
from state.errors import TransientError
from state.events import ResumeRequested
from state.reasons import Code
from state.run import Run, RunPhase
from tests.builders import one_worker
from tests.shell.ports import MemoryChat, Mood, World
from tests.shell.process import OPERATOR, eventually, people, start_process, track_tasks
from tests.valkey import Valkey, running

ONCE = ("UpdateMaster", "ReplaceWorker", "CreatePool", "RemovePool", "InstallChart")
EXPECTED = ["InstallChart", "UpdateMaster", "CreatePool", "ReplaceWorker", "RemovePool"]


class Emptied(Points):
    """Something happens to the journal when a call has been made, once; then the bot goes on."""

    def __init__(self, call: str) -> None:
        self._call = call
        self.reached = asyncio.Event()
        self.done = asyncio.Event()

    async def reach(self, place: Place, subject: str) -> None:
        if place is Place.CALLED and subject.startswith(self._call) and not self.reached.is_set():
            self.reached.set()
            await self.done.wait()


@pytest.fixture
def server() -> Iterator[Valkey]:
    with running() as one:
        yield one


def once_only(world: World) -> list[str]:
    return [line.partition("(")[0] for line in world.journal if line.startswith(ONCE)]


@pytest.mark.parametrize("mood", Mood)
async def test_given_an_emptied_store_when_the_last_call_was_out_then_a_new_start_finds_nothing_left_to_do(
    server: Valkey, mood: Mood
) -> None:
    track_tasks()
    world, chat, points = World(one_worker(), mood), MemoryChat(), Emptied("RemovePool")
    process = await start_process(server.url, "bot", world, chat, points)
    async with people(server.url, world) as humans:
        await humans.until(await humans.start(process), points.reached)
    server.say("FLUSHALL")
    points.done.set()
    async with people(server.url, world) as humans:
        run = await humans.once(await humans.start(process), lambda run: run.phase.ended)
    await process.close()

    assert (run.phase, run.ending and run.ending.code) == (RunPhase.DONE, Code.ALREADY_MIGRATED)
    assert once_only(world) == EXPECTED


@pytest.mark.parametrize("mood", Mood)
@pytest.mark.parametrize("call", ["LabelNode", "InstallChart", "UpdateMaster", "CreatePool", "ReplaceWorker"])
async def test_given_an_emptied_store_when_a_run_was_under_way_then_it_is_said_and_a_new_start_goes_on(
    server: Valkey, call: str, mood: Mood
) -> None:
    track_tasks()
    world, chat, points = World(one_worker(), mood), MemoryChat(), Emptied(call)
    process = await start_process(server.url, "bot", world, chat, points)
    async with people(server.url, world) as humans:
        lost = await humans.start(process)
        await humans.until(lost, points.reached)
    server.say("FLUSHALL")
    points.done.set()
    await eventually(lambda: f"{lost}/lost" in chat.posts, "nobody said that the record is lost")
    async with people(server.url, world) as humans:
        run_id = await humans.start(process)
        planned = await humans.once(run_id, lambda run: run.phase is RunPhase.PLANNED and not run.blockers)
        run = await humans.until(run_id, asyncio.Event())
    await process.close()

    assert Code.HALF_DONE in [why.code for why in planned.warnings]
    assert "start gpu-single" in chat.texts[f"{lost}/lost"]
    assert "Continue from here" in str(Words().card(planned, planned.approvals[-1]))
    assert run.phase is RunPhase.DONE
    assert once_only(world) == EXPECTED


async def test_given_an_emptied_store_while_a_question_is_open_then_it_is_said_by_itself(server: Valkey) -> None:
    track_tasks()
    world, chat = World(one_worker()), MemoryChat()
    process = await start_process(server.url, "bot", world, chat, Points())
    async with people(server.url, world) as humans:
        lost = await humans.start(process)
        await humans.once(lost, lambda run: run.phase is RunPhase.PLANNED)
        asked = await humans.once(lost, lambda run: bool(run.approvals))
        card = f"{lost}/card:{asked.approvals[0].id}"
        await eventually(lambda: card in chat.texts, "the question is not there")
    server.say("FLUSHALL")
    dead = (f"{lost}/lost", f"{lost}/progress", card)
    await eventually(
        lambda: all("gone from Redis" in chat.texts.get(key, "") for key in dead), "not everything says that it is lost"
    )
    await process.close()

    assert world.journal == []
    assert chat.posts.count(f"{lost}/lost") == 1


class Backup:
    """The server's files as they were once."""

    def __init__(self, server: Valkey, folder: Path) -> None:
        self._server = server
        self._copy = folder / "backup"

    def take(self) -> None:
        self._server.kill()
        shutil.copytree(self._server.folder, self._copy, ignore=shutil.ignore_patterns("*.sock"))
        self._server.start()

    def restore(self) -> None:
        self._server.kill()
        shutil.rmtree(self._server.folder)
        shutil.copytree(self._copy, self._server.folder)
        self._server.start()


def codes(run: Run) -> list[Code]:
    return [note.reason.code for note in run.notes]


@pytest.mark.parametrize("alive", [True, False], ids=["same process", "new process"])
async def test_given_an_old_backup_when_restored_then_the_run_stops_looks_says_so_and_goes_on_when_told(
    server: Valkey, tmp_path: Path, alive: bool
) -> None:
    """The replacement was ordered after the backup was made: it must not be ordered again."""
    track_tasks()
    world, chat, backup = World(one_worker()), MemoryChat(), Backup(server, tmp_path)
    points = Emptied("UpdateMaster")
    process = await start_process(server.url, "bot", world, chat, points)
    async with people(server.url, world) as humans:
        run_id = await humans.start(process)
        await humans.until(run_id, points.reached)
    backup.take()
    points.done.set()
    async with people(server.url, world) as humans:
        await humans.until_ordered(run_id, world, "ReplaceWorker")
    if not alive:
        await process.kill()
    backup.restore()
    if not alive:
        process = await start_process(server.url, "bot", world, chat, Points())
    async with people(server.url, world) as humans:
        stopped = await humans.once(run_id, lambda run: run.pause is not None)
        before = once_only(world)
        with suppress(TransientError):
            await humans.submit(run_id, ResumeRequested(world.now(), "resume", OPERATOR))
        run = await humans.until(run_id, asyncio.Event())
    await process.close()

    assert stopped.pause is not None
    assert stopped.pause.reason.code is Code.STORE_REWOUND
    assert codes(run).count(Code.STORE_REWOUND) == 1
    assert before == EXPECTED[:4]
    assert run.phase is RunPhase.DONE
    assert once_only(world) == EXPECTED
