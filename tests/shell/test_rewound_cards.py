"""An answer that a restored backup has forgotten: the question stands in Slack again, since the journal waits for it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.points import Points
from state.events import PauseRequested
from state.reasons import Code
from state.run import RunPhase
from tests.builders import one_worker
from tests.shell.ports import MemoryChat, World
from tests.shell.process import OPERATOR, eventually, people, start_process, track_tasks
from tests.valkey import Valkey, running


@pytest.fixture
def server() -> Iterator[Valkey]:
    with running() as one:
        yield one


def put_back(server: Valkey, backup: Path) -> None:
    server.kill()
    shutil.rmtree(server.folder)
    shutil.copytree(backup, server.folder)
    server.start()


async def test_given_a_forgotten_answer_when_the_journal_went_back_then_the_question_is_asked_again(
    server: Valkey, tmp_path: Path
) -> None:
    track_tasks()
    world, chat = World(one_worker()), MemoryChat()
    process = await start_process(server.url, "bot", world, chat, Points())
    async with people(server.url, world) as humans:
        run_id = await humans.start(process)
        await humans.submit(run_id, PauseRequested(world.now(), "pause", OPERATOR))
        planned = await humans.once(run_id, lambda run: run.phase is RunPhase.PLANNED and run.pause is not None)
        card = f"{run_id}/card:{planned.approvals[0].id}"
        await eventually(lambda: chat.texts.get(card, "").startswith("✋"), "the question is not asked")
        shutil.copytree(server.folder, tmp_path / "backup", ignore=shutil.ignore_patterns("*.sock"))
        await humans.approve(planned)
        await eventually(lambda: not chat.texts[card].startswith("✋"), "the answer is not shown")
    put_back(server, tmp_path / "backup")
    async with people(server.url, world) as humans:
        stopped = await humans.once(run_id, lambda run: Code.STORE_REWOUND in [n.reason.code for n in run.notes])
        await eventually(lambda: chat.texts[card].startswith("✋"), "the question is not asked again")
    await process.close()

    assert [approval.decision for approval in stopped.approvals] == [None]
    assert world.journal == []
