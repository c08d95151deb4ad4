"""One HTTP port for the platform: /healthz (am I alive), /readyz (can I work), /metrics. Nothing of a run is shown here."""

from collections.abc import Awaitable, Callable, Mapping

from aiohttp import web

Checks = Callable[[], Mapping[str, str]]
"""Name → what is wrong; empty when all is well."""


class Web:
    """Serves until closed. `alive` fails only for what a restart cures; `ready` for what waiting may cure."""

    def __init__(self, alive: Checks, ready: Checks, metrics: Callable[[], bytes]) -> None:
        self._alive = alive
        self._ready = ready
        self._metrics = metrics
        self._runner: web.AppRunner | None = None
        self.port = 0

    async def start(self, host: str, port: int) -> None:
        """Raises OSError when the port is taken."""
        app = web.Application()
        app.router.add_get("/healthz", self._said(self._alive))
        app.router.add_get("/readyz", self._said(self._ready))
        app.router.add_get("/metrics", self._numbers)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, host, port)
        await site.start()
        self.port = int(self._runner.addresses[0][1])

    async def aclose(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    def _said(self, checks: Checks) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def answer(_request: web.Request) -> web.StreamResponse:
            wrong = dict(checks())
            return web.json_response({"ok": not wrong, "wrong": wrong}, status=503 if wrong else 200)

        return answer

    async def _numbers(self, _request: web.Request) -> web.Response:
        return web.Response(body=self._metrics(), content_type="text/plain", charset="utf-8")
