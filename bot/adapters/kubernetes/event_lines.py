"""Split the bytes of a watch into events, with a deadline for each line."""

import asyncio
import json
from collections.abc import AsyncGenerator

import aiohttp

from bot.adapters.kubernetes.fields import Json
from bot.adapters.kubernetes.settings import Limits


async def event_lines(stream: aiohttp.StreamReader, seconds: float, limits: Limits) -> AsyncGenerator[Json]:
    """Split a watch into events. TimeoutError when no line was completed in time; ValueError for a line that is none.

    A rest without its end is dropped: the connection was cut, and its event comes again.
    """
    loop = asyncio.get_running_loop()
    rest = bytearray()
    while True:
        deadline = loop.time() + seconds + limits.idle_margin
        while b"\n" not in rest:
            async with asyncio.timeout_at(deadline):
                chunk = await stream.readany()
            if not chunk:
                return
            rest += chunk
            if len(rest) > limits.largest_line:
                raise ValueError("a line too long")
        *whole, tail = rest.split(b"\n")
        rest = tail
        for line in whole:
            if line.strip():
                yield _event(line)
        await asyncio.sleep(0)


def _event(line: bytes | bytearray) -> Json:
    try:
        event = json.loads(line)
    except RecursionError as exc:
        raise ValueError("a line nested too deeply") from exc
    if not isinstance(event, dict):
        raise ValueError("a line that is no event")  # noqa: TRY004 (bad data, not a bad call)
    return event
