"""What the journal costs, beside the bare script in the same run: `python bench/store.py [SECONDS]`.

A real server on this machine's disk with every write on it before its answer. Bare is the same script through redis-py
with arguments made beforehand: no codec, no log entry, no deadline, no repetition. Both take turns in short rounds, so
that a busy machine slows both; the last column is what an idle one has to reach.
"""

import asyncio
import sys
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from redis.asyncio import BlockingConnectionPool, Redis, UnixDomainSocketConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from state import keys
from state.journal import Change, StoredRun
from state.reasons import Code, reason
from state.run import Run, StepKind, StepPhase, StepRun
from state.store import RedisStore
from state.store.form import SCHEMA, first_line, write_run
from state.store.script import script
from tests.stored import a_run, an_intent, opened
from tests.valkey import Valkey, running

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 0.3
ROUNDS = 9
WIDTHS = (1, 16, 64)
HEADS = 1000
LOG = {"event": "Observed", "actor": "", "before": "active", "after": "active", "note": "wait-worker[worker=kube-1]"}


def a_long_run(run_id: str) -> Run:
    """A run in the middle of its life: eight steps, one at work."""
    why = reason(Code.WAIT_WORKER, worker="kube-cabc12-default-0000002f", state="provisioning", message="Pending")
    steps = tuple(
        StepRun(
            key=f"replace-worker/w{place}",
            kind=StepKind.REPLACE_WORKER,
            phase=StepPhase.VERIFYING,
            worker_id=f"w{place}",
            pool_id="pool",
            node="10.0.0.4",
        )
        for place in range(8)
    )
    noted = (replace(steps[0], note=why, started_at=datetime.now(UTC)), *steps[1:])
    return replace(a_run(run_id, run_id), steps=noted, cluster_id="c" * 20, intent=an_intent("op"))


async def begin(store: RedisStore, run_id: str) -> StoredRun:
    await store.runs.create(replace(a_long_run(run_id), intent=None), run_id)
    stored = await store.ownership.take(run_id)
    assert stored is not None
    return stored


@dataclass
class Ours:
    """One transition after the other, as the engine makes them: a step's note changes, all else stays."""

    store: RedisStore
    stored: StoredRun
    ready: list[Run] = field(default_factory=list)

    def prepare(self, count: int) -> None:
        """Make the next runs beforehand: deciding is not the journal's cost."""
        self.ready = [self.decide(number) for number in range(count)]

    def decide(self, number: int) -> Run:
        run = self.stored.run
        note = reason(
            Code.WAIT_WORKER, worker="kube-cabc12-default-0000002f", state="provisioning", message=str(number)
        )
        return replace(run, steps=(replace(run.steps[0], note=note), *run.steps[1:]), ops=number)

    async def once(self) -> None:
        run = self.ready.pop() if self.ready else self.decide(self.stored.version)
        wake = datetime.now(UTC) + timedelta(seconds=20)
        self.stored = await self.store.runs.apply(Change(self.stored, run, uuid.uuid4().hex, LOG, wake))


@dataclass
class Bare:
    """The script alone."""

    client: Redis
    run_id: str
    fence: int
    text: str
    entry: str
    chain: str
    version: int = 0

    async def once(self) -> None:
        run_id, wanted = self.run_id, script("apply")
        touched = (
            keys.run(run_id),
            keys.log(run_id),
            keys.inbox(run_id),
            keys.DUE,
            keys.ACTIVE,
            keys.CLUSTERS,
            keys.ENDED,
        )
        place = (run_id, self.version, self.fence, uuid.uuid4().hex, self.text, SCHEMA, "active", "", "", "")
        answer: Any = await self.client.evalsha(
            wanted.sha, len(touched), *touched, *place, "20000", self.chain, self.entry, self.chain, ""
        )
        assert answer[0] == "OK", answer
        self.version += 1


