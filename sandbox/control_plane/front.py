"""What stands before a real API server: the world's journal, faults and outages, and the version that IBM would show.

Everything else goes through as it is, byte by byte, watches included. Nothing may be decided here that a real API
server decides.
"""

import json
from collections.abc import AsyncIterator, Iterable
from ssl import SSLContext
from typing import Any

import aiohttp
from aiohttp import web
from multidict import CIMultiDict
from yarl import URL

from sandbox.control_plane.written import Written
from sandbox.faults import Faults
from sandbox.faults import middleware as faults_middleware
from sandbox.journal import Journal
from sandbox.kubernetes import discovery
from sandbox.outage import Outage, abort
from sandbox.tokens import Tokens

LARGEST_BODY = 4 * 2**20  # a little more than the server takes, so that its own refusal is seen
CONNECT_SECONDS = 10.0
PIECE = 2**20
VERSION = "/version"
# RFC 9110, 7.6.1: meant for one connection only; lengths are counted anew
OWN = frozenset({"connection", "keep-alive", "host", "transfer-encoding", "content-length", "upgrade", "te", "trailer"})
LEFT_ALONE = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")  # not made up where the caller has none


class Front:
    """One cluster's real API server as the world shows it.

    `name` is the cluster's name in the journal, `url` and `trust` reach the server, `version` is what /version gives.
    """

    def __init__(self, name: str, journal: Journal, faults: Faults, tokens: Tokens, version: str) -> None:
        self._written = Written(name, journal, tokens)
        self._faults = faults
        self._version = version
        self._outage = Outage()
        self._url = ""
        self._http: aiohttp.ClientSession | None = None
        self._trust: SSLContext | None = None

    def stands_before(self, url: str, trust: SSLContext) -> None:
        """Name the server, before the first request."""
        self._url, self._trust = url, trust

    def app(self) -> web.Application:
        """The application; its clean-up ends all watches."""
        middlewares = [self._outage.middleware, faults_middleware("kubernetes", self._faults)]
        app = web.Application(middlewares=middlewares, client_max_size=LARGEST_BODY)
        app.router.add_route("*", "/{path:.*}", self._answer)
        app.cleanup_ctx.append(self._connected)
        app.on_shutdown.append(self._outage.hang_up)
        return app

    def set_version(self, git_version: str) -> None:
        """Be another release from now on, as after a master update."""
        self._version = git_version

    async def outage(self, seconds: float) -> None:
        """Answer nobody for a while and cut every open watch; returns when it is over."""
        await self._outage.last(seconds)

    async def _connected(self, _: web.Application) -> AsyncIterator[None]:
        connector = aiohttp.TCPConnector(limit=0)
        limit = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS)  # watches last as long as they like
        self._http = aiohttp.ClientSession(
            connector=connector, timeout=limit, auto_decompress=False, read_bufsize=PIECE, trust_env=False
        )
        yield
        await self._http.close()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        assert self._http is not None
        body = await request.read()
        writes = request.method not in ("GET", "HEAD", "OPTIONS")
        headers = _passed_on(request.headers.items(), ("accept-encoding",) if writes else ())
        call = self._http.request(
            request.method,
            URL(self._url + request.raw_path, encoded=True),
            headers=headers,
            data=body or None,
            ssl=self._trust or True,
            allow_redirects=False,
            skip_auto_headers=LEFT_ALONE,
        )
        try:
            async with call as answer:
                if writes:
                    return await self._after_write(request, body, answer)
                if request.path.rstrip("/") == VERSION and answer.status == 200:
                    return self._release(await answer.read())
                return await _streamed(request, answer)
        except (aiohttp.ClientError, TimeoutError):
            return abort(request)

    async def _after_write(self, request: web.Request, body: bytes, answer: aiohttp.ClientResponse) -> web.Response:
        content = await answer.read()
        self._written.note(request, body, answer.status, content)
        return web.Response(body=content, status=answer.status, headers=_passed_on(answer.headers.items()))

    def _release(self, content: bytes) -> web.Response:
        """What the server says of its build, with IBM's number in it."""
        theirs: dict[str, Any] = json.loads(content)
        return web.json_response({**theirs, **discovery.release(self._version)})


def _passed_on(headers: Iterable[tuple[str, str]], without: tuple[str, ...] = ()) -> CIMultiDict[str]:
    return CIMultiDict((name, value) for name, value in headers if name.lower() not in OWN | set(without))


async def _streamed(request: web.Request, answer: aiohttp.ClientResponse) -> web.StreamResponse:
    """Hand on the answer as it comes. A server that breaks off in the middle is broken off for the caller too."""
    response = web.StreamResponse(status=answer.status, headers=_passed_on(answer.headers.items()))
    if answer.content_length is not None:
        response.content_length = answer.content_length
    await response.prepare(request)
    async for piece in answer.content.iter_any():
        await response.write(piece)
    await response.write_eof()
    return response
