"""Signals in over socket mode, with a watchdog.

The SDK's client never recovers when the first URL that it was given is refused: it tries the same one-time URL for ever.
After 15 s without a connection the URL is forgotten, so that a fresh one is asked for; after 60 s the whole client is
built anew and `trouble` says so (probed with slack_sdk 3.48; bolt-python#417, #1529; remove when it fetches a new URL by
itself). Connected means: open, greeted by `hello`, and answering our pings.
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from slack_bolt.adapter.socket_mode.async_internals import run_async_bolt_app, send_async_response
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.web.async_client import AsyncWebClient

from bot.adapters.slack.access import Access
from bot.adapters.slack.failures import NO_ACCESS, read
from bot.ending import end

CLOSE_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Watch:
    """Seconds: how often to look, when to ask for a fresh URL, when to build the client anew, between pings."""

    every: float = 5.0
    renew_after: float = 15.0
    rebuild_after: float = 60.0
    ping: float = 10.0
    refused_pause: float = 60.0


class SlackSocket:
    """One socket of one app; Slack hands each signal to one of the app's sockets."""

    def __init__(
        self,
        app: AsyncApp,
        web: AsyncWebClient,
        access: Access,
        report: Callable[[str, BaseException], None],
        watch: Watch | None = None,
    ) -> None:
        self._app = app
        self._web = web
        self._access = access
        self._report = report
        self._watch = watch or Watch()
        self._client: _Client | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._greeted: object = None
        self._busy: set[asyncio.Task[Any]] = set()
        self._down_since = time.monotonic()
        self._closing = False

    def connected(self) -> bool:
        """Whether signals can arrive right now."""
        client = self._client
        if client is None or client.closed or client.stale:
            return False
        session = client.current_session
        return session is not None and not session.closed and session is self._greeted and not self._silent(client)

    def trouble(self) -> str:
        """What keeps signals away for longer than a reconnection takes; "" when nothing does. For health checks."""
        if self.connected() or self._closing:
            return ""
        if self._client is not None and self._client.refused:
            return self._client.refused
        gone = time.monotonic() - self._down_since
        return f"not connected for {gone:.0f} s" if gone >= self._watch.rebuild_after else ""

    async def run(self) -> None:
        """Connect and stay connected until cancelled. Close with `aclose`."""
        self._start()
        last_built = time.monotonic()
        while not self._closing:
            await asyncio.sleep(self._watch.every)
            now = time.monotonic()
            if self.connected():
                self._down_since = last_built = now
            elif now - last_built >= self._watch.rebuild_after:
                await self._stop()
                self._start()
                last_built = now
            elif now - self._down_since >= self._watch.renew_after and self._client is not None:
                self._client.wss_uri = None

    async def aclose(self) -> None:
        """Let signals in hand be acknowledged, then hang up; call it before anything else is closed."""
        self._closing = True
        if self._busy:
            await asyncio.wait(self._busy, timeout=CLOSE_SECONDS)
        await self._stop()

    def _start(self) -> None:
        client = _Client(self._access, self._web, self._watch)
        client.message_listeners.append(self._hear)
        client.socket_mode_request_listeners.append(self._take)
        self._client, self._greeted = client, None
        self._connecting = asyncio.create_task(client.connect())  # type: ignore[no-untyped-call]

    async def _stop(self) -> None:
        client, self._client = self._client, None
        if self._connecting is not None:
            await end((self._connecting,))
        if client is None:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await client.hang_up()

    async def _hear(self, client: AsyncBaseSocketModeClient, message: dict[str, Any], _raw: str | None = None) -> None:
        """Remember which connection was greeted: one without `hello` delivers nothing."""
        if message.get("type") == "hello" and client is self._client and self._client is not None:
            self._greeted = self._client.current_session

    async def _take(self, client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        """One signal: dispatch, acknowledge. Whatever breaks here is reported; the socket goes on."""
        task = asyncio.current_task()
        if task is not None:
            self._busy.add(task)
            task.add_done_callback(self._busy.discard)
        started = time.time()
        try:
            response = await run_async_bolt_app(self._app, request)
            await send_async_response(client, request, response, started)
        except Exception as error:  # noqa: BLE001 (top of a task)
            self._report("slack socket", error)

    def _silent(self, client: "_Client") -> bool:
        """Whether our pings have gone unanswered for four intervals."""
        heard = client.last_ping_pong_time
        return heard is not None and time.time() - heard >= client.ping_interval * 4


class _Client(SocketModeClient):
    """The SDK's client that does not hammer Slack with a token that was refused, and closes without leaving tasks.

    Attributes:
        refused: Slack's word when it refused the app token, "" when it did not.
    """

    def __init__(self, access: Access, web: AsyncWebClient, watch: Watch) -> None:
        super().__init__(access.app_token, web_client=web, ping_interval=watch.ping, proxy=access.proxy or None)
        self.proxy = access.proxy or None
        self.refused = ""
        self._pause = watch.refused_pause

    async def issue_new_wss_url(self) -> str:
        """A fresh one-time URL; after a refusal the next try waits a minute, since only a human can help."""
        try:
            url = await super().issue_new_wss_url()
        except SlackApiError as error:
            word = read(error).error
            if word in NO_ACCESS:
                self.refused = word
                await asyncio.sleep(self._pause)
            raise
        self.refused = ""
        return url

    async def hang_up(self) -> None:
        """Close, and wait for the tasks of the client to end."""
        await self.close()  # type: ignore[no-untyped-call]
        tasks = (self.message_processor, self.current_session_monitor, self.message_receiver)
        await asyncio.gather(*(task for task in tasks if task is not None), return_exceptions=True)
