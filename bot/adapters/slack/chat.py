"""Messages out: `bot.ports.Chat` over the Web API.

Every message carries its key as metadata, so that one whose answer was lost can be found again. A message that Slack
does not take is sent once more in its short form, with its buttons; then as bare text; never the same one again (B064).
"""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from bot.adapters.slack.calls import Answer, Calls
from bot.adapters.slack.failures import CONTENT, NO_ACCESS, Effect
from bot.messages import plain
from bot.ports import Place
from handlers.ports import Message
from state.errors import PermanentError
from state.reasons import Code, reason

EVENT_TYPE = "gpu_migrate"
LIVING = "/progress"  # keys that end so belong to messages that are rewritten often
PAGE = 200
PAGES = 10
CLOCKS_DIFFER = timedelta(seconds=30)  # between us and Slack, when looking back

Refused = Callable[[str, str], None]  # (what was sent, Slack's error): a message of ours had a fault


def unnoticed(_what: str, _error: str) -> None:
    """Nobody counts."""


class SlackChat:
    """Posts, rewrites, whispers and finds messages."""

    def __init__(self, client: AsyncWebClient, calls: Calls, bot_id: str = "", refused: Refused = unnoticed) -> None:
        self._client = client
        self._calls = calls
        self._bot_id = bot_id
        self._refused = refused

    async def post(self, channel: str, message: Message, *, key: str, thread: str = "") -> Place:
        """Raises TransientError, PermanentError, OutcomeUnknown (then `find` it before posting again)."""

        async def send(shape: Message) -> Answer:
            return await self._calls.make(
                "chat.postMessage",
                lambda: self._client.chat_postMessage(
                    channel=channel, thread_ts=thread or None, metadata=_metadata(key), **_content(shape)
                ),
                Effect.ANOTHER,
                channel,
            )

        answer = await self._shorter(message, send)
        return Place(_text(answer, "channel") or channel, _text(answer, "ts"), thread)

    async def update(self, place: Place, message: Message, *, key: str) -> None:
        """Raises TransientError and PermanentError; may be repeated, the last one wins."""

        async def send(shape: Message) -> Answer:
            return await self._calls.make(
                "chat.update",
                lambda: self._client.chat_update(
                    channel=place.channel, ts=place.ts, metadata=_metadata(key), **_content(shape, unfurl=False)
                ),
                Effect.NONE,
                place.channel,
                modest=key.endswith(LIVING),
            )

        await self._shorter(message, send)

    async def whisper(self, channel: str, user: str, message: Message) -> None:
        """Only for `user`, in the channel; where that does not go, as a direct message."""

        async def send(shape: Message) -> Answer:
            return await self._calls.make(
                "chat.postEphemeral",
                lambda: self._client.chat_postEphemeral(channel=channel, user=user, **_content(shape, unfurl=False)),
                Effect.ANOTHER,
                channel,
            )

        try:
            if channel:
                await self._shorter(message, send)
                return
        except PermanentError as error:
            if error.reason.text("error") in NO_ACCESS:
                raise
        await self._direct(user, message)

    async def find(self, channel: str, key: str, *, thread: str = "", since: datetime | None = None) -> Place | None:
        """Our message with this key: in the thread, or among the channel's roots. None when there is none."""
        oldest = f"{(since - CLOCKS_DIFFER).timestamp():.6f}" if since else None
        cursor = ""
        for _ in range(PAGES):
            answer = await self._page(channel, thread, oldest, cursor)
            for message in _list(answer, "messages"):
                if self._carries(message, key):
                    return Place(channel, _text(message, "ts"), thread)
            metadata = answer.get("response_metadata")
            cursor = _text(metadata, "next_cursor") if isinstance(metadata, Mapping) else ""
            if not cursor:
                return None
        return None

    async def is_member(self, channel: str) -> bool:
        """Whether we may post there. A channel that we cannot see counts as no."""
        try:
            answer = await self._calls.make(
                "conversations.info", lambda: self._client.conversations_info(channel=channel)
            )
        except PermanentError as error:
            if error.reason.text("error") in NO_ACCESS:
                raise
            return False
        found = answer.get("channel")
        shown = found if isinstance(found, Mapping) else {}
        return (shown.get("is_member") is True or shown.get("is_im") is True) and shown.get("is_archived") is not True

    async def _direct(self, user: str, message: Message) -> None:
        opened = await self._calls.make("conversations.open", lambda: self._client.conversations_open(users=[user]))
        found = opened.get("channel")
        channel = _text(found, "id") if isinstance(found, Mapping) else ""
        if not channel:
            raise PermanentError(reason(Code.SLACK_REFUSED, error="no direct message"))

        async def send(shape: Message) -> Answer:
            return await self._calls.make(
                "chat.postMessage",
                lambda: self._client.chat_postMessage(channel=channel, **_content(shape)),
                Effect.ANOTHER,
                channel,
            )

        await self._shorter(message, send)

    async def _shorter(self, message: Message, send: Callable[[Message], Awaitable[Answer]]) -> Answer:
        """Send it; when the content is refused, its short form, then its text."""
        for shape in _shapes(message):
            try:
                return await send(shape)
            except PermanentError as error:
                word = error.reason.text("error")
                if word not in CONTENT:
                    raise
                self._refused(shape.text[:80], word)
                last = error
        raise last

    async def _page(self, channel: str, thread: str, oldest: str | None, cursor: str) -> Answer:
        common: dict[str, Any] = {"channel": channel, "limit": PAGE, "include_all_metadata": True}
        common |= ({"oldest": oldest} if oldest else {}) | ({"cursor": cursor} if cursor else {})
        if thread:
            return await self._calls.make(
                "conversations.replies", lambda: self._client.conversations_replies(ts=thread, **common)
            )
        return await self._calls.make("conversations.history", lambda: self._client.conversations_history(**common))

    def _carries(self, message: Mapping[str, Any], key: str) -> bool:
        """Whether it is ours and has this key: other apps may use any metadata they like."""
        metadata = message.get("metadata")
        if not isinstance(metadata, Mapping) or metadata.get("event_type") != EVENT_TYPE:
            return False
        payload = metadata.get("event_payload")
        ours = not self._bot_id or _text(message, "bot_id") in ("", self._bot_id)
        return ours and isinstance(payload, Mapping) and payload.get("key") == key


def _shapes(message: Message) -> tuple[Message, ...]:
    """Full, short, bare; each only once."""
    short = plain(message)
    shapes = (message, short, Message(short.text))
    return tuple(shape for i, shape in enumerate(shapes) if shape not in shapes[:i])


def _content(message: Message, *, unfurl: bool = True) -> dict[str, Any]:
    """Arguments of a message. Nothing is unfurled and no name becomes a link."""
    quiet = {"unfurl_links": False, "unfurl_media": False} if unfurl else {}
    blocks = [dict(block) for block in message.blocks]
    return {"text": message.text, "blocks": blocks, "link_names": False, "parse": "none", **quiet}


def _metadata(key: str) -> dict[str, Any]:
    return {"event_type": EVENT_TYPE, "event_payload": {"key": key}}


def _text(value: Mapping[str, Any], key: str) -> str:
    found = value.get(key)
    return found if isinstance(found, str) else ""


def _list(value: Mapping[str, Any], key: str) -> tuple[Mapping[str, Any], ...]:
    found = value.get(key)
    return tuple(item for item in found if isinstance(item, Mapping)) if isinstance(found, list) else ()
