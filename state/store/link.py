"""How anything is said to Redis: within a total deadline, repeated by us alone, and never half forgotten.

A script goes out under arguments that make a repeat harmless, so it is repeated until the deadline whatever went wrong.
When its caller is cancelled it is repeated to its end all the same, so that no outcome stays unknown unseen.
What a script means is not known here.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from secrets import randbelow
from typing import Any, TypeVar

from redis.asyncio import Redis, RedisCluster
from redis.exceptions import NoScriptError

from state.errors import GpuMigrateError, PermanentError
from state.store.connect import Client, Clients, direct
from state.store.lanes import Call, Lanes
from state.store.script import every_script, script
from state.store.trouble import BarrierShort, drops_connections, lacks_rights, telling, translate, troubles

T = TypeVar("T")
READ_SECONDS = 2.0
WRITE_SECONDS = 5.0
TRY_SECONDS = 3.0  # one attempt; a connection that answers nothing for so long is given up for a new one
_AT_ONCE = 32  # calls under way; the rest wait here instead of failing on a full pool
_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 0.5
_WAIT_MS = 1000


@dataclass(frozen=True, slots=True)
class Barrier:
    """Wait until this many replicas hold the write."""

    replicas: int


class Link:
    """The way to the store for all parts of it."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self._lanes = Lanes(clients.store)
        self._gate = asyncio.Semaphore(_AT_ONCE)
        self._flying: set[asyncio.Task[Any]] = set()
        self._troubles = troubles(clients.store)

    async def call(
        self,
        name: str,
        keys: Sequence[str],
        *args: str | float,
        within: float = WRITE_SECONDS,
        barrier: Barrier | None = None,
    ) -> list[Any]:
        """Run a script. Raises TransientError or PermanentError (STORE_…) past `within` seconds."""
        wanted = Call(script(name), len(keys), (*keys, *args))
        attempt = partial(self._lanes.run, wanted) if barrier is None else partial(self._and_wait, wanted, barrier)
        try:
            return await self._repeat(self._clients.store, attempt, within)
        except asyncio.CancelledError:
            self._finish(attempt, within)
            raise

    async def read(self, work: Callable[[Any], Awaitable[Any]], within: float = READ_SECONDS) -> Any:
        """Do something that changes nothing; repeated like a script. Replies are text (redis-py's types say less)."""
        return await self._repeat(self._clients.read, partial(self._gated, work), within)

    async def watch(self, work: Callable[[Any], Awaitable[Any]], seconds: float) -> Any:
        """Do one blocking read of at most `seconds`, on its own connections; not repeated."""
        try:
            async with asyncio.timeout(seconds + 2):
                return await work(self._clients.watch)
        except self._troubles as exc:
            raise translate(exc) from exc

    async def load_scripts(self) -> None:
        """Make the server know every script, so that calls can go out by digest."""
        for one in every_script():
            await self._repeat(self._clients.store, partial(_load, self._clients.store, one.text), WRITE_SECONDS)

    async def aclose(self) -> None:
        """Let what is under way land, then close the connections."""
        if self._flying:
            await asyncio.wait(self._flying, timeout=WRITE_SECONDS)
        for task in self._flying:
            task.cancel()
        await self._clients.aclose()

    async def _repeat(self, client: Client, attempt: Callable[[], Awaitable[T]], within: float) -> T:
        now = asyncio.get_running_loop().time
        deadline = now() + within
        pause = _FIRST_PAUSE
        trouble: GpuMigrateError | None = None
        while True:
            try:
                async with asyncio.timeout_at(min(deadline, now() + TRY_SECONDS)):
                    return await attempt()
            except self._troubles as exc:
                trouble = telling(trouble, exc)
                hopeless = isinstance(trouble, PermanentError) or lacks_rights(exc)
                if hopeless or now() + pause >= deadline:
                    raise trouble from exc
                if drops_connections(exc):
                    await _drop_idle(client)
            await asyncio.sleep(pause * (0.5 + randbelow(1000) / 1000))
            pause = min(pause * 2, _LONGEST_PAUSE)

    async def _gated(self, work: Callable[[Any], Awaitable[Any]]) -> Any:
        async with self._gate:
            return await work(self._clients.read)

    async def _and_wait(self, wanted: Call, barrier: Barrier) -> list[Any]:
        """A script and WAIT on one connection: WAIT counts from that connection's own last write."""
        store = self._clients.store
        if isinstance(store, RedisCluster):
            await store.exists(str(wanted.sent[0]))  # follows what moved, which a single connection does not
            node = store.get_node_from_key(str(wanted.sent[0])) or store.get_default_node()
            async with direct(self._clients.plan, str(node.host), int(node.port)) as one:
                return await _pair(one, wanted, barrier)
        async with self._gate:
            return await _pair(store, wanted, barrier)

    def _finish(self, attempt: Callable[[], Awaitable[Any]], within: float) -> None:
        """The caller went away: see to it that what it sent has an outcome."""
        task = asyncio.create_task(self._repeat(self._clients.store, attempt, within))
        self._flying.add(task)
        task.add_done_callback(self._landed)

    def _landed(self, task: asyncio.Task[Any]) -> None:
        self._flying.discard(task)
        if not task.cancelled():
            task.exception()  # nobody else will ask


async def _load(client: Any, text: str) -> None:
    await client.script_load(text)


async def _pair(client: Redis, wanted: Call, barrier: Barrier) -> list[Any]:
    command = (wanted.keys, *wanted.sent)
    try:
        answer, held = await _pipe(client, ("EVALSHA", wanted.script.sha, *command), barrier)
    except NoScriptError:
        answer, held = await _pipe(client, ("EVAL", wanted.script.text, *command), barrier)
    if held < barrier.replicas and answer[0] in ("OK", "DUP"):
        raise BarrierShort(f"{held} of {barrier.replicas} replicas hold the intent")
    return answer


async def _pipe(client: Redis, command: tuple[Any, ...], barrier: Barrier) -> tuple[list[Any], int]:
    async with client.pipeline(transaction=False) as pipe:
        pipe.execute_command(*command)
        pipe.execute_command("WAIT", barrier.replicas, _WAIT_MS)
        answer, held = await pipe.execute()
    return answer, int(held)


async def _drop_idle(client: Client) -> None:
    """Connect anew next time, by name: what the name stands for may have changed."""
    if isinstance(client, Redis):
        await client.connection_pool.disconnect(inuse_connections=False)
