"""What many runs cost three replicas, and whether each keeps one owner: `python bench/fleet.py [RUNS] [TICK_SECONDS]`.

A real server on this machine's disk with every write on it before its answer. Three replicas in one process, each with
its own lease, bell and tick; they are killed and renewed in turn. Then `due`, which every replica asks at every tick, is
measured at a thousand runs, beside an empty script in the same run.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import structlog
from redis.asyncio import Redis

from state.store import open_store
from tests.shell.crowd import NAMES, Crowd, Lag
from tests.shell.process import track_tasks
from tests.stored import a_run
from tests.valkey import Valkey, running

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 500
TICK = float(sys.argv[2]) if len(sys.argv) > 2 else 0.1
MANY = 1000
CALLS = 200
WITHIN = 0.10


async def main() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    track_tasks()
    with tempfile.TemporaryDirectory() as folder:
        with running(folder=Path(folder)) as server:
            await shared(server)
        with running(folder=Path(folder)) as server:
            await asked(server)


async def shared(server: Valkey) -> None:
    """Begin, kill each replica twice, renew each once, and see that all is even."""
    crowd, lag = Crowd(server, RUNS, TICK), Lag()
    watching = asyncio.create_task(lag.watch())
    try:
        began = time.monotonic()
        await crowd.begin()
        await crowd.kept()
        print(f"{RUNS} runs begun and kept by {len(NAMES)} replicas   {time.monotonic() - began:6.1f} s")
        for name in NAMES * 2:
            await crowd.kill(name)
            print(f"{name} killed, all runs kept again          {await crowd.kept():6.1f} s   {crowd.shares()}")
        for name in NAMES:
            await crowd.renew(name)
            print(f"{name} renewed, shares even                 {await crowd.even():6.1f} s   {crowd.shares()}")
        owners = await crowd.owners()
        middle = RUNS / len(NAMES)
        worst = max(abs(count - middle) for count in owners.values()) / middle
        verdict = "ok" if worst <= WITHIN and sum(owners.values()) == RUNS else "NOT EVEN"
        print(
            f"each run has one owner; farthest from even {worst:5.1%} ({verdict}); {crowd.handed_over()} left in order"
        )
        late = (f"{name} {_ms(lag.at(share))}" for name, share in (("p50", 0.5), ("p99", 0.99), ("max", 1.0)))
        print("event loop of all three late by            ", *late)
    finally:
        watching.cancel()
        await crowd.aclose()


async def asked(server: Valkey) -> None:
    """Cost of one `due` while nothing is due, and with everything due."""
    store = await open_store(server.url, replica="bot-0")
    for number in range(MANY):
        await store.runs.create(a_run(f"run-{number}", f"gpu-{number}"), f"e-{number}")
        await store.ownership.take(f"run-{number}")
    async with Redis.from_url(server.url) as client:
        empty = await client.script_load("return 1")
        bare = await _each(lambda: client.evalsha(empty, 0))
        full = await _each(store.ownership.due)
        await client.delete("{gpu-migrate}:due")
        await client.config_resetstat()
        idle = await _each(store.ownership.due)
        stats = await client.info("commandstats")
    server_side = stats["cmdstat_evalsha"]["usec_per_call"] / 1000
    print(f"due at {MANY} runs, nothing due: {_ms(idle)}, {server_side:.2f} ms of it in the server")
    print(f"due at {MANY} runs, all due: {_ms(full)}; an empty script: {_ms(bare)}")
    print(f"three replicas, once a second: the server is busy {3 * server_side / 10:.2f} % of the time with it")
    await store.aclose()


async def _each(call: Callable[[], Awaitable[object]]) -> float:
    began = time.monotonic()
    for _ in range(CALLS):
        await call()
    return (time.monotonic() - began) / CALLS


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.2f} ms"


if __name__ == "__main__":
    asyncio.run(main())
