"""Put a pretend server on a loopback port and take it down again, the same way for all of them.

It knows nothing about what is served; nothing of a particular system may enter here.
"""

from ssl import SSLContext

from aiohttp import web

HOST = "127.0.0.1"
LAST_WORDS = 0.2  # seconds that open streams (watches, sockets) get at the end before they are cut


class Door:
    """One more address of a server."""

    def __init__(self, site: web.TCPSite, url: str) -> None:
        self.url = url
        self._site = site

    async def aclose(self) -> None:
        """Refuse new connections; those that are open stay."""
        await self._site.stop()


class Served:
    """A server that answers. `url` has no slash at its end."""

    def __init__(self, runner: web.AppRunner, url: str, port: int) -> None:
        self.url = url
        self.port = port
        self._runner = runner

    async def open_door(self, ssl: SSLContext | None = None) -> Door:
        """Answer at another free port too."""
        before = set(self._runner.addresses)
        site = web.TCPSite(self._runner, HOST, 0, ssl_context=ssl)
        await site.start()
        (address,) = set(self._runner.addresses) - before
        return Door(site, _url(address[1], ssl))

    async def aclose(self) -> None:
        """Stop listening and cut what is still open; harmless when repeated."""
        await self._runner.cleanup()


async def serve(app: web.Application, port: int = 0, ssl: SSLContext | None = None) -> Served:
    """Serve `app` on 127.0.0.1; port 0 takes a free one.

    Raises OSError when the port is taken.
    """
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=LAST_WORDS)
    await runner.setup()
    site = web.TCPSite(runner, HOST, port, ssl_context=ssl)
    try:
        await site.start()
    except OSError:
        await runner.cleanup()
        raise
    bound = runner.addresses[0][1]
    return Served(runner, _url(bound, ssl), bound)


def _url(port: int, ssl: SSLContext | None) -> str:
    return f"{'https' if ssl else 'http'}://{HOST}:{port}"
