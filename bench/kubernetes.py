"""What the Kubernetes adapter costs, beside the client's raw limit in the same run: `python bench/kubernetes.py [SCALE]`.

A stub server in a process of its own serves 5 000 pods of usual size and a watch with 20 000 events. Raw is aiohttp
and json alone, without deadlines, projection or bookkeeping. Ours and raw take turns, so that a busy machine slows both;
the last column is what an idle one has to reach.
"""

import asyncio
import contextlib
import json
import subprocess
import sys
import time
import tracemalloc
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench.kubernetes_stub import PATH, pod
from bot.adapters.kubeconfigs import Kubeconfig, KubeconfigCache
from bot.adapters.kubernetes.connection import Connection
from bot.adapters.kubernetes.gpus import GpuNames
from bot.adapters.kubernetes.listing import Source, list_all
from bot.adapters.kubernetes.pace import Pace
from bot.adapters.kubernetes.pods import SeenPod, project_pod
from bot.adapters.kubernetes.records import Records, hold
from bot.adapters.kubernetes.reflector import Reflector, Shared
from bot.adapters.kubernetes.settings import Limits

SCALE = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
PODS, EVENTS, ROUNDS = int(5_000 * SCALE), int(20_000 * SCALE), 3
STUB = str(Path(__file__).with_name("kubernetes_stub.py"))
NAMES = GpuNames()
LIMITS = Limits()
Json = dict[str, Any]


@contextlib.asynccontextmanager
async def stub_process() -> AsyncIterator[str]:
    """Start the stub in its own process and give its address."""
    process = await asyncio.create_subprocess_exec(sys.executable, STUB, str(PODS), str(EVENTS), stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        yield (await process.stdout.readline()).decode().strip()
    finally:
        process.terminate()
        await process.wait()


@dataclass
class Lag:
    """The longest time that the loop kept a task waiting, in seconds."""

    worst: float = 0.0

    @contextlib.asynccontextmanager
    async def measured(self) -> AsyncIterator[None]:
        async def tick() -> None:
            while True:
                began = time.perf_counter()
                await asyncio.sleep(0.001)
                self.worst = max(self.worst, time.perf_counter() - began - 0.001)

        ticking = asyncio.create_task(tick())
        try:
            yield
        finally:
            ticking.cancel()


async def raw_list(url: str) -> float:
    async with aiohttp.ClientSession() as session:
        began = time.perf_counter()
        async with session.get(url + PATH) as response:
            assert len(json.loads(await response.read())["items"]) == PODS
        return time.perf_counter() - began


async def raw_watch(url: str) -> float:
    async with aiohttp.ClientSession(read_bufsize=2**18) as session, session.get(f"{url}{PATH}?watch=1") as response:
        began, seen = time.perf_counter(), 0
        async for line in response.content:
            json.loads(line)
            seen += 1
            if seen == EVENTS:
                break
        return EVENTS / (time.perf_counter() - began)


@contextlib.asynccontextmanager
async def connected(url: str) -> AsyncIterator[Connection]:
    user: Json = {"clusters": [{"name": "c", "cluster": {"server": url}}], "users": [{"name": "u", "user": {}}]}
    user["contexts"] = [{"name": "x", "context": {"cluster": "c", "user": "u"}}]

    async def fetch() -> Kubeconfig:
        return Kubeconfig(json.dumps(user).encode(), datetime.now(UTC))

    connection = Connection(KubeconfigCache(fetch), LIMITS)
    try:
        yield connection
    finally:
        await connection.aclose()


def project(raw: Any) -> SeenPod:
    return project_pod(raw, NAMES)


async def our_list(url: str, lag: Lag) -> float:
    async with connected(url) as connection, lag.measured():
        began = time.perf_counter()
        listing = await list_all(connection, Source(PATH, lambda raw: hold(raw, project)), LIMITS)
        assert len(listing.records) == PODS
        return time.perf_counter() - began


@contextlib.asynccontextmanager
async def reflecting(url: str, query: Json, changed: Callable[[], None]) -> AsyncIterator[Reflector[SeenPod]]:
    async with connected(url) as connection:
        pace = Pace(LIMITS.pace, LIMITS.burst)
        reflector = Reflector(Source(PATH, project, query), Shared(connection, LIMITS, pace, changed))
        running = asyncio.create_task(reflector.run())
        try:
            yield reflector
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


async def our_watch(url: str, lag: Lag) -> float:
    """Time from the first event to the last, as the raw one does."""
    done, stamps = asyncio.Event(), list[float]()

    def changed() -> None:
        stamps.append(time.perf_counter())
        if len(stamps) > EVENTS:
            done.set()

    async with reflecting(url, {}, changed), lag.measured():
        await done.wait()
        return EVENTS / (stamps[-1] - stamps[0])


async def noticing(url: str) -> float:
    """Seconds from the server's commit to the nudge, on a healthy watch."""
    nudged: asyncio.Queue[float] = asyncio.Queue()
    async with reflecting(url, {"late": "1"}, lambda: nudged.put_nowait(time.time())) as reflector:
        await nudged.get()
        at = await nudged.get()
        return at - max(float(seen.pod.phase) for seen in reflector.values() if seen.pod.phase != "Running")


def bytes_per_pod() -> float:
    texts = [json.dumps(pod(number, number)) for number in range(PODS)]
    records: Records[SeenPod] = Records()
    tracemalloc.start()
    records.replace([hold(json.loads(text), project) for text in texts], "9999")
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return used / PODS


def line(what: str, ours: str, raw: str, wanted: str) -> None:
    print(f"{what:44} {ours:>16} {raw:>16}   {wanted}")


def milliseconds(lag: Lag) -> str:
    return f"{lag.worst * 1000:.0f} ms"


async def main() -> None:
    lag, watch_lag, idle_lag = Lag(), Lag(), Lag()
    lists, watches = list[tuple[float, float]](), list[tuple[float, float]]()
    async with stub_process() as url:
        for _ in range(ROUNDS):
            lists.append((await our_list(url, lag), await raw_list(url)))
            watches.append((await our_watch(url, watch_lag), await raw_watch(url)))
            async with idle_lag.measured():
                await asyncio.sleep(0.5)
        noticed = await noticing(url)
    our_seconds, raw_seconds = min(lists)
    our_rate, raw_rate = max(watches)
    line("", "ours", "raw", "wanted on an idle machine")
    line(f"list of {PODS} pods", f"{our_seconds:.2f} s", f"{raw_seconds:.2f} s", "0.6 s or less")
    line("  longest wait of the loop meanwhile", milliseconds(lag), f"{milliseconds(idle_lag)} idle", "50 ms or less")
    line("watch events a second", f"{our_rate:,.0f}", f"{raw_rate:,.0f}", "15,000 or more")
    line(
        "  longest wait of the loop meanwhile",
        milliseconds(watch_lag),
        f"{milliseconds(idle_lag)} idle",
        "50 ms or less",
    )
    line("commit to nudge", f"{noticed * 1000:.0f} ms", "", "1 s or less")
    line("memory per kept pod", f"{bytes_per_pod():,.0f} B", "", "2,048 B or less")


if __name__ == "__main__":
    asyncio.run(main())
