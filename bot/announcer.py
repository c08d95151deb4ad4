"""When to tell: what is new soon, not more often than Slack likes, again when it failed, and the last word for certain."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from structlog.typing import FilteringBoundLogger

from bot.telling import Teller
from state.errors import GpuMigrateError, TransientError
from state.run import Run

GAP_SECONDS = 2.5  # Slack allows some fifty rewrites a minute to all runs together
LONGEST_SECONDS = 60.0  # between vain tries: a channel that was archived stays so
LAST_WORD_SECONDS = 60.0
HUSH_SECONDS = 8.0
ANEW_SECONDS = 600.0  # an open question that somebody deleted comes back after that


class Announcer:
    """Tells what one run says; one telling at a time."""

    def __init__(self, teller: Teller, run: Callable[[], Run], log: FilteringBoundLogger) -> None:
        self._teller = teller
        self._run = run
        self._log = log
        self._due = asyncio.Event()
        self._due.set()  # after a start: whatever the last process did not get told
        self._anew = False
        self._one = asyncio.Lock()

    def wake(self, *, anew: bool = False) -> None:
        """There is something to tell. `anew`: open questions are written again, should one be missing."""
        self._anew = self._anew or anew
        self._due.set()

    async def keep_on(self) -> None:
        """Until cancelled."""
        pause = GAP_SECONDS
        while True:
            await self._something()
            error = await self._tell()
            if error is not None:
                self._due.set()
            pause = _pause(error, pause)
            await asyncio.sleep(pause)

    async def _something(self) -> None:
        """Until there is something to tell, or it is time to see that open questions are still there."""
        try:
            async with asyncio.timeout(ANEW_SECONDS):
                await self._due.wait()
        except TimeoutError:
            self._anew = True
        self._due.clear()

    async def hush(self) -> None:
        """Let a telling that is under way come to its end, for a moment, and begin no other: another process tells now."""
        with suppress(TimeoutError):
            async with asyncio.timeout(HUSH_SECONDS):
                await self._one.acquire()

    async def last_word(self) -> None:
        """The last state arrives, or at least a minute was spent on it; the next start tries again."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_WORD_SECONDS):
                while await self._tell() is not None:  # noqa: ASYNC110 (a bounded retry, no condition to wait for)
                    await asyncio.sleep(GAP_SECONDS)

    async def _tell(self) -> GpuMigrateError | None:
        """Why it was in vain, None when everything was told."""
        async with self._one:
            anew, self._anew = self._anew, False
            try:
                await self._teller.tell(self._run(), anew=anew)
            except GpuMigrateError as error:
                self._anew = self._anew or anew
                self._log.warning("could not tell", reason=str(error.reason))
                return error
        return None


def _pause(error: GpuMigrateError | None, last: float) -> float:
    """Seconds until the next telling: what passes by itself says when, what does not is tried less and less."""
    match error:
        case None:
            return GAP_SECONDS
        case TransientError(delay=delay):
            return min(max(delay.total_seconds(), GAP_SECONDS), LONGEST_SECONDS)
        case _:
            return min(last * 2, LONGEST_SECONDS)
