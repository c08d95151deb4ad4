"""Keep answers for a moment, so that looks in quick succession ask the API server once."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Kept:
    value: Any
    at: float
    life: float


class Shelf:
    """Values by key, each with its own life in seconds.

    Args:
        dirty: longest age of a lively value once something moved (`moved`) after it was fetched.
    """

    def __init__(self, dirty: float) -> None:
        self._dirty = dirty
        self._kept: dict[str, _Kept] = {}
        self._moved_at = float("-inf")

    def moved(self) -> None:
        """Note that the cluster changed."""
        self._moved_at = time.monotonic()

    def clear(self, *, but: tuple[str, ...] = ()) -> None:
        self._kept = {key: kept for key, kept in self._kept.items() if key in but}

    async def take(self, key: str, fetch: Callable[[], Awaitable[T]], life: float | Callable[[T], float]) -> T:
        """Give the value that is there, else fetch it. `life` may depend on what was fetched."""
        now = time.monotonic()
        kept = self._kept.get(key)
        if kept is not None and now - kept.at < self._life(kept):
            value: T = kept.value
            return value
        fresh = await fetch()
        self._kept[key] = _Kept(fresh, now, life(fresh) if callable(life) else life)
        return fresh

    def age(self, key: str) -> float:
        kept = self._kept.get(key)
        return float("inf") if kept is None else time.monotonic() - kept.at

    def drop(self, key: str) -> None:
        self._kept.pop(key, None)

    def _life(self, kept: _Kept) -> float:
        return min(kept.life, self._dirty) if self._moved_at >= kept.at and kept.life <= LIVELY else kept.life


LIVELY = 10.0
