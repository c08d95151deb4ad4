"""Builders of what the journal takes: runs, transitions, events of people."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime

from state.events import PauseRequested, Person
from state.journal import Change, StoredRun
from state.orders import ReplaceWorker
from state.policy import Policy
from state.run import Goal, Intent, Run, RunPhase
from state.store import RedisStore, open_store

AT = datetime(2026, 12, 1, 12, 0, 0, 123456, tzinfo=UTC)


def a_run(run_id: str = "run-1", cluster: str = "gpu-1", phase: RunPhase = RunPhase.PLANNING) -> Run:
    return Run(run_id, cluster, Goal.MIGRATE, phase, Policy(), "U1", "C1", AT)


def an_intent(op: str, worker: str = "w1") -> Intent:
    return Intent(op, ReplaceWorker("c", worker, "p"), f"replace-worker/{worker}", AT)


def a_click(event_id: str) -> PauseRequested:
    return PauseRequested(AT, event_id, Person("U1", "T1", "C1"))


def change(stored: StoredRun, op: str, run: Run | None = None, **more: object) -> Change:
    """A transition of `stored` to `run` (default: one operation counted)."""
    log: Mapping[str, object] = {"event": "Nudged", "actor": "U1"}
    plain = Change(stored, run or replace(stored.run, ops=stored.run.ops + 1), op, log, None)
    return replace(plain, **more)  # type: ignore[arg-type]  # names are checked by replace itself


@asynccontextmanager
async def opened(url: str, replica: str = "bot-a", wait_replicas: int | None = None) -> AsyncIterator[RedisStore]:
    store = await open_store(url, replica=replica, wait_replicas=wait_replicas)
    try:
        yield store
    finally:
        await store.aclose()


async def begun(store: RedisStore, run_id: str = "run-1", cluster: str = "gpu-1") -> StoredRun:
    """A fresh run that this store's replica owns."""
    assert await store.runs.create(a_run(run_id, cluster), f"start-{run_id}") is None
    stored = await store.ownership.take(run_id)
    assert stored is not None
    return stored
