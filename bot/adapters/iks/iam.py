"""Bearer tokens of IBM Cloud IAM, asked for once by however many callers and renewed before they end.

Keys and tokens live in this process' memory only: no text of an error or a log line may hold one. Source: IAM's token
endpoint as IBM documents it for the containers API (grants: API key, trusted profile, compute resource).
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import aiohttp

from bot.adapters.iks.answers import Answer, complaint, lost, retry_after
from bot.adapters.iks.json_fields import text, whole
from state.errors import ConfigError, GpuMigrateError, PermanentError, TransientError
from state.reasons import Code, Reason, reason

GRANT = "urn:ibm:params:oauth:grant-type:"
RENEW_AT = 0.8
TIMEOUT = aiohttp.ClientTimeout(total=15, sock_connect=5)
UNTOLD_LIFE = 600.0  # seconds that a token is trusted for when IAM does not say

Form = Mapping[str, str]
Exchange = Callable[[Form], Awaitable[Mapping[str, Any]]]
Grant = Callable[[Exchange], Awaitable[Mapping[str, Any]]]


def api_key(key: Callable[[], str]) -> Grant:
    """Log in with an API key, read anew each time so that a rotated one is used."""

    async def log_in(exchange: Exchange) -> Mapping[str, Any]:
        return await exchange({"grant_type": f"{GRANT}apikey", "apikey": key()})

    return log_in


def trusted_profile(inner: Grant, profile_id: str) -> Grant:
    """Log in by `inner`, then become a trusted profile."""

    async def log_in(exchange: Exchange) -> Mapping[str, Any]:
        own = text(await inner(exchange), "access_token")
        return await exchange({"grant_type": f"{GRANT}assume", "access_token": own, "profile_id": profile_id})

    return log_in


def compute_resource(token: Callable[[], str], profile_id: str) -> Grant:
    """Log in as the pod we run in: `token` reads its projected service account token."""

    async def log_in(exchange: Exchange) -> Mapping[str, Any]:
        return await exchange({"grant_type": f"{GRANT}cr-token", "cr_token": token(), "profile_id": profile_id})

    return log_in


class IamTokens:
    """One identity's tokens.

    A token is renewed once 80 % of its life are over; while it is still valid a failing renewal is forgiven.
    Errors: PermanentError(IKS_LOGIN) when IAM says no, TransientError(IKS_UNREACHABLE) when it says nothing.
    """

    def __init__(self, session: aiohttp.ClientSession, url: str, grant: Grant) -> None:
        self._session = session
        self._url = f"{url.rstrip('/')}/identity/token"
        self._grant = grant
        self._token = ""
        self._renew_at = 0.0
        self._ends_at = 0.0
        self._pending: asyncio.Task[None] | None = None

    async def token(self) -> str:
        """A valid token."""
        now = time.monotonic()
        if self._token and now < self._renew_at:
            return self._token
        try:
            await self._renewed()
        except TransientError:
            if not self._token or now >= self._ends_at:
                raise
        return self._token

    def forget(self, token: str) -> None:
        """`token` was refused: the next caller gets another. Says nothing when it has been replaced already."""
        if token == self._token:
            self._token = ""

    async def _renewed(self) -> None:
        """Wait for the one renewal that is under way; start it when there is none."""
        if self._pending is None or self._pending.done():
            self._pending = asyncio.create_task(self._renew())
            self._pending.add_done_callback(_seen)
        await asyncio.shield(self._pending)

    async def _renew(self) -> None:
        began = time.monotonic()
        try:
            answer = await self._grant(self._exchange)
        except (OSError, ValueError, ConfigError) as error:  # a key's file that is gone or empty
            facts = {"code": "", "message": f"the credentials cannot be read ({type(error).__name__})"}
            raise PermanentError(Reason(Code.IKS_LOGIN, facts)) from error
        self._token = text(answer, "access_token")
        life = float(whole(answer, "expires_in")) or max(whole(answer, "expiration") - time.time(), 0.0) or UNTOLD_LIFE
        self._renew_at = began + life * RENEW_AT
        self._ends_at = began + life

    async def _exchange(self, form: Form) -> Mapping[str, Any]:
        try:
            async with self._session.post(self._url, data=form, timeout=TIMEOUT, allow_redirects=False) as response:
                answer = Answer(
                    response.status, await response.read(), False, response.content_type, "", response.headers
                )
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            detail = f"IAM: {type(error).__name__}"
            raise TransientError(reason(Code.IKS_UNREACHABLE, status=0, detail=detail)) from error
        body = answer.json()
        if answer.accepted and isinstance(body, Mapping) and text(body, "access_token"):
            return body
        raise _refusal(answer, form)


def _refusal(answer: Answer, form: Form) -> GpuMigrateError:
    said = complaint(answer)
    if answer.status == 429:
        why = reason(Code.IKS_UNREACHABLE, status=429, detail="IAM: too many requests")
        return TransientError(why, retry_after(answer.headers))
    if answer.is_html or answer.status < 400 or answer.status >= 500:
        return lost(answer, said)
    message = said.message
    for secret in (form.get(name, "") for name in ("apikey", "access_token", "cr_token")):
        message = message.replace(secret, "***") if secret else message
    return PermanentError(Reason(Code.IKS_LOGIN, {"code": said.code or str(answer.status), "message": message}))


def _seen(task: asyncio.Task[None]) -> None:
    """Callers may all have been cancelled; the outcome was theirs to hear, not the loop's to complain about."""
    if not task.cancelled():
        task.exception()
