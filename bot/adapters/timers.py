"""Ticks by APScheduler, and the watchdog that notices when they stop.

Only ticks: each body says "look in the journal, do what is due", so that losing or doubling one is harmless. The durable
due times live in the journal. The job store is memory, rebuilt at start: a shared one doubles and loses jobs (B080, B081).
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import structlog
from apscheduler.jobstores.memory import MemoryJobStore
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.interval import IntervalTrigger

log = structlog.get_logger()

SILENCE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Tick:
    """`body` is called at once and every `seconds`; one that is still running is not called again meanwhile."""

    name: str
    seconds: float
    body: Callable[[], Awaitable[None]]


class Timers:
    """Runs ticks; `age()` tells how long ago the last one came."""

    def __init__(self, ticks: tuple[Tick, ...], silence_seconds: float = SILENCE_SECONDS) -> None:
        self._ticks = ticks
        self._silence = silence_seconds
        self._scheduler: AsyncIOScheduler | None = None
        self._last = 0.0
        self.rebuilt = 0

    def age(self) -> float:
        """Seconds since the last tick."""
        return asyncio.get_running_loop().time() - self._last

    async def keep(self) -> None:
        """Until cancelled: tick, and rebuild the scheduler when it has gone silent (APScheduler PR 1132's kind)."""
        self._build()
        try:
            while True:
                await asyncio.sleep(self._silence / 4)
                if self.age() > self._silence:
                    log.error("ticks have stopped: the scheduler is rebuilt", silent_seconds=round(self.age(), 1))
                    self.rebuilt += 1
                    self._shut()
                    self._build()
        finally:
            self._shut()

    def _build(self) -> None:
        scheduler = AsyncIOScheduler(
            jobstores={"default": MemoryJobStore()},
            timezone="UTC",
            job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1},
        )
        for tick in self._ticks:
            every = IntervalTrigger(seconds=tick.seconds)
            scheduler.add_job(self._run, every, args=(tick,), id=tick.name, next_run_time=datetime.now(UTC))
        scheduler.start()
        self._scheduler = scheduler
        self._last = asyncio.get_running_loop().time()

    async def _run(self, tick: Tick) -> None:
        self._last = asyncio.get_running_loop().time()
        try:
            await tick.body()
        except Exception:  # top of a task: it reports
            log.exception("tick failed", tick=tick.name)

    def _shut(self) -> None:
        if self._scheduler is not None:
            self._scheduler.shutdown(wait=False)
            self._scheduler = None
