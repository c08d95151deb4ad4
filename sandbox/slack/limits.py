"""How often each method may be called: Slack's tiers as token buckets.

Slack publishes calls a minute and "short bursts" without a formula. Here a bucket holds one minute's calls and fills
evenly; posting is counted per channel, one a second, with ten in a burst. Never scaled by the world's speed.
Source: docs.slack.dev, "Rate limits"; tiers of each method: data/methods.json.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from sandbox.slack.method_facts import METHODS


@dataclass(frozen=True, slots=True)
class Rate:
    """`burst` calls at once, then `per_minute` a minute."""

    burst: int
    per_minute: int


#: Opening up to ten sockets at once, and again after a restart, is ordinary use of the only Tier 1 method.
TIERS = {
    "Tier1": Rate(20, 6),
    "Tier2": Rate(20, 20),
    "Tier3": Rate(50, 50),
    "Tier4": Rate(100, 100),
    "chat_postMessage": Rate(10, 60),
    "chat_getPermalink": Rate(600, 600),
    "auth_test": Rate(600, 600),
}
PER_CHANNEL = ("chat.postMessage",)
WORKSPACE = Rate(300, 300)


@dataclass(slots=True)
class Bucket:
    """Tokens left at a time."""

    rate: Rate
    tokens: float
    at: float

    def wait(self, now: float) -> float:
        """Take one token; 0.0 when there was one, else the seconds until there is."""
        second = self.rate.per_minute / 60
        self.tokens = min(float(self.rate.burst), self.tokens + (now - self.at) * second)
        self.at = now
        if self.tokens >= 1:
            self.tokens -= 1
            return 0.0
        return (1 - self.tokens) / second


class Limits:
    """All buckets of one app in one workspace. `enabled = False` lets everything pass."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.enabled = True
        self._clock = clock
        self._buckets: dict[tuple[str, str], Bucket] = {}

    def retry_after(self, method: str, channel: str) -> int:
        """Count one call; 0 when it may pass, else whole seconds for the Retry-After header."""
        facts = METHODS.get(method)
        if facts is None or not self.enabled:
            return 0
        if method not in PER_CHANNEL:
            return self._take(method, "", TIERS[facts.tier])
        return self._take(method, channel, TIERS[facts.tier]) or self._take(method, "*", WORKSPACE)

    def _take(self, method: str, channel: str, rate: Rate) -> int:
        now = self._clock()
        bucket = self._buckets.setdefault((method, channel), Bucket(rate, float(rate.burst), now))
        return math.ceil(bucket.wait(now))
