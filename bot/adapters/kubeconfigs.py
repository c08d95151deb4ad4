"""Where kubeconfigs come from and how long each is used.

The source is a function, since only the IKS adapter knows how to fetch one; this module knows nothing of IKS and reads
no more of a kubeconfig than the life of its token. Contents stay in memory: never in a log, a message or `repr`.
"""

import asyncio
import base64
import binascii
import json
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

HOUR = timedelta(hours=1)
SHARE_OF_LIFE = 0.8
LONGEST_SPACING_SECONDS = 10.0
_JWT = re.compile(rb"eyJ[\w-]+\.(eyJ[\w-]+)\.[\w-]*")


@dataclass(frozen=True, slots=True)
class Kubeconfig:
    """One fetched kubeconfig. `expires_at`: when its token ends, None when nobody said so."""

    raw: bytes = field(repr=False)
    fetched_at: datetime
    expires_at: datetime | None = None


class KubeconfigCache:
    """The current kubeconfig of one cluster, fetched once however many ask.

    A fetch belongs to nobody: IKS can take longer than a caller may wait, and the next caller finds what the last one
    did not live to see. Age is measured by the monotonic clock from the moment of fetching, so that neither a wrong nor
    a jumping wall clock makes us use a dead token or fetch without end.

    Args:
        fetch: gets a fresh one; its errors (TransientError, PermanentError) pass through.
        life: taken when neither `expires_at` nor a token inside tells one.
    """

    def __init__(self, fetch: Callable[[], Awaitable[Kubeconfig]], life: timedelta = HOUR) -> None:
        self._fetch = fetch
        self._default_life = life
        self._fetching: asyncio.Task[Kubeconfig] | None = None
        self._current: Kubeconfig | None = None
        self._life = 0.0
        self._since = 0.0
        self._tried_at = float("-inf")
        self._doubted = False
        self._epoch = 0

    async def current(self) -> Kubeconfig:
        """Give one that is good for now.

        From 80 % of its life on, or in doubt, another one is fetched behind the callers' backs. While the old one
        lives, a failure of that is no failure: it is tried again a little later.
        """
        held = self._current
        if held is None or self._age() >= self._life:
            return await self._fresh()
        due = self._doubted or self._age() >= SHARE_OF_LIFE * self._life
        if due and self._now() - self._tried_at >= self._spacing():
            self._begin()
        return held

    async def renewed(self, rejected: Kubeconfig) -> Kubeconfig:
        """Give another than the one that the API server refused (401).

        Callers that were refused together share one fetch. One that was fetched just now is given back as it is: a
        server that refuses everything must not make us ask IKS without pause.
        """
        held = self._current
        if held is not None and (held is not rejected or self._age() < self._spacing()):
            return held
        return await self._fresh()

    def doubt(self) -> None:
        """Suspect that the server behind it has moved: the next use of it also fetches another."""
        self._doubted = True

    def forget(self) -> None:
        """Drop it: the server behind it changed (control-plane step). The next call fetches."""
        self._current = None
        self._epoch += 1

    async def _fresh(self) -> Kubeconfig:
        return await asyncio.shield(self._begin())

    def _begin(self) -> asyncio.Task[Kubeconfig]:
        """Start fetching, or join the fetch that is on its way."""
        if self._fetching is None or self._fetching.done():
            self._tried_at = self._now()
            self._fetching = asyncio.get_running_loop().create_task(self._renew())
            self._fetching.add_done_callback(_seen)
        return self._fetching

    async def _renew(self) -> Kubeconfig:
        epoch = self._epoch
        fresh = await self._fetch()
        if epoch != self._epoch:  # forgotten while it was on its way: it may describe the server of before
            fresh = await self._fetch()
        self._current = fresh
        self._since = self._now()
        self._life = self._life_of(fresh)
        self._doubted = False
        return fresh

    def _life_of(self, config: Kubeconfig) -> float:
        ends = config.expires_at or token_end(config.raw)
        if ends is None:
            return self._default_life.total_seconds()
        return max(0.0, (ends - config.fetched_at).total_seconds())

    def _spacing(self) -> float:
        """Seconds between two fetches nobody can have needed."""
        return max(1.0, min(LONGEST_SPACING_SECONDS, self._life / 10))

    def _age(self) -> float:
        return self._now() - self._since

    @staticmethod
    def _now() -> float:
        return time.monotonic()


def _seen(task: asyncio.Task[Kubeconfig]) -> None:
    """Take note of a failure that no caller waited for; the next use meets it again."""
    if not task.cancelled():
        task.exception()


def token_end(raw: bytes) -> datetime | None:
    """Read `exp` of a JSON web token inside a kubeconfig; None when there is none that can be read."""
    found = _JWT.search(raw)
    if found is None:
        return None
    try:
        claims = json.loads(base64.urlsafe_b64decode(found[1] + b"=" * (-len(found[1]) % 4)))
        return datetime.fromtimestamp(claims["exp"], UTC)
    except (binascii.Error, ValueError, KeyError, TypeError, OverflowError, OSError):
        return None
