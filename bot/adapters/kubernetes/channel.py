"""Pools of HTTP connections to one endpoint under one set of certificates.

Reads share kept-alive connections. Mutating calls get a connection of their own each: on a kept one that the load
balancer has just dropped nobody could tell whether the request arrived.
"""

import ssl
from types import TracebackType
from typing import Self

import aiohttp
from yarl import URL

from bot.adapters.kubernetes.access import Access
from bot.adapters.kubernetes.settings import Limits

AGENT = "gpu-migrate"
KEPT_SECONDS = 30.0
READ_BUFFER = 256 * 1024


class Channel:
    """Two sessions, counted by use: a retired channel closes when its last user is gone."""

    def __init__(self, access: Access, context: ssl.SSLContext | None, limits: Limits) -> None:
        self.access = access
        self._context = context
        self._reads = self._session(limits, kept=True)
        self._writes = self._session(limits, kept=False)
        self._users = 0
        self._retired = False

    async def request(
        self, method: str, target: str, *, headers: dict[str, str], body: bytes | None, lone: bool
    ) -> aiohttp.ClientResponse:
        """Send one request. `target`: path and query, already escaped. The caller sets the deadline."""
        session = self._writes if lone else self._reads
        return await session.request(
            method,
            URL(self.access.server + target, encoded=True),
            headers=headers,
            data=body,
            ssl=self._context if self._context is not None else True,
            server_hostname=self.access.server_name or None,
            proxy=self.access.proxy or None,
            allow_redirects=False,
        )

    async def __aenter__(self) -> Self:
        self._users += 1
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._users -= 1
        if self._retired and self._users == 0:
            await self.aclose()

    async def retire(self) -> None:
        """Take no new user; close now, or when the last one leaves."""
        self._retired = True
        if self._users == 0:
            await self.aclose()

    async def aclose(self) -> None:
        await self._reads.close()
        await self._writes.close()

    @staticmethod
    def _session(limits: Limits, *, kept: bool) -> aiohttp.ClientSession:
        connector = (
            aiohttp.TCPConnector(limit=0, keepalive_timeout=KEPT_SECONDS)
            if kept
            else aiohttp.TCPConnector(limit=0, force_close=True)
        )
        return aiohttp.ClientSession(
            connector=connector,
            timeout=aiohttp.ClientTimeout(total=None, connect=limits.connect, sock_connect=limits.connect),
            headers={"User-Agent": AGENT},
            cookie_jar=aiohttp.DummyCookieJar(),
            read_bufsize=READ_BUFFER,
        )


def words(exc: Exception) -> str:
    """Name a transport error without its text, which may hold addresses and query strings."""
    match exc:
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientConnectorSSLError():
            return "the server's certificate is not the one the kubeconfig vouches for"
        case aiohttp.ClientConnectorDNSError():
            return "the server's name is not known"
        case aiohttp.ClientConnectorError() | aiohttp.ClientProxyConnectionError():
            return "no connection"
        case aiohttp.ServerDisconnectedError() | ConnectionResetError():
            return "the connection was cut"
        case _:
            return f"connection trouble ({type(exc).__name__})"
