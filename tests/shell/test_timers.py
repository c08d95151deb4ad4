"""Ticks: the first one at once, and all of them again when the scheduler has gone silent."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.adapters.timers import Tick, Timers
from bot.ending import end
from tests.shell.process import eventually

HOUR = 3600.0


class Count:
    """A tick's body. `stuck`: it does not end; `wrong`: it fails."""

    def __init__(self, *, stuck: bool = False, wrong: bool = False) -> None:
        self.times = 0
        self._stuck = stuck
        self._wrong = wrong

    async def __call__(self) -> None:
        self.times += 1
        if self._wrong:
            raise ValueError("as tests want it")
        if self._stuck:
            await asyncio.Event().wait()


@asynccontextmanager
async def running(timers: Timers) -> AsyncIterator[None]:
    keeping = asyncio.create_task(timers.keep())
    try:
        yield
    finally:
        await end((keeping,))


async def test_given_a_long_interval_when_started_then_the_first_tick_comes_at_once() -> None:
    count = Count()
    async with running(Timers((Tick("rare", HOUR, count),))):
        await eventually(lambda: count.times == 1, "no first tick", within=1.0)


async def test_given_ticks_that_stopped_when_it_was_silent_too_long_then_the_scheduler_is_rebuilt_and_ticks() -> None:
    count = Count()
    timers = Timers((Tick("rare", HOUR, count),), silence_seconds=0.2)
    async with running(timers):
        await eventually(lambda: count.times == 2, "no tick of the new scheduler", within=5.0)

        assert timers.rebuilt >= 1


async def test_given_a_body_that_fails_when_it_is_due_again_then_it_is_called_again() -> None:
    count = Count(wrong=True)
    async with running(Timers((Tick("often", 0.05, count),))):
        await eventually(lambda: count.times >= 3, "it was not called again")


async def test_given_a_body_that_never_ends_when_another_is_due_then_that_one_is_called() -> None:
    stuck, count = Count(stuck=True), Count()
    async with running(Timers((Tick("stuck", 0.05, stuck), Tick("often", 0.05, count)))):
        await eventually(lambda: count.times >= 3, "the other one waits")

        assert stuck.times == 1
