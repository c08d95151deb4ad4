"""Scripts on their way: sent at once while there is room, together while there is none.

One command costs a client more than it costs the server. When calls queue up, those that wait go out in one write and
share one fsync. Each has its own answer; what a batch's lost connection means is each caller's matter.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from redis.asyncio import Redis, RedisCluster
from redis.exceptions import NoScriptError

from state.store.connect import Client
from state.store.script import Script

LANES = 3
LONGEST = 64  # commands in one write
BATCH_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Call:
    """A script with its keys and arguments."""

    script: Script
    keys: int
    sent: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _Waiting:
    call: Call
    answer: asyncio.Future[list[Any]]


class Lanes:
    """At most LANES batches are under way."""

    def __init__(self, client: Client) -> None:
        self._client = client
        # a cluster's client sorts commands by node itself and refuses scripts in a batch
        self._longest = 1 if isinstance(client, RedisCluster) else LONGEST
        self._lanes = LANES if isinstance(client, Redis) else LANES * 8
        self._busy = 0
        self._waiting: deque[_Waiting] = deque()
        self._drains: set[asyncio.Task[None]] = set()

    async def run(self, call: Call) -> list[Any]:
        """Send a script and wait for its answer. Raises redis-py's errors."""
        if self._busy < self._lanes:
            self._busy += 1
            try:
                return await _one(self._client, call)
            finally:
                self._free()
        waiting = _Waiting(call, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        return await waiting.answer

    def _free(self) -> None:
        """Give the lane to those who wait, else give it back."""
        while self._waiting and self._waiting[0].answer.done():
            self._waiting.popleft()  # gave up meanwhile
        if not self._waiting:
            self._busy -= 1
            return
        task = asyncio.create_task(self._drain())
        self._drains.add(task)
        task.add_done_callback(self._drains.discard)

    async def _drain(self) -> None:
        count = min(self._longest, len(self._waiting))
        batch = [self._waiting.popleft() for _ in range(count)]
        try:
            answers = await _many(self._client, [waiting.call for waiting in batch])
        except BaseException as exc:
            for waiting in batch:
                _fail(waiting.answer, exc)
            if not isinstance(exc, Exception):
                raise
        else:
            for waiting, answer in zip(batch, answers, strict=True):
                _tell(waiting.answer, answer)
        finally:
            self._free()


async def _one(client: Client, call: Call) -> list[Any]:
    try:
        return cast("list[Any]", await client.evalsha(call.script.sha, call.keys, *call.sent))
    except NoScriptError:
        return cast("list[Any]", await client.eval(call.script.text, call.keys, *call.sent))


async def _many(client: Client, calls: Sequence[Call]) -> list[Any]:
    """Answers or errors, one per call; raises when the batch as a whole failed."""
    if len(calls) == 1:
        return [await _one(client, calls[0])]
    async with asyncio.timeout(BATCH_SECONDS), client.pipeline(transaction=False) as pipe:
        for call in calls:
            pipe.execute_command("EVALSHA", call.script.sha, call.keys, *call.sent)
        answers: list[Any] = await pipe.execute(raise_on_error=False)
    for place, answer in enumerate(answers):
        if isinstance(answer, NoScriptError):
            answers[place] = await _one(client, calls[place])
    return answers


def _tell(waiting: asyncio.Future[list[Any]], answer: Any) -> None:
    if isinstance(answer, Exception):
        _fail(waiting, answer)
    elif not waiting.done():
        waiting.set_result(answer)


def _fail(waiting: asyncio.Future[list[Any]], exc: BaseException) -> None:
    if not waiting.done():
        waiting.set_exception(exc if isinstance(exc, Exception) else ConnectionResetError("given up"))
