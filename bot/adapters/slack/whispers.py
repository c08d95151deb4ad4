"""Say something to one person in the background, so that a click is acknowledged at once."""

import asyncio
from collections.abc import Callable

from bot.ending import end
from bot.ports import Chat
from handlers.ports import Message
from state.errors import GpuMigrateError
from state.events import Person

MOST = 100  # waiting whispers; what is over it is dropped, it is only courtesy


class Whispers:
    """`handlers.edge.Whisper` over Chat. `failed` is told of what could not be said."""

    def __init__(self, chat: Chat, failed: Callable[[GpuMigrateError], None]) -> None:
        self._chat = chat
        self._failed = failed
        self._tasks: set[asyncio.Task[None]] = set()

    def __call__(self, to: Person, message: Message) -> None:
        if not to.user or len(self._tasks) >= MOST:
            return
        task = asyncio.create_task(self._say(to, message))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def aclose(self, seconds: float = 3.0) -> None:
        """Let what is under way be said, for a moment; then give up."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)
        await end(self._tasks)

    async def _say(self, to: Person, message: Message) -> None:
        try:
            await self._chat.whisper(to.channel, to.user, message)
        except GpuMigrateError as error:
            self._failed(error)
