"""Make one call: within the limits, within its time, at most one repetition, and with our errors.

What is repeated: a call without a second effect (`Effect.NONE`) once, when the connection failed. A post is never
repeated here: it carries a key, and whoever posts looks for the key first.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError

from bot.adapters.slack.failures import LIMITED, NO_ACCESS, UNREADABLE, Effect, read, translate
from bot.adapters.slack.limiter import Limiter
from state.errors import GpuMigrateError, TransientError

Answer = Mapping[str, Any]
Call = Callable[[], Awaitable[Any]]
_FAILURES = (SlackApiError, aiohttp.ClientError, OSError, TimeoutError, *UNREADABLE)


class Calls:
    """All calls of the Web API go through here.

    Attributes:
        broken: Slack's word when it last refused our token or rights, "" when all is well; for readiness.
    """

    def __init__(self, limiter: Limiter, seconds: float) -> None:
        self._limiter = limiter
        self._seconds = seconds
        self.broken = ""

    async def make(
        self, method: str, call: Call, effect: Effect = Effect.NONE, channel: str = "", *, modest: bool = False
    ) -> Answer:
        """Raises TransientError, PermanentError and, for calls with a second effect, OutcomeUnknown.

        `modest`: gives way to other calls when there are many.
        """
        await self._limiter.admit(method, channel, modest=modest)
        try:
            return await self._once(method, call, effect, channel)
        except TransientError as error:
            if effect is not Effect.NONE or error.reason.text("error") in LIMITED:
                raise
        await self._limiter.admit(method, channel, modest=modest)
        return await self._once(method, call, effect, channel)

    async def _once(self, method: str, call: Call, effect: Effect, channel: str) -> Answer:
        try:
            async with asyncio.timeout(self._seconds):
                response = await call()
        except _FAILURES as error:
            raise self._failed(error, effect, method, channel) from error
        self.broken = ""
        return _body(response)

    def _failed(self, error: Exception, effect: Effect, method: str, channel: str) -> GpuMigrateError:
        translated = translate(error, effect)
        if isinstance(error, SlackApiError):
            refusal = read(error)
            if refusal.status == 429 or refusal.error in LIMITED:
                self._limiter.hold(method, channel, refusal.retry_after)
            self.broken = refusal.error if refusal.error in NO_ACCESS else self.broken
        return translated


def _body(response: Any) -> Answer:
    data = getattr(response, "data", response)
    return data if isinstance(data, Mapping) else {}
