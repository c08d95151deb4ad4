"""Scripts on their way: sent at once while there is room, together while there is none.

One command costs a client more than it costs the server, and each write of the server waits for the disk. So calls that
queue up go out in one write and share one fsync. Each has its own answer; what a lost connection means is each caller's
matter. A lane keeps its connection while it is good: a failed one is given up, so that the next is made by name anew.
How long an exchange may take is bounded from outside, once for all of it: redis-py's own clocks, one for each read and
write, cost as much as the packing.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Protocol, cast

import hiredis
from redis.asyncio import Redis, RedisCluster
from redis.exceptions import NoScriptError, ReadOnlyError, ResponseError

from state.store.connect import Client
from state.store.script import Script

LANES = 24  # measured: fewer make client and server wait for each other, more save no writes
LONGEST = 16  # commands in one write; a cluster's client takes no scripts in a batch
BATCH_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Call:
    """A script with its keys and arguments."""

    script: Script
    keys: int
    sent: tuple[str | float, ...]


class _Lane(Protocol):
    longest: int

    async def send(self, calls: Sequence[Call]) -> list[Any]:
        """Answers or errors, one per call; raises when all failed together."""
        ...


@dataclass(frozen=True, slots=True)
class _Waiting:
    call: Call
    answer: asyncio.Future[list[Any]]


class Lanes:
    """Few ways to the server, and a queue before them."""

    def __init__(self, client: Client) -> None:
        self._idle: list[_Lane] = _lanes(client)
        self._waiting: deque[_Waiting] = deque()
        self._drains: set[asyncio.Task[None]] = set()

    async def run(self, call: Call) -> list[Any]:
        """Send a script and wait for its answer. Raises redis-py's errors."""
        if not self._idle:
            waiting = _Waiting(call, asyncio.get_running_loop().create_future())
            self._waiting.append(waiting)
            return await waiting.answer
        lane = self._idle.pop()
        try:
            (answer,) = await lane.send((call,))
        finally:
            self._hand_on(lane)
        if isinstance(answer, Exception):
            raise answer
        return cast("list[Any]", answer)

    def _hand_on(self, lane: _Lane) -> None:
        """Give the lane to those who wait, else let it rest."""
        while self._waiting and self._waiting[0].answer.done():
            self._waiting.popleft()  # gave up meanwhile
        if not self._waiting:
            self._idle.append(lane)
            return
        task = asyncio.create_task(self._drain(lane))
        self._drains.add(task)
        task.add_done_callback(self._drains.discard)

    async def _drain(self, lane: _Lane) -> None:
        batch = [self._waiting.popleft() for _ in range(min(lane.longest, len(self._waiting)))]
        answers: list[Any] = [ConnectionResetError("given up")] * len(batch)
        try:
            async with asyncio.timeout(BATCH_SECONDS):
                answers = await lane.send([waiting.call for waiting in batch])
        except Exception as exc:  # noqa: BLE001  # whatever it is, it is the callers'
            answers = [exc] * len(batch)
        finally:
            for waiting, answer in zip(batch, answers, strict=True):
                _tell(waiting.answer, answer)
            self._hand_on(lane)


def _lanes(client: Client) -> list[_Lane]:
    if isinstance(client, RedisCluster):
        return [_NodeLane(client) for _ in range(LANES)]
    return [_BatchLane(client) for _ in range(LANES)]


class _NodeLane:
    """One call at a time through a cluster's client."""

    longest = 1

    def __init__(self, client: RedisCluster) -> None:
        self._client = client

    async def send(self, calls: Sequence[Call]) -> list[Any]:
        (call,) = calls
        try:
            return [await self._client.evalsha(call.script.sha, call.keys, *call.sent)]
        except NoScriptError:
            return [await self._client.eval(call.script.text, call.keys, *call.sent)]


class _BatchLane:
    """Many calls at a time on a connection of its own, past redis-py's way for single commands (three times the cost)."""

    longest = LONGEST

    def __init__(self, client: Redis) -> None:
        self._pool: Any = client.connection_pool
        self._connection: Any = None
        self._patience: float | None = None  # of a connection while it is the pool's

    async def send(self, calls: Sequence[Call]) -> list[Any]:
        answers = await self._exchange([_packed("EVALSHA", one.script.sha, one) for one in calls])
        unknown = [place for place, answer in enumerate(answers) if isinstance(answer, NoScriptError)]
        if unknown:
            texts = [_packed("EVAL", calls[place].script.text, calls[place]) for place in unknown]
            for place, answer in zip(unknown, await self._exchange(texts), strict=True):
                answers[place] = answer
        return answers

    async def _exchange(self, commands: list[bytes]) -> list[Any]:
        if self._connection is None:
            self._connection = await self._pool.get_connection()
            self._patience, self._connection.socket_timeout = self._connection.socket_timeout, None
        try:
            await self._connection.send_packed_command(commands)
            answers = [await _read(self._connection) for _ in commands]
        except BaseException:
            await self._give_up()
            raise
        if any(isinstance(answer, ReadOnlyError) for answer in answers):
            await self._give_up()  # no primary any more: ask for its successor
        return answers

    async def _give_up(self) -> None:
        connection, self._connection = self._connection, None
        connection.socket_timeout = self._patience
        await connection.disconnect(nowait=True)
        await self._pool.release(connection)


async def _read(connection: Any) -> Any:
    try:
        return await connection.read_response(timeout=inf)
    except ResponseError as exc:
        return exc


def _packed(word: str, which: str, call: Call) -> bytes:
    pack: Any = hiredis.pack_command
    try:
        packed = pack((word, which, call.keys, *call.sent))
    except UnicodeEncodeError:  # text of people may hold what UTF-8 forbids
        sent = (one.encode("utf-8", "surrogatepass") if isinstance(one, str) else one for one in call.sent)
        packed = pack((word, which, call.keys, *sent))
    return cast("bytes", packed)


def _tell(waiting: asyncio.Future[list[Any]], answer: Any) -> None:
    if waiting.done():
        return
    if isinstance(answer, Exception):
        waiting.set_exception(answer)
    else:
        waiting.set_result(answer)
