"""Channels and messages as scripts and the page read them. The contract stands in page.py."""

from typing import Any

from sandbox.slack import identity
from sandbox.slack.interactions import elements
from sandbox.slack.message_view import reactions, shown
from sandbox.slack.payloads import options
from sandbox.slack.workspace import Channel, Message, Workspace


def channel_row(channel: Channel) -> dict[str, Any]:
    row: dict[str, Any] = {"id": channel.id, "name": channel.name, "is_im": channel.is_im}
    row |= {"is_member": channel.has_bot(), "topic": channel.topic, "members": len(channel.members)}
    row["archived"] = channel.archived
    return {**row, "user": channel.person} if channel.is_im else row


def message_row(workspace: Workspace, channel: Channel, message: Message) -> dict[str, Any]:
    body = shown(channel, message, metadata=True)
    user = str(body.get("user", ""))
    row: dict[str, Any] = {
        "ts": message.ts,
        "user": user,
        "name": _name(workspace, user),
        "bot": "bot_id" in body,
        "text": body.get("text", ""),
        "blocks": body.get("blocks", []),
        "edited": "edited" in body,
        "ephemeral": bool(message.only_for),
        "in_channel": message.in_channel,
        "reply_count": body.get("reply_count", 0),
        "reply_users": body.get("reply_users", []),
        "latest_reply": body.get("latest_reply", ""),
        "pinned": message.pinned,
        "reactions": reactions(message),
        "buttons": [_button(element, block_id) for element, block_id in elements(body)],
    }
    return row | {key: body[key] for key in ("thread_ts", "metadata", "attachments") if key in body}


def _name(workspace: Workspace, user: str) -> str:
    names = {identity.BOT_USER: identity.BOT_NAME, "USLACKBOT": "Slackbot"}
    person = workspace.people.get(user)
    return person.name if person else names.get(user, user)


def _button(element: dict[str, Any], block_id: str) -> dict[str, Any]:
    label = element.get("text") or element.get("placeholder") or {}
    return {
        "action_id": element["action_id"],
        "block_id": block_id,
        "value": element.get("value", ""),
        "text": label.get("text", ""),
        "style": element.get("style", ""),
        "confirm": element.get("confirm"),
        "type": element["type"],
        "options": [option.get("value") for option in options(element)],
    }
