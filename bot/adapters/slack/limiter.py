"""Stay below Slack's rate limits by ourselves, and keep away from a method for as long as Slack asked.

Slack counts per method, app and workspace, and posts per channel. Tiers: docs.slack.dev, "Rate limits"; the numbers here
stay a little below them, since "short bursts" are allowed without a formula. Real time, never scaled.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from state.errors import TransientError
from state.reasons import Code, reason


@dataclass(frozen=True, slots=True)
class Rate:
    """`burst` calls at once, then `per_minute` a minute."""

    burst: int
    per_minute: int


POSTS = Rate(5, 60)  # one a second and channel
TIER_3 = Rate(15, 45)
TIER_4 = Rate(30, 90)
RATES: Mapping[str, Rate] = {
    "chat.postMessage": POSTS,
    "chat.postEphemeral": TIER_4,
    "chat.update": TIER_3,
    "conversations.history": TIER_3,
    "conversations.replies": TIER_3,
    "conversations.info": TIER_3,
    "conversations.open": TIER_3,
}
PER_CHANNEL = frozenset({"chat.postMessage"})
PATIENCE = timedelta(seconds=10)
MODEST_PATIENCE = timedelta(seconds=2)
SPARED = 5  # calls that modest callers leave to the others


@dataclass(slots=True)
class _Bucket:
    """Calls left; below zero are the ones promised to waiters. `held_until`: Slack wants none before."""

    tokens: float
    at: float
    held_until: float = 0.0


class Limiter:
    """One per process.

    Attributes:
        patience: who would have to wait longer is sent away with TransientError and the delay.
    """

    def __init__(
        self,
        patience: timedelta = PATIENCE,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._patience = patience.total_seconds()
        self._clock = clock
        self._sleep = sleep
        self._buckets: dict[tuple[str, str], _Bucket] = {}

    async def admit(self, method: str, channel: str = "", *, modest: bool = False) -> None:
        """Return when the call may leave, first come first served. Raises TransientError when that is too far away.

        `modest`: what may as well come later (progress) leaves some calls to what may not: questions and news (B067).
        """
        rate = RATES.get(method)
        if rate is None:
            return
        bucket = self._bucket(method, channel, rate)
        wait = self._wait(bucket, rate, SPARED if modest else 0)
        if wait > (min(self._patience, MODEST_PATIENCE.total_seconds()) if modest else self._patience):
            raise TransientError(reason(Code.SLACK_UNREACHABLE, error="rate limit"), timedelta(seconds=wait))
        bucket.tokens -= 1
        if wait > 0:
            await self._sleep(wait)

    def hold(self, method: str, channel: str, delay: timedelta) -> None:
        """Let nothing of this method (and channel, where Slack counts by channel) pass before the delay is over."""
        rate = RATES.get(method)
        if rate is not None:
            bucket = self._bucket(method, channel, rate)
            bucket.held_until = max(bucket.held_until, self._clock() + delay.total_seconds())

    def _bucket(self, method: str, channel: str, rate: Rate) -> _Bucket:
        key = (method, channel if method in PER_CHANNEL else "")
        return self._buckets.setdefault(key, _Bucket(float(rate.burst), self._clock()))

    def _wait(self, bucket: _Bucket, rate: Rate, spared: int) -> float:
        """Seconds until one more call may leave and `spared` are left."""
        now, second = self._clock(), rate.per_minute / 60
        bucket.tokens = min(float(rate.burst), bucket.tokens + (now - bucket.at) * second)
        bucket.at = now
        missing = max(0.0, (1 + spared - bucket.tokens) / second)
        return max(missing, bucket.held_until - now)
