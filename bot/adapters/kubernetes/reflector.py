"""Keep the records of one resource in step with the API server: list, watch, and doubt both.

A watch can fall silent, repeat itself, break in the middle of a line or be closed at once for ever. So every line has a
deadline, every list an age, every failure a pause, and all requests of a cluster one pace. Events only say that
something changed; what it means is decided elsewhere.
"""

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

import aiohttp

from bot.adapters.kubernetes.connection import Call, Connection
from bot.adapters.kubernetes.event_lines import event_lines
from bot.adapters.kubernetes.fields import Json, table, text
from bot.adapters.kubernetes.listing import BAD_OBJECT, Source, list_all
from bot.adapters.kubernetes.pace import Pace
from bot.adapters.kubernetes.records import Held, Records, hold
from bot.adapters.kubernetes.settings import Limits
from state.errors import GpuMigrateError, TransientError
from state.reasons import Reason

R = TypeVar("R")
FIRST_PAUSE = 0.5
SHORT_WATCH = 5.0


class End(StrEnum):
    """Why a watch ended."""

    CLOSED = "closed"  # by the server, or cut: go on from the last version
    SILENT = "silent"  # no whole line in time
    EXPIRED = "expired"  # 410 or any other error object: list again
    BROKEN = "broken"  # a line that is no event: list again


@dataclass(slots=True)
class Tally:
    """What a reflector has been through, for health and metrics."""

    lists: int = 0
    watches: int = 0
    events: int = 0
    skipped: int = 0
    failures: int = 0
    trouble: Reason | None = None


@dataclass(frozen=True, slots=True)
class Shared:
    """What the reflectors of one cluster have in common."""

    connection: Connection
    limits: Limits
    pace: Pace
    changed: Callable[[], None]


class Reflector(Generic[R]):
    """One resource of one cluster. `run` goes on until cancelled."""

    def __init__(self, source: Source[R], shared: Shared) -> None:
        self._source = source
        self._shared = shared
        self._records: Records[R] = Records()
        self._version = ""
        self._listed_at = float("-inf")
        self._heard_at = float("-inf")
        self._watching = False
        self.tally = Tally()

    @property
    def synced(self) -> bool:
        """A list was read and nothing has cast doubt on it since."""
        return bool(self._version)

    @property
    def age(self) -> float:
        """Seconds since the server last told us anything; infinite before the first list."""
        return time.monotonic() - self._heard_at

    @property
    def believable(self) -> bool:
        """Whether the records can stand for a list of this moment."""
        return self.synced and self._watching and self.age <= self._shared.limits.trust

    def values(self) -> tuple[R, ...]:
        return self._records.values()

    async def run(self) -> None:
        """List and watch for ever."""
        failures = 0
        while True:
            began, events, least = time.monotonic(), self.tally.events, 0.0
            try:
                await self._round()
                failed = time.monotonic() - began < SHORT_WATCH and self.tally.events == events
            except GpuMigrateError as exc:
                self.tally.trouble, failed = exc.reason, True
                least = exc.delay.total_seconds() if isinstance(exc, TransientError) and _told(exc) else 0.0
            failures = failures + 1 if failed else 0
            if failed:
                self.tally.failures += 1
                await asyncio.sleep(max(least, self._pause(failures)))

    def _pause(self, failures: int) -> float:
        pause: float = FIRST_PAUSE * 2.0 ** min(failures, 16)
        return min(self._shared.limits.longest_pause, pause) * random.uniform(0.5, 1)  # noqa: S311 (no secret)

    async def _round(self) -> None:
        """Watch once, listing first when there is nothing to begin from or the list is old."""
        limits = self._shared.limits
        left = limits.relist - (time.monotonic() - self._listed_at)
        if not self._version or left < limits.relist / 10:
            await self._list()
            left = limits.relist
        await self._shared.pace.slot()
        seconds = min(random.uniform(limits.watch_least, limits.watch_most), left)  # noqa: S311 (spreads load only)
        end = await self._watch(max(1, int(seconds)))
        if end in (End.EXPIRED, End.BROKEN):
            self._version = ""

    async def _list(self) -> None:
        pages = 0

        def count_page() -> None:
            nonlocal pages
            pages += 1

        await self._shared.pace.slot()
        source = Source(self._source.path, self._hold, self._source.query, self._source.accept)
        try:
            listing = await list_all(self._shared.connection, source, self._shared.limits, count_page)
        except GpuMigrateError:
            self._shared.pace.charge(pages - 1)
            raise
        self.tally.lists += 1
        self.tally.skipped += listing.skipped
        self.tally.trouble = None
        differs = self._records.replace(listing.records, listing.version)
        self._version = listing.version
        self._listed_at = self._heard_at = time.monotonic()
        if differs:
            self._shared.changed()

    def _hold(self, raw: Json) -> Held[R]:
        return hold(raw, self._source.project)

    async def _watch(self, seconds: int) -> End:
        query = {**self._source.query, "watch": "1", "allowWatchBookmarks": "true", "timeoutSeconds": str(seconds)}
        call = Call("GET", self._source.path, {**query, "resourceVersion": self._version})
        self.tally.watches += 1
        try:
            async with self._shared.connection.stream(call) as stream:
                self._watching, self.tally.trouble = True, None
                self._heard_at = time.monotonic()
                async with contextlib.aclosing(event_lines(stream, seconds, self._shared.limits)) as events:
                    return await self._follow(events)
        except TransientError as exc:
            if exc.reason.facts.get("status") == 410:
                return End.EXPIRED
            raise
        except TimeoutError:
            return End.SILENT
        except ValueError:
            return End.BROKEN
        except (aiohttp.ClientError, OSError):
            return End.CLOSED
        finally:
            self._watching = False

    async def _follow(self, events: AsyncIterator[Json]) -> End:
        async for event in events:
            self._heard_at = time.monotonic()
            kind, raw = text(event, "type"), table(event, "object")
            if kind == "ERROR":
                return End.EXPIRED
            if kind != "BOOKMARK":
                self._take(kind, raw)
            self._advance(raw)
        return End.CLOSED

    def _take(self, kind: str, raw: Json) -> None:
        """Apply one event; a bad object costs itself alone."""
        try:
            held = self._hold(raw)
        except BAD_OBJECT:
            self.tally.skipped += 1
            return
        self.tally.events += 1
        match kind:
            case "ADDED" | "MODIFIED":
                changed = self._records.put(held)
            case "DELETED":
                changed = self._records.remove(held)
            case _:
                self.tally.skipped += 1
                changed = False
        if changed:
            self._shared.changed()

    def _advance(self, raw: Json) -> None:
        """Remember where to go on; never backwards (events can be old)."""
        version = text(table(raw, "metadata"), "resourceVersion")
        if not version or (version.isdecimal() and self._version.isdecimal() and int(version) <= int(self._version)):
            return
        self._version = version


def _told(exc: TransientError) -> bool:
    """Whether the pause is the server's own wish."""
    return exc.reason.facts.get("status") == 429
