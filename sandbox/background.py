"""Long-running parts of a pretend world as tasks that cannot fail in silence.

Nothing of a particular system belongs here.
"""

import asyncio
import sys
import traceback
from collections.abc import Coroutine
from typing import Any


class Background:
    """Tasks with one owner: a failure is printed and kept, the end cancels them all."""

    def __init__(self) -> None:
        self.failures: list[BaseException] = []
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """Run `work` until it ends or the world does."""
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    async def aclose(self) -> None:
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if task.cancelled() or (failure := task.exception()) is None:
            return
        self.failures.append(failure)
        print(f"sandbox: {task.get_name()} failed:", file=sys.stderr)
        traceback.print_exception(failure, file=sys.stderr)
