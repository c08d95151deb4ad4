"""One call to the IKS REST API: who we are, how long we wait, what the answer means.

Reads may be asked again by whoever wants to; orders leave at most once per call, on a connection of their own. The one
exception is a 401: the token was refused before anything was looked at, so the same call is made once more with a new
token. What an answer means is judged in `answers`; which call to make is decided elsewhere.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

import aiohttp
import structlog

from bot.adapters.iks.answers import Answer, failure, sentence
from bot.adapters.iks.connections import Network
from bot.adapters.iks.iam import Grant, IamTokens
from bot.adapters.iks.limiter import Limiter
from state.errors import OutcomeUnknown, TransientError
from state.reasons import Code, Reason, reason

READ = aiohttp.ClientTimeout(total=15, sock_connect=5)
WRITE_SECONDS = 30.0
LEAVE_SECONDS = 5.0  # an order's request has left by then, or it never leaves (the owner's lease is good for longer)
LOGGED = 2000

_log = structlog.get_logger(__name__)


class IksClient:
    """All calls of this process to IKS: one identity, one limit, two connection pools."""

    def __init__(self, base_url: str, iam_url: str, grant: Grant, network: Network) -> None:
        """Open the sessions; has to be called inside the loop. `base_url` ends in /global."""
        self._base_url = base_url.rstrip("/")
        self._reads = network.session()
        self._orders = network.session(fresh=True)
        self._limiter = Limiter(network.requests)
        self.tokens = IamTokens(self._reads, iam_url, grant)

    async def aclose(self) -> None:
        await self._reads.close()
        await self._orders.close()

    async def get(self, path: str, query: Mapping[str, str], resource_group: str = "") -> Any:
        """Decoded JSON of a GET. Raises TransientError or PermanentError."""
        answer = await self._read("GET", path, resource_group, params=query)
        return _decoded(answer)

    async def fetch(self, path: str, query: Mapping[str, str], resource_group: str = "") -> bytes:
        """Body of a GET as it is."""
        return (await self._read("GET", path, resource_group, params=query)).body

    async def ask(self, path: str, body: Mapping[str, Any], resource_group: str = "") -> bytes:
        """Body of a POST that changes nothing that matters (a kubeconfig). Raises as `get` does."""
        return (await self._read("POST", path, resource_group, json=body)).body

    async def order(self, path: str, body: Mapping[str, Any], resource_group: str = "") -> Any:
        """Make a mutating call; its decoded body, None when there is none.

        Raises PermanentError or TransientError when nothing happened, OutcomeUnknown when it may have.
        """
        subject = str(body.get("cluster", ""))
        for last in (False, True):
            token = await self._leave()
            answer = await self._post(path, body, self._headers(token, resource_group), subject)
            if answer.status != 401 or answer.is_html:
                break
            self.tokens.forget(token)
            if last:
                break
        _log.info("iks reply", call=path, status=answer.status, body=_shown(answer), cluster=subject)
        if not answer.accepted:
            raise failure(answer)
        return answer.json()

    async def _leave(self) -> str:
        """Everything before the request: a token and a slot, in time for the lease."""
        try:
            async with asyncio.timeout(LEAVE_SECONDS):
                token = await self.tokens.token()
                await self._limiter.slot()
                return token
        except TimeoutError as error:
            raise TransientError(reason(Code.IKS_UNREACHABLE, status=0, detail="not sent: no turn in time")) from error

    async def _post(self, path: str, body: Mapping[str, Any], headers: Mapping[str, str], subject: str) -> Answer:
        limits = aiohttp.ClientTimeout(total=WRITE_SECONDS, sock_connect=5, connect=LEAVE_SECONDS)
        call = self._orders.post(
            f"{self._base_url}{path}", json=body, headers=headers, timeout=limits, allow_redirects=False
        )
        try:
            async with call as response:
                return Answer(
                    response.status, await response.read(), True, response.content_type, subject, response.headers
                )
        except (aiohttp.ClientConnectorError, aiohttp.ClientHttpProxyError, aiohttp.ConnectionTimeoutError) as error:
            raise TransientError(_unreachable(error)) from error
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise OutcomeUnknown(_unreachable(error)) from error

    async def _read(self, method: str, path: str, resource_group: str, **content: Any) -> Answer:
        answer = await self._once(method, path, resource_group, content)
        if answer.status == 401 and not answer.is_html:
            answer = await self._once(method, path, resource_group, content)
        if not answer.accepted:
            raise failure(answer)
        return answer

    async def _once(self, method: str, path: str, resource_group: str, content: Mapping[str, Any]) -> Answer:
        token = await self.tokens.token()
        await self._limiter.slot()
        headers = self._headers(token, resource_group)
        call = self._reads.request(
            method, f"{self._base_url}{path}", headers=headers, timeout=READ, allow_redirects=False, **content
        )
        about = content.get("params") or content.get("json") or {}
        try:
            async with call as response:
                answer = Answer(
                    response.status,
                    await response.read(),
                    False,
                    response.content_type,
                    str(about.get("cluster", "")),
                    response.headers,
                )
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise TransientError(_unreachable(error)) from error
        if answer.status == 401:
            self.tokens.forget(token)
        return answer

    def _headers(self, token: str, resource_group: str) -> dict[str, str]:
        headers = {"Authorization": f"Bearer {token}"}
        return {**headers, "X-Auth-Resource-Group": resource_group} if resource_group else headers


def _decoded(answer: Answer) -> Any:
    """JSON of an accepted read. Nothing at all is no answer either: an empty list is spelled `[]` or `null`."""
    body = answer.json()
    if body is None and answer.body.strip() != b"null":
        detail = "the answer is no JSON"
        raise TransientError(reason(Code.IKS_UNREACHABLE, status=answer.status, detail=detail))
    return body


def _unreachable(error: Exception) -> Reason:
    detail = f"{type(error).__name__} {sentence(str(error))}".strip()
    return reason(Code.IKS_UNREACHABLE, status=0, detail=detail)


def _shown(answer: Answer) -> str:
    """The reply for the log: nobody has seen the real ones yet. Replies to orders carry no secrets."""
    return answer.body[:LOGGED].decode("utf-8", "replace")
