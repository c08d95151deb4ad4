"""Socket Mode from Slack's side: tickets, up to ten open sockets, one of them gets each envelope.

Source: docs.slack.dev, "Using Socket Mode". Switches make sockets fail in the ways seen in the wild.
What an envelope holds and what an acknowledgement means stays outside.
"""

import asyncio
import contextlib
import json
import random
import secrets
import time
import uuid
from dataclasses import dataclass, field
from typing import Any

from aiohttp import WSMsgType, web

from sandbox.slack import identity

MOST_SOCKETS = 10
TICKET_LIFE = 30.0
PING_EVERY = 10.0
SEND_TIMEOUT = 5.0


@dataclass(eq=False, slots=True)
class Socket:
    """One open connection. `silent`: TCP stays up, nothing is delivered and no ping answered."""

    ws: web.WebSocketResponse
    transport: asyncio.Transport | None
    id: str = field(default_factory=lambda: secrets.token_hex(6))
    silent: bool = False
    leaving: bool = False

    async def send(self, message: dict[str, Any]) -> bool:
        """Send one message; False when the peer is gone. What a silent socket swallows counts as sent."""
        if self.silent or self.ws.closed:
            return self.silent
        try:
            async with asyncio.timeout(SEND_TIMEOUT):
                await self.ws.send_str(json.dumps(message))
        except (ConnectionError, TimeoutError, RuntimeError):
            return False
        return True


class Sockets:
    """All sockets of the app.

    Attributes:
        refuse: how many of the next connections are refused; -1 all.
        duplicate: how many of the next envelopes are sent twice under the same id.
    """

    def __init__(self) -> None:
        self.refuse = 0
        self.duplicate = 0
        self._tickets: dict[str, float] = {}
        self._open: list[Socket] = []
        self._waiting: dict[str, asyncio.Future[dict[str, Any]]] = {}

    @property
    def count(self) -> int:
        return len(self._open)

    def ids(self) -> tuple[str, ...]:
        """Which sockets are open, oldest first."""
        return tuple(socket.id for socket in self._open)

    def ticket(self) -> str:
        """A one-time ticket for the next connection."""
        now = time.monotonic()
        self._tickets = {ticket: until for ticket, until in self._tickets.items() if until > now}
        ticket = str(uuid.uuid4())
        self._tickets[ticket] = now + TICKET_LIFE
        return ticket

    async def link(self, request: web.Request) -> web.StreamResponse:
        """The websocket endpoint."""
        if not self._admitted(request.query.get("ticket", "")):
            return web.Response(status=403, text="invalid ticket")
        socket = Socket(web.WebSocketResponse(autoping=False), request.transport)
        await socket.ws.prepare(request)
        if len(self._open) >= MOST_SOCKETS:
            await socket.send({"type": "disconnect", "reason": "too_many_websockets", "debug_info": _debug(socket)})
            await socket.ws.close()
            return socket.ws
        self._open.append(socket)
        pings = asyncio.create_task(self._ping(socket))
        try:
            await socket.send(self._hello(socket))
            await self._listen(socket)
        finally:
            pings.cancel()
            with contextlib.suppress(ValueError):
                self._open.remove(socket)
        return socket.ws

    async def deliver(self, kind: str, payload: dict[str, Any], limit: float, **rest: Any) -> dict[str, Any] | None:
        """Hand one payload to one socket; the acknowledgement's payload, None when none came within `limit` seconds.

        Raises ConnectionError when no socket is open. `rest`: further keys of the envelope.
        """
        ready = [socket for socket in self._open if not socket.leaving and not socket.ws.closed]
        if not ready:
            raise ConnectionError("no socket is open")
        envelope_id = str(uuid.uuid4())
        accepts = kind == "slash_commands" or payload.get("type") == "view_submission"
        envelope = {"envelope_id": envelope_id, "type": kind, "accepts_response_payload": accepts, **rest}
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[envelope_id] = answer
        try:
            await self._send(ready, {**envelope, "payload": payload})
            async with asyncio.timeout(limit):
                said = await answer
        except TimeoutError:
            return None
        finally:
            del self._waiting[envelope_id]
        return said if accepts else {}

    async def refresh(self) -> None:
        """Ask every socket to come back on a new one, as Slack does every few hours."""
        for socket in tuple(self._open):
            socket.leaving = True
            await socket.send({"type": "disconnect", "reason": "refresh_requested", "debug_info": _debug(socket)})

    async def drop(self) -> None:
        """Cut every connection without a word."""
        for socket in tuple(self._open):
            socket.leaving = True
            if socket.transport is not None:
                socket.transport.abort()

    def hush(self, silent: bool) -> None:
        """Make the sockets that are open now fall silent, or speak again; new ones are healthy."""
        for socket in self._open:
            socket.silent = silent

    async def aclose(self) -> None:
        for socket in tuple(self._open):
            socket.leaving = True
            with contextlib.suppress(ConnectionError, RuntimeError, TimeoutError):
                async with asyncio.timeout(1):
                    await socket.ws.close(code=1001, drain=False)

    def _admitted(self, ticket: str) -> bool:
        until = self._tickets.pop(ticket, 0.0)
        if self.refuse:
            self.refuse -= self.refuse > 0
            return False
        return until > time.monotonic()

    async def _send(self, ready: list[Socket], envelope: dict[str, Any]) -> None:
        """Send to one socket, whichever; the next one when it turns out to be dead. Raises ConnectionError."""
        copies = 2 if self.duplicate else 1
        self.duplicate -= self.duplicate > 0
        for _ in range(copies):
            for socket in random.sample(ready, len(ready)):
                if await socket.send(envelope):
                    break
            else:
                raise ConnectionError("every socket is dead")

    async def _listen(self, socket: Socket) -> None:
        async for message in socket.ws:
            if socket.silent:
                continue
            if message.type is WSMsgType.PING:
                await socket.ws.pong(message.data)
            elif message.type is WSMsgType.TEXT:
                self._acknowledge(message.data)

    def _acknowledge(self, text: str) -> None:
        """Note an acknowledgement; late, doubled and unreadable ones change nothing, as with Slack."""
        try:
            answer = json.loads(text)
        except ValueError:
            return
        if not isinstance(answer, dict):
            return
        waiting = self._waiting.get(str(answer.get("envelope_id")))
        if waiting is not None and not waiting.done():
            payload = answer.get("payload")
            waiting.set_result(payload if isinstance(payload, dict) else {})

    async def _ping(self, socket: Socket) -> None:
        while not socket.ws.closed:
            await asyncio.sleep(PING_EVERY)
            if not socket.silent:
                with contextlib.suppress(ConnectionError, RuntimeError):
                    await socket.ws.ping(f"Ping from {socket.id}".encode())

    def _hello(self, socket: Socket) -> dict[str, Any]:
        return {
            "type": "hello",
            "num_connections": self.count,
            "debug_info": {**_debug(socket), "approximate_connection_time": 18060},
            "connection_info": {"app_id": identity.APP_ID},
        }


def _debug(socket: Socket) -> dict[str, Any]:
    return {"host": f"applink-{socket.id}", "build_number": 1}
