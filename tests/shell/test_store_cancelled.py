"""Callers that go away at any moment, among others that stay: no answer is another's, no connection is lost.

redis-py issue 2624 is the origin: a cancelled command once left its answer to the next one on the same connection.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from state import keys
from state.journal import MessageRecord
from state.store import RedisStore
from tests.store_life import complete
from tests.stored import AT, a_click, an_intent, begun, change, opened
from tests.valkey import Valkey, running
from tests.valkey_cluster import clustered
from tests.valkey_sentinel import replicated

CANCELLED = 300
RUNS = 5


@pytest.fixture(scope="module", params=["one server", "a cluster"])
def place(request: pytest.FixtureRequest) -> Iterator[tuple[Valkey, str]]:
    """The server that holds our keys, and the store's URL."""
    if request.param == "a cluster":
        with clustered() as cluster:
            yield cluster.holder, cluster.url(cluster.other())
    else:
        with running() as server:
            yield server, server.url


async def _submit(store: RedisStore, number: int) -> bool:
    return await store.runs.submit(f"run-{number % RUNS}", a_click(f"c{number}"))


async def _message(store: RedisStore, number: int) -> bool:
    await store.runs.put_message(f"run-{number % RUNS}", f"m{number}", MessageRecord("C1", str(number), "d", AT))
    return True


async def _load(store: RedisStore, number: int) -> bool:
    stored = await store.runs.load(f"run-{number % RUNS}")
    return stored is not None and stored.run.id == f"run-{number % RUNS}"


async def _heads(store: RedisStore, number: int) -> bool:
    wanted = [f"run-{one % RUNS}" for one in range(number, number + 3)]
    found = await store.runs.heads(wanted, ("version", "phase"))
    return list(found) == wanted and all(head == ["0", "planning"] for head in found.values())


KINDS: tuple[Callable[[RedisStore, int], Coroutine[Any, Any, bool]], ...] = (_submit, _message, _load, _heads)


@asynccontextmanager
async def _steady(store: RedisStore) -> AsyncIterator[None]:
    """Others that ask all the while and must always get their own answers."""
    stop = asyncio.Event()

    async def ask(number: int) -> None:
        while not stop.is_set():
            assert await _load(store, number)
            assert await _heads(store, number)

    async with asyncio.TaskGroup() as group:
        for number in range(RUNS):
            group.create_task(ask(number))
        try:
            yield
        finally:
            stop.set()


async def test_given_load_when_callers_go_away_at_any_moment_then_the_rest_gets_its_own_answers_and_all_counts_once(
    place: tuple[Valkey, str],
) -> None:
    server, url = place
    chance = random.Random(2624)  # noqa: S311  # a moment, not a secret
    async with opened(url) as store:
        for number in range(RUNS):
            await begun(store, f"run-{number}", f"gpu-{number}")
        before = _clients(server)
        tasks: list[asyncio.Task[bool]] = []
        async with _steady(store):
            while sum(task.cancelled() for task in tasks) < CANCELLED:
                tasks += await _batch(store, len(tasks), chance)
        answers = await asyncio.gather(*(_load(store, number) for number in range(100)))
        connections = _clients(server)

    assert all(task.result() for task in tasks if not task.cancelled())
    assert all(answers)
    assert connections < before + 100  # 64 for scripts, 32 for reads
    await _everything_once(server, url, tasks)


async def _batch(store: RedisStore, first: int, chance: random.Random) -> list[asyncio.Task[bool]]:
    """Many calls, most of which are given up at some moment."""
    tasks: list[asyncio.Task[bool]] = []
    for number in range(first, first + 40):
        tasks.append(asyncio.create_task(_kind(number)(store, number)))
        await _turns(chance.randrange(12))
        if number % 5:
            tasks[-1].cancel()
    await asyncio.wait(tasks)
    return tasks


async def _turns(count: int) -> None:
    """Let the others go on by so many steps: a moment that no clock decides."""
    for _ in range(count):
        await asyncio.sleep(0)


def _kind(number: int) -> Callable[[RedisStore, int], Coroutine[Any, Any, bool]]:
    return KINDS[number % len(KINDS)]


def _clients(server: Valkey) -> int:
    return int(server.ask("INFO", "clients").partition("connected_clients:")[2].split()[0])


async def _everything_once(server: Valkey, url: str, tasks: list[asyncio.Task[bool]]) -> None:
    """What was answered is there; what began and was cancelled is there once or was never sent."""
    began = [number for number in range(len(tasks)) if _kind(number) is _submit]
    answered = [number for number in began if not tasks[number].cancelled()]
    async with opened(url, "bot-b") as store:
        found = [entry.event.id for run in range(RUNS) for entry in await store.runs.inbox(f"run-{run}")]
    distinct = sum(int(server.say("ZCARD", keys.seen(f"run-{run}")).removeprefix(":")) for run in range(RUNS))

    assert len(found) == len(set(found)) == distinct
    assert {f"c{number}" for number in answered} <= set(found) <= {f"c{number}" for number in began}


async def test_given_replicas_when_whoever_stores_an_intent_goes_away_then_it_counts_once_and_is_held_there() -> None:
    chance = random.Random(2624)  # noqa: S311  # a moment, not a secret
    with replicated() as (primary, replica):
        async with opened(f"redis://127.0.0.1:{primary.port}", wait_replicas=1) as store:
            stored = await begun(store)
            for number in range(60):
                intent = None if number % 2 else an_intent(f"op-{number}")
                wanted = change(stored, f"t{number}", replace(stored.run, intent=intent))
                task = asyncio.create_task(store.runs.apply(wanted))
                await _turns(chance.randrange(24))
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                stored = await store.runs.apply(wanted)

            await complete(store, "run-1", 60)
            assert _clients(primary) < 100
        assert replica.say("XLEN", keys.log("run-1")) == ":61"
