"""End tasks for certain.

`asyncio.wait_for` of Python 3.11 loses a cancellation that arrives together with the result (cpython issue 86296), and
redis-py sends inside of it; a task that was asked once may go on for ever. To remove with Python 3.11.
"""

import asyncio
from collections.abc import Iterable
from typing import Any

ASK_AGAIN_SECONDS = 0.2


async def end(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel tasks until every one of them has ended; their errors are not raised."""
    wanted = tuple(tasks)
    left = {task for task in wanted if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=ASK_AGAIN_SECONDS)
    for task in wanted:
        if not task.cancelled():
            task.exception()  # seen, so that nobody complains that it was not
