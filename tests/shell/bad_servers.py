"""API servers that misbehave on purpose, over real loopback HTTP. Each test scripts how lists and watches are answered."""

import asyncio
import contextlib
import json
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from aiohttp import web

from bot.adapters.kubeconfigs import Kubeconfig, KubeconfigCache
from bot.adapters.kubernetes.connection import Connection
from bot.adapters.kubernetes.fields import table, text
from bot.adapters.kubernetes.listing import Source
from bot.adapters.kubernetes.pace import Pace
from bot.adapters.kubernetes.reflector import Reflector, Shared
from bot.adapters.kubernetes.settings import Limits

Json = dict[str, Any]
DATA = Path(__file__).parent / "data"
THINGS = "/api/v1/things"
TOKEN = "secret-token"
CAT = Source(THINGS, lambda raw: text(table(raw, "metadata"), "name"))
SLOTH = Limits(watch_least=1, watch_most=1, idle_margin=0.2, longest_pause=0.2, pace=0.01)
"""Short deadlines, so that a test of patience needs little of it."""

Reply = web.StreamResponse
Answers = Callable[[web.Request], Awaitable[Reply]]
Script = Callable[[web.Request, web.StreamResponse], Awaitable[None]]


def thing(name: str, version: int, uid: str = "") -> Json:
    return {"metadata": {"name": name, "namespace": "x", "uid": uid or f"uid-{name}", "resourceVersion": str(version)}}


def event(kind: str, body: Json) -> bytes:
    return json.dumps({"type": kind, "object": body}).encode() + b"\n"


def failure(code: int, why: str) -> Json:
    return {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": why, "code": code, "message": "no"}


async def silence(_request: web.Request, _stream: web.StreamResponse) -> None:
    """Keep a watch open and say nothing, as a half-open connection does."""
    await asyncio.Event().wait()


async def close(_request: web.Request, _stream: web.StreamResponse) -> None:
    """End a watch at once."""


async def cut(request: web.Request) -> None:
    """Break the connection without an end."""
    assert request.transport is not None
    request.transport.abort()
    await asyncio.sleep(0)


@dataclass
class BadServer:
    """A server with one resource.

    Attributes:
        objects: what lists tell, at `version`.
        watch: what an open watch says. `opens`: answers the opening of a watch instead.
        lists: answers lists instead of telling `objects`. `other`: answers all other paths.
    """

    objects: list[Json] = field(default_factory=list)
    version: int = 100
    watch: Script = silence
    lists: Answers | None = None
    opens: Answers | None = None
    other: Answers | None = None
    seen: list[tuple[float, str, Json]] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    url: str = ""
    certificate: str = ""
    client_certificate: str = ""
    _runner: web.AppRunner | None = None
    _port: int = 0

    async def start(self) -> None:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.05)
        await self._runner.setup()
        tls = None
        if self.certificate:
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(DATA / self.certificate)
        if tls and self.client_certificate:
            tls.load_verify_locations(DATA / self.client_certificate)
            tls.verify_mode = ssl.CERT_REQUIRED
        await web.TCPSite(self._runner, "127.0.0.1", self._port, ssl_context=tls, reuse_address=True).start()
        self._port = self._runner.addresses[0][1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self._port}"

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    def moves(self) -> None:
        """Take another port at the next start."""
        self._port = 0

    def count(self, *, watches: bool | None = None) -> int:
        """Requests so far: all, only watches, or only lists."""
        return sum(watches is None or ("watch" in query) is watches for _, _, query in self.seen)

    def kubeconfig(self, token: str = TOKEN) -> bytes:
        cluster: Json = {"server": self.url}
        if self.certificate:
            cluster["certificate-authority"] = str(DATA / self.certificate)
        return json.dumps(
            {
                "clusters": [{"name": "c", "cluster": cluster}],
                "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
                "current-context": "x",
                "users": [{"name": "u", "user": {"token": token}}],
            }
        ).encode()

    async def _answer(self, request: web.Request) -> Reply:
        self.seen.append((time.monotonic(), request.path, dict(request.query)))
        self.tokens.append(request.headers.get("Authorization", "").removeprefix("Bearer "))
        if request.path != THINGS:
            return await (self.other or _not_found)(request)
        if "watch" not in request.query:
            return await (self.lists or self._list)(request)
        if self.opens is not None:
            return await self.opens(request)
        stream = web.StreamResponse(headers={"Content-Type": "application/json"})
        await stream.prepare(request)
        await self.watch(request, stream)
        return stream

    async def _list(self, request: web.Request) -> Reply:
        return self.page(request)

    def page(self, request: web.Request) -> web.Response:
        """Answer a list as a good server would."""
        begin, limit = int(request.query.get("continue", "0")), int(request.query.get("limit", "0")) or 10**9
        metadata: Json = {"resourceVersion": str(self.version)}
        if begin + limit < len(self.objects):
            metadata["continue"] = str(begin + limit)
        return web.json_response({"kind": "List", "metadata": metadata, "items": self.objects[begin : begin + limit]})


async def _not_found(_request: web.Request) -> Reply:
    return web.json_response(failure(404, "NotFound"), status=404)


@asynccontextmanager
async def serving(server: BadServer) -> AsyncIterator[BadServer]:
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


@asynccontextmanager
async def connected(server: BadServer, limits: Limits = SLOTH) -> AsyncIterator[Connection]:
    """Connect to a served one; its kubeconfig is asked for anew whenever credentials are refused."""

    async def fetch() -> Kubeconfig:
        now = datetime.now(UTC)  # so short a life lets a refused kubeconfig be replaced a second after the last
        return Kubeconfig(server.kubeconfig(), now, now + timedelta(seconds=10))

    connection = Connection(KubeconfigCache(fetch), limits)
    try:
        yield connection
    finally:
        await connection.aclose()


@dataclass
class Watching:
    """A reflector at work on a bad server. `changes`: how often it called `changed`."""

    server: BadServer
    reflector: Reflector[str]
    changes: int = 0

    def names(self) -> list[str]:
        return sorted(self.reflector.values())

    async def until(self, true: Callable[[], bool], seconds: float = 5) -> None:
        """Wait until something holds, at most that long."""
        deadline = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < deadline, f"{self.names()} {self.reflector.tally}"
            await asyncio.sleep(0.005)


@asynccontextmanager
async def watching(server: BadServer, limits: Limits = SLOTH, source: Source[str] = CAT) -> AsyncIterator[Watching]:
    """Serve, connect and reflect."""

    def changed() -> None:
        at_work.changes += 1

    async with serving(server), connected(server, limits) as connection:
        pace = Pace(limits.pace, limits.burst)
        at_work = Watching(server, Reflector(source, Shared(connection, limits, pace, changed)))
        task = asyncio.create_task(at_work.reflector.run())
        try:
            yield at_work
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
