"""A server that is away for a while on command: it answers nobody, and what was open is cut.

Works for any aiohttp application; who decides on an outage is no matter of this module.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Outage:
    """Put `middleware` first into an application, and `hang_up` into its on_shutdown."""

    def __init__(self) -> None:
        self._dark_until = 0.0
        self._open: dict[int, web.Request] = {}

    async def last(self, seconds: float) -> None:
        """Answer nobody for a while and cut every open connection; returns when it is over."""
        self._dark_until = time.monotonic() + seconds
        await self.hang_up(None)
        await asyncio.sleep(seconds)

    async def hang_up(self, _: web.Application | None) -> None:
        for request in tuple(self._open.values()):
            abort(request)

    @web.middleware
    async def middleware(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if time.monotonic() < self._dark_until:
            return abort(request)
        self._open[id(request)] = request
        try:
            return await handler(request)
        finally:
            del self._open[id(request)]


def abort(request: web.Request) -> web.Response:
    """Cut a connection; the response is for aiohttp alone."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=503)
