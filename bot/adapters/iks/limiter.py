"""Keep below IBM's limit of 200 requests in 10 seconds from one address, counted over all clusters of this process.

Source: "API rate limits" in IBM's limitations page. A slot is taken before a request leaves; nothing else enters here.
"""

import asyncio
import time
from collections import deque


class Limiter:
    """A sliding window. Those who wait are served in the order they came."""

    def __init__(self, requests: int = 200, seconds: float = 10.0) -> None:
        self._seconds = seconds
        self._taken: deque[float] = deque(maxlen=requests)
        self._line = asyncio.Lock()

    async def slot(self) -> None:
        """Return when one more request may leave."""
        async with self._line:
            await asyncio.sleep(self._wait())
            self._taken.append(time.monotonic())

    def _wait(self) -> float:
        if len(self._taken) != self._taken.maxlen:
            return 0.0
        return max(self._taken[0] + self._seconds - time.monotonic(), 0.0)
