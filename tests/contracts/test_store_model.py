"""Two owners, any interleaving: the scripts do what the model says, and the model keeps its laws.

Ten thousand schedules run on the model alone; a thousand on a real server too, a batch of runs side by side.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from state.store import RedisStore
from tests.contracts.journal_model import Wanted
from tests.contracts.journal_play import POSSIBLE, Move, play, replay
from tests.stored import opened
from tests.valkey import Valkey

BATCH = 25  # schedules per example: generating them is what takes the time


def batches(longest: int) -> st.SearchStrategy[list[list[Move]]]:
    """Schedules, one byte a move: much cheaper to generate than lists of choices."""
    one = st.binary(min_size=10, max_size=longest)
    return st.tuples(*[one] * BATCH).map(
        lambda all_of: [[POSSIBLE[byte % len(POSSIBLE)] for byte in raw] for raw in all_of]
    )


@settings(max_examples=10_000 // BATCH, deadline=None, suppress_health_check=list(HealthCheck))
@given(batches(40))
def test_given_ten_thousand_schedules_when_played_on_the_model_then_its_laws_hold(schedules: list[list[Move]]) -> None:
    for schedule in schedules:
        game = play(schedule)

        winners = [one for _, call, one, answer in game.script if call == "apply" and isinstance(answer, int)]
        assert len({one.op for one in winners if isinstance(one, Wanted)}) == game.model.version


@settings(
    max_examples=1000 // BATCH,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking over a socket would take minutes
)
@given(batches(25))
def test_given_a_thousand_schedules_when_played_on_a_server_then_it_answers_like_the_model(
    stage: "Stage", schedules: list[list[Move]]
) -> None:
    stage.valkey.say("FLUSHALL")
    games = [play(schedule) for schedule in schedules]

    stage.runner.run(replay(stage.store, games))


@dataclass(frozen=True)
class Stage:
    """One loop, one server and one connection for all examples."""

    runner: asyncio.Runner
    valkey: Valkey
    store: RedisStore


@pytest.fixture
def stage(valkey: Valkey) -> Iterator[Stage]:
    with asyncio.Runner() as runner:
        opening = opened(valkey.url, "stage")
        yield Stage(runner, valkey, runner.run(opening.__aenter__()))
        runner.run(opening.__aexit__(None, None, None))
