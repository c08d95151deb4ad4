"""Tasks are ended for certain, and what they died of bothers nobody."""

import asyncio
import gc
from contextlib import suppress
from typing import Any

from bot.adapters.kubernetes.together import together
from bot.ending import end


async def stubborn(times: list[int]) -> None:
    """Loses the first cancellations, as `wait_for` of Python 3.11 may."""
    while times[0]:
        with suppress(asyncio.CancelledError):
            times[0] -= 1
            await asyncio.Event().wait()
    await asyncio.Event().wait()


async def failing() -> None:
    raise ZeroDivisionError


async def test_given_a_task_that_loses_cancellations_when_ended_then_it_is_asked_again() -> None:
    task = asyncio.create_task(stubborn([3]))
    await asyncio.sleep(0)
    async with asyncio.timeout(5):
        await end((task,))

    assert task.cancelled()


async def test_given_tasks_that_failed_before_or_at_their_end_when_ended_then_nobody_complains() -> None:
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    tasks = [asyncio.create_task(failing()) for _ in range(2)]
    await asyncio.wait(tasks)
    await end(tasks)
    await end(iter(()))
    del tasks
    gc.collect()

    assert complaints == []


async def test_given_several_calls_when_one_fails_then_the_others_have_ended_before_its_error_goes_on() -> None:
    times = [2]
    with suppress(ZeroDivisionError):
        async with asyncio.timeout(5):
            await together(stubborn(times), _soon(failing))
    left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]

    assert times == [0]
    assert left == []


async def _soon(work: Any) -> None:
    await asyncio.sleep(0.01)
    await work()
