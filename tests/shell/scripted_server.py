"""An HTTP server that says what a test tells it to, and remembers what it was asked."""

import asyncio
import json
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. `delay` seconds before it; `drop` cuts the connection instead."""

    status: int = 200
    body: Any = None
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drop: bool = False

    def raw(self) -> bytes:
        if self.body is None:
            return b""
        return self.body.encode() if isinstance(self.body, str) else json.dumps(self.body).encode()


HTML = Reply(502, "<!DOCTYPE html><html><head><title>bad gateway</title></head></html>", "text/html")


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it came in. `port`: the client's, which tells connections apart."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: str
    port: int

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(slots=True)
class Script:
    """Replies by path: the last one of a path stays."""

    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    replies: defaultdict[str, deque[Reply]] = field(default_factory=lambda: defaultdict(deque))

    def say(self, path: str, *replies: Reply) -> None:
        self.replies[path] = deque(replies)

    def calls(self, path: str) -> list[Asked]:
        return [call for call in self.asked if call.path == path]

    async def answer(self, request: web.Request) -> web.StreamResponse:
        peer = request.transport.get_extra_info("peername") if request.transport else ("", 0)
        self.asked.append(
            Asked(request.method, request.path, request.query, request.headers, await request.text(), peer[1])
        )
        queue = self.replies[request.path]
        reply = Reply(404, {"code": "E0000", "description": "no script"})
        if queue:
            reply = queue.popleft() if len(queue) > 1 else queue[0]
        await asyncio.sleep(reply.delay)
        if reply.drop and request.transport is not None:
            request.transport.close()
        return web.Response(
            status=reply.status, body=reply.raw(), content_type=reply.content_type, headers=dict(reply.headers)
        )


@asynccontextmanager
async def scripted() -> AsyncIterator[Script]:
    """Serve a script on a free loopback port."""
    script = Script()
    app = web.Application()
    app.router.add_route("*", "/{anything:.*}", script.answer)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    script.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield script
    finally:
        await runner.cleanup()
