"""Check and complete what an app wants a message to say, the same for posts, updates, ephemerals and response URLs."""

import json
import secrets
from dataclasses import dataclass
from typing import Any

from sandbox.slack import identity
from sandbox.slack.blocks import BLOCK_TEXT, METADATA_BYTES, block_faults, block_text
from sandbox.slack.errors import SlackError, explained

NO_TEXT = "This content can't be displayed."
TRUNCATED_AT = 40_000
ATTACHMENTS = 100


@dataclass(frozen=True, slots=True)
class Content:
    """None means the caller left it out, which an update reads as "keep what is there"."""

    text: str | None
    blocks: list[dict[str, Any]] | None
    attachments: list[dict[str, Any]] | None

    @property
    def empty(self) -> bool:
        return not (self.text or self.blocks or self.attachments)

    def keys(self) -> dict[str, Any]:
        """The keys of a message object that this content sets."""
        given = {"text": self.text, "blocks": self.blocks, "attachments": self.attachments}
        return {key: value for key, value in given.items() if value is not None}


def checked(text: Any, blocks: Any, attachments: Any) -> Content:
    """Content Slack would take, with the ids it adds. Raises invalid_blocks and its relatives."""
    if blocks is not None:
        _refuse_blocks(blocks)
    if attachments is not None and not isinstance(attachments, list):
        raise SlackError("invalid_attachments")
    for index, attachment in enumerate(attachments or ()):
        inner = attachment.get("blocks") if isinstance(attachment, dict) else None
        if inner is not None:
            _refuse_blocks(inner, f"/attachments/{index}/blocks")
    if len(attachments or ()) > ATTACHMENTS:
        raise SlackError("too_many_attachments")
    said = None if text is None else str(text)[:TRUNCATED_AT]
    return Content(said, None if blocks is None else [named(block) for block in blocks], attachments)


def checked_metadata(value: Any) -> dict[str, Any] | None:
    """Message metadata as Slack keeps it; None when left out, {} when it is to be removed."""
    if value is None or value == {}:
        return None if value is None else {}
    if not isinstance(value, dict) or not isinstance(value.get("event_type"), str):
        raise SlackError("invalid_metadata_format")
    payload = value.get("event_payload")
    if not isinstance(payload, dict):
        raise SlackError("invalid_metadata_format")
    if len(json.dumps(value).encode()) > METADATA_BYTES:
        raise SlackError("metadata_too_large")
    return {"event_type": value["event_type"], "event_payload": payload}


def bot_message(content: Content) -> dict[str, Any]:
    """A new message object of the bot's, still without a ts."""
    return {
        "user": identity.BOT_USER,
        "type": "message",
        "bot_id": identity.BOT_ID,
        "app_id": identity.APP_ID,
        "text": content.text or (NO_TEXT if content.blocks else ""),
        "team": identity.TEAM_ID,
        "bot_profile": bot_profile(),
        **{key: value for key, value in content.keys().items() if value and key != "text"},
    }


def bot_profile() -> dict[str, Any]:
    return {
        "id": identity.BOT_ID,
        "deleted": False,
        "name": identity.BOT_NAME,
        "updated": 1,
        "app_id": identity.APP_ID,
        "icons": dict.fromkeys(("image_36", "image_48", "image_72"), ""),
        "team_id": identity.TEAM_ID,
    }


def _refuse_blocks(blocks: Any, root: str = "/blocks") -> None:
    if not isinstance(blocks, list):
        raise SlackError("invalid_blocks_format")
    faults = block_faults(blocks, root=root)
    if faults:
        raise explained("invalid_blocks", *map(str, faults))
    if block_text(blocks) > BLOCK_TEXT:
        raise SlackError("msg_blocks_too_long")


def named(block: dict[str, Any]) -> dict[str, Any]:
    """A copy of a block in which everything that needs an id has one, as Slack gives them out."""
    named = json.loads(json.dumps(block))
    named.setdefault("block_id", secrets.token_urlsafe(4)[:5])
    inner = [*named.get("elements", ()), named.get("accessory"), named.get("element")]
    for element in inner:
        if isinstance(element, dict) and "action_id" not in element and _interactive(element):
            element["action_id"] = secrets.token_urlsafe(4)[:5]
    return dict(named)


def _interactive(element: dict[str, Any]) -> bool:
    return element.get("type") not in ("mrkdwn", "plain_text", "image") and "elements" not in element
