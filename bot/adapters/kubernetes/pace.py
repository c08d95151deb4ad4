"""Hold the reflectors of one cluster to one request a second, whatever the server does to them."""

import asyncio
import time


class Pace:
    """A bucket of `burst` tokens that gains one every `seconds`. Debt is allowed and is waited off."""

    def __init__(self, seconds: float, burst: int) -> None:
        self._seconds = seconds
        self._burst = float(burst)
        self._tokens = float(burst)
        self._at = time.monotonic()

    async def slot(self) -> None:
        """Wait until one more request may go."""
        self.charge(1)
        if self._tokens < 0:
            await asyncio.sleep(-self._tokens * self._seconds)

    def charge(self, requests: int) -> None:
        """Count requests that went without asking, such as the pages of a list that failed in the end."""
        now = time.monotonic()
        self._tokens = min(self._burst, self._tokens + (now - self._at) / self._seconds) - requests
        self._at = now