async def rate(works: Sequence[Callable[[], Awaitable[None]]]) -> float:
    """Calls a second, each of `works` one after the other, all side by side."""
    end = time.perf_counter() + SECONDS
    done = 0

    async def go_on(work: Callable[[], Awaitable[None]]) -> None:
        nonlocal done
        while time.perf_counter() < end:
            await work()
            done += 1

    began = time.perf_counter()
    await asyncio.gather(*(go_on(work) for work in works))
    return done / (time.perf_counter() - began)


async def transitions(server: Valkey, store: RedisStore) -> None:
    plain: dict[str, Any] = {
        "protocol": 3,
        "decode_responses": True,
        "driver_info": None,
        "path": str(server.socket_path),
    }
    once = Retry(NoBackoff(), 0)
    client = Redis.from_pool(
        BlockingConnectionPool(max_connections=64, connection_class=UnixDomainSocketConnection, retry=once, **plain)
    )
    for width in WIDTHS:
        ours = [Ours(store, await begin(store, f"ours-{width}-{number}")) for number in range(width)]
        bare = []
        for number in range(width):
            stored = await begin(store, f"bare-{width}-{number}")
            line = first_line(stored.run, "e", "bench")
            chain = str(await client.hget(keys.run(stored.run.id), "chain"))
            bare.append(Bare(client, stored.run.id, stored.fence, write_run(stored.run), line.entry, chain))
        pairs = []
        for turn in range(ROUNDS):
            for one in ours:
                one.prepare(int(SECONDS * 15_000 / width))
            plain_calls, full_calls = [one.once for one in bare], [one.once for one in ours]
            if turn % 2:  # whoever is second may find the disk busier
                pairs.append((await rate(plain_calls), await rate(full_calls)))
            else:
                full = await rate(full_calls)
                pairs.append((await rate(plain_calls), full))
        raw, full = median(pair[0] for pair in pairs), median(pair[1] for pair in pairs)
        ratio = median(pair[1] / pair[0] for pair in pairs)
        show(
            f"transitions a second, {width:2} runs", f"{full:7.0f}", f"bare {raw:7.0f}", f"{ratio:5.2f} ×", ">= 0.80 ×"
        )
    await client.aclose()


async def leases(store: RedisStore) -> None:
    for number in range(500):
        await begin(store, f"leased-{number}")
    took = [await timed(store.ownership.renew) for _ in range(50)]
    raw = [await timed(store.ping) for _ in range(50)]
    show("lease of 500 runs renewed, ms", f"{median(took):7.2f}", f"ping {median(raw):7.2f}", "", "<= 2 ms")
    due = [await timed(store.ownership.due) for _ in range(20)]
    show("what is due of them, ms", f"{median(due):7.2f}", "", "", "")


async def heads(store: RedisStore) -> None:
    names = [f"head-{number}" for number in range(HEADS)]
    for name in names:
        await store.runs.create(a_run(name, name), name)
    fields = ("version", "fence", "phase", "cluster", "schema", "run")
    took = [await timed(lambda: store.runs.heads(names, fields)) for _ in range(5)]
    read = [await timed(lambda: store.runs.recent(HEADS)) for _ in range(5)]
    show(f"{HEADS} run heads loaded, ms", f"{median(took):7.0f}", "", "", "<= 200 ms")
    show(f"{HEADS} runs loaded and read, ms", f"{median(read):7.0f}", "", "", "")


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    """Milliseconds."""
    began = time.perf_counter()
    await work()
    return (time.perf_counter() - began) * 1000


def show(what: str, figure: str, beside: str, ratio: str, wanted: str) -> None:
    print(f"{what:36} {figure:>9}   {beside:14} {ratio:9} {wanted}", flush=True)


async def main(server: Valkey) -> None:
    async with opened(server.url, "bench") as store:
        await transitions(server, store)
        await leases(store)
        await heads(store)


if __name__ == "__main__":
    with running(folder=Path(tempfile.gettempdir())) as valkey:
        asyncio.run(main(valkey))
