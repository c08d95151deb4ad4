"""Runs what the next tests will ask for while the present one waits, so that waiting costs its time only once."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")


class Ahead(Generic[T]):
    """Results by name; asking for one starts it and the `width` - 1 after it in order.

    Nothing else is started, so that several test processes that share the names do not all do everything.
    """

    def __init__(self, names: Sequence[str], make: Callable[[str], Awaitable[T]], width: int) -> None:
        self._names, self._make, self._width = list(names), make, width
        self._running: dict[str, asyncio.Task[T]] = {}

    async def get(self, name: str) -> T:
        """The result for `name`; raises what making it raised."""
        first = self._names.index(name)
        for other in self._names[first : first + self._width]:
            if other not in self._running:
                self._running[other] = asyncio.ensure_future(self._made(other))
        return await self._running[name]

    async def aclose(self) -> None:
        """Stop what nobody has waited for."""
        for task in self._running.values():
            task.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)

    async def _made(self, name: str) -> T:
        return await self._make(name)
