"""Runs that ended while nobody could say so get their last word, from one process only."""

import pytest

from bot.engine import Engine
from state.errors import PermanentError
from state.reasons import Code, reason
from state.run import RunPhase
from tests.builders import START, run
from tests.shell.rig import Rig, rig


@pytest.fixture
def world() -> Rig:
    """A run that ended lately; its end was told by nobody."""
    made = rig()
    made.put(run(phase=RunPhase.DONE, ended_at=START, ending=reason(Code.MIGRATION_DONE, cluster="gpu-multi")))
    return made


async def test_given_runs_that_ended_lately_when_started_then_they_get_their_last_word(world: Rig) -> None:
    engine = Engine(world.around(), world.ownership)
    await engine.finish_telling()

    assert world.memory_chat.posts == ["r-1/progress"]
    assert world.ownership.released == ["r-1"]


async def test_given_a_last_word_that_stands_there_when_asked_again_then_the_run_is_let_alone(world: Rig) -> None:
    engine = Engine(world.around(), world.ownership)
    await engine.finish_telling()
    await engine.finish_telling()

    assert world.memory_chat.posts == ["r-1/progress"]
    assert world.ownership.taken == ["r-1"]


async def test_given_a_replica_that_has_ended_the_run_and_lives_when_another_starts_then_the_word_is_left_to_it(
    world: Rig,
) -> None:
    world.ownership.mine = False
    engine = Engine(world.around(), world.ownership)
    await engine.finish_telling()
    told = list(world.memory_chat.posts)
    world.ownership.mine = True  # the other one died before it could say so, and its lease is over
    await engine.finish_telling()

    assert told == []
    assert world.memory_chat.posts == ["r-1/progress"]


async def test_given_the_journal_away_when_started_then_the_last_word_waits(world: Rig) -> None:
    world.store.trouble = PermanentError(reason(Code.STORE_REFUSED, detail="no"))
    engine = Engine(world.around(), world.ownership)
    await engine.finish_telling()
    told = list(world.memory_chat.posts)
    world.store.trouble = None
    await engine.finish_telling()

    assert told == []
    assert world.memory_chat.posts == ["r-1/progress"]
