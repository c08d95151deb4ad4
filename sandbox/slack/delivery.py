"""Bring a payload to the app, by socket or by a signed request, and say how that ended.

Commands and clicks are never repeated: whoever misses them has missed them. Events are, three times.
Source: docs.slack.dev, "Using Socket Mode", "Verifying requests from Slack", "Events API".
"""

import hashlib
import hmac
import json
import time
import urllib.parse
from dataclasses import dataclass
from typing import Any

import aiohttp

from sandbox.slack import identity
from sandbox.slack.sockets import Sockets

#: Seconds an app has for its acknowledgement. Slack's number, never scaled.
ACK_LIMIT = 3.0
EVENT_RETRIES = 3


@dataclass(frozen=True, slots=True)
class Ack:
    """How a delivery ended.

    Attributes:
        error: "" when acknowledged, else dispatch_failed (nobody there, or HTTP error) or operation_timeout.
        payload: what the app sent along with the acknowledgement.
        seconds: how long it took.
    """

    error: str
    payload: dict[str, Any]
    seconds: float


class Delivery:
    """`request_url`: where to POST instead of using sockets; "" means Socket Mode."""

    def __init__(self, sockets: Sockets) -> None:
        self.request_url = ""
        self._sockets = sockets

    async def send(self, kind: str, payload: dict[str, Any]) -> Ack:
        """Deliver a payload of `kind` slash_commands, interactive or events_api once."""
        return await self._once(kind, payload, 0)

    async def event(self, payload: dict[str, Any]) -> Ack:
        """Deliver an event, again when nobody acknowledges it. Slack waits minutes in between; this world does not."""
        ack = await self._once("events_api", payload, 0)
        for attempt in range(1, EVENT_RETRIES + 1):
            if not ack.error:
                break
            ack = await self._once("events_api", payload, attempt)
        return ack

    async def _once(self, kind: str, payload: dict[str, Any], attempt: int) -> Ack:
        started = time.monotonic()
        if self.request_url:
            error, answer = await self._post(kind, payload, attempt)
        else:
            error, answer = await self._socket(kind, payload, attempt)
        return Ack(error, answer, round(time.monotonic() - started, 4))

    async def _socket(self, kind: str, payload: dict[str, Any], attempt: int) -> tuple[str, dict[str, Any]]:
        retry = {"retry_attempt": attempt, "retry_reason": "timeout" if attempt else ""} if kind == "events_api" else {}
        try:
            answer = await self._sockets.deliver(kind, payload, ACK_LIMIT, **retry)
        except ConnectionError:
            return "dispatch_failed", {}
        return ("operation_timeout", {}) if answer is None else ("", answer)

    async def _post(self, kind: str, payload: dict[str, Any], attempt: int) -> tuple[str, dict[str, Any]]:
        content_type, body = _encoded(kind, payload)
        headers = {"Content-Type": content_type, **signed(body)}
        if attempt:
            headers |= {"X-Slack-Retry-Num": str(attempt), "X-Slack-Retry-Reason": "http_error"}
        timeout = aiohttp.ClientTimeout(total=ACK_LIMIT)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout) as session,
                session.post(self.request_url, data=body, headers=headers) as answer,
            ):
                text = await answer.text()
        except TimeoutError:
            return "operation_timeout", {}
        except (aiohttp.ClientError, OSError):
            return "dispatch_failed", {}
        return ("", _decoded(text)) if answer.status == 200 else ("dispatch_failed", {})


def signed(body: bytes, at: int | None = None) -> dict[str, str]:
    """Slack's signature headers over a raw body."""
    stamp = str(int(time.time()) if at is None else at)
    digest = hmac.new(identity.SIGNING_SECRET.encode(), b"v0:" + stamp.encode() + b":" + body, hashlib.sha256)
    return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={digest.hexdigest()}"}


def _encoded(kind: str, payload: dict[str, Any]) -> tuple[str, bytes]:
    if kind == "events_api":
        return "application/json", json.dumps(payload).encode()
    if kind == "slash_commands":
        form = {key: str(value).lower() if isinstance(value, bool) else value for key, value in payload.items()}
    else:
        form = {"payload": json.dumps(payload)}
    return "application/x-www-form-urlencoded", urllib.parse.urlencode(form, errors="replace").encode()


def _decoded(text: str) -> dict[str, Any]:
    """The body of an acknowledgement: JSON, or plain text that is meant to be shown."""
    try:
        answer = json.loads(text)
    except ValueError:
        return {"text": text} if text.strip() else {}
    return answer if isinstance(answer, dict) else {}
