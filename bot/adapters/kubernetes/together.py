"""Wait for several calls at once; when one fails the others are stopped before its error goes on."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from bot.ending import end

T = TypeVar("T")


async def together(*calls: Coroutine[Any, Any, T]) -> tuple[T, ...]:
    tasks = [asyncio.ensure_future(call) for call in calls]
    try:
        return tuple(await asyncio.gather(*tasks))
    except BaseException:
        await end(tasks)
        raise
