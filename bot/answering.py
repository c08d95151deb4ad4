"""Answer people of a run beside its loop: who pressed or typed something that changed nothing learns why.

An answer is courtesy: one that cannot be given is logged, and nothing waits for it but the end of the loop, for a moment.
"""

import asyncio
from collections.abc import Callable

from structlog.typing import FilteringBoundLogger

from bot.ending import end
from bot.surroundings import Surroundings
from state.effects import Answer
from state.errors import GpuMigrateError
from state.events import TurnedAway
from state.reasons import Code, reason
from state.run import Run

FINISH_SECONDS = 2.0


class Answers:
    """Whispers answers of one run."""

    def __init__(self, around: Surroundings, run: Callable[[], Run], log: FilteringBoundLogger) -> None:
        self._around = around
        self._run = run
        self._log = log
        self._tasks: set[asyncio.Task[None]] = set()

    def give(self, effect: Answer) -> None:
        """Begin to answer."""
        task = asyncio.create_task(self._whisper(effect))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def aclose(self) -> None:
        """Let what is under way be said, for a moment."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=FINISH_SECONDS)
        await end(self._tasks)

    async def _whisper(self, effect: Answer) -> None:
        try:
            message = self._around.words.answer(effect.reason, self._run().cluster)
            await self._around.chat.whisper(effect.to.channel or self._run().channel, effect.to.user, message)
        except GpuMigrateError as error:
            self._log.warning("could not answer", reason=str(error.reason))
        except Exception:  # noqa: BLE001 (top of a task: it reports)
            self._log.exception("could not answer")


async def say_too_late(around: Surroundings, run: Run) -> None:
    """Tell those whose words were recorded, and never taken since the run ended first. Raises GpuMigrateError."""
    late = reason(Code.RUN_ENDED, run=run.id, cluster=run.cluster, phase=run.phase.value)
    for entry in await around.store.inbox(run.id):
        by = entry.event.by
        if not isinstance(entry.event, TurnedAway):
            await around.chat.whisper(by.channel or run.channel, by.user, around.words.answer(late, run.cluster))
