"""chat.*: post, update, delete, show to one person, link. Everything is done as the bot."""

from typing import Any

from sandbox.slack import identity
from sandbox.slack.blocks import MESSAGE_TEXT
from sandbox.slack.call import Answer, Call
from sandbox.slack.content import Content, bot_message, checked, checked_metadata
from sandbox.slack.errors import SlackError
from sandbox.slack.workspace import Channel, Message


def post_message(call: Call) -> Answer:
    channel = _writable(call)
    content = _content(call)
    if content.empty:
        raise SlackError("no_text")
    body = bot_message(content) | _thread(call, channel)
    if call.flag("reply_broadcast") and "thread_ts" in body:
        body["subtype"] = "thread_broadcast"
    metadata = checked_metadata(call.parsed("metadata", "invalid_metadata_format"))
    if metadata:
        body["metadata"] = metadata
    message = call.workspace.add(channel, body)
    return {"channel": channel.id, "ts": message.ts, "message": dict(message.body)}


def post_ephemeral(call: Call) -> Answer:
    channel = _writable(call)
    content = _content(call)
    if content.empty:
        raise SlackError("no_text")
    _refuse_long(content)
    user = call.text("user")
    if user not in channel.members:
        raise SlackError("user_not_in_channel")
    message = call.workspace.add(channel, bot_message(content) | _thread(call, channel), only_for=user)
    return {"message_ts": message.ts}


def update(call: Call) -> Answer:
    """Left-out blocks, attachments and metadata stay; empty ones go (docs.slack.dev, chat.update)."""
    channel = call.channel()
    message = _own(call, channel, "cant_update_message")
    content = _content(call)
    metadata = checked_metadata(call.parsed("metadata", "invalid_metadata_format"))
    if content.empty and content.blocks is None:
        raise SlackError("no_text")
    _refuse_long(content)
    keys: dict[str, Any] = content.keys()
    if metadata is not None:
        keys["metadata"] = metadata
    edited = {"user": identity.BOT_USER, "ts": call.workspace.next_ts()}
    call.workspace.change(channel, message, **keys, edited=edited)
    for name in ("blocks", "attachments", "metadata"):
        if not message.body.get(name, True):
            del message.body[name]
    shown = {key: value for key, value in message.body.items() if key not in ("ts", "thread_ts", "parent_user_id")}
    return {"channel": channel.id, "ts": message.ts, "text": message.body["text"], "message": shown}


def delete(call: Call) -> Answer:
    channel = call.channel()
    message = _own(call, channel, "cant_delete_message")
    call.workspace.delete(channel, message)
    return {"channel": channel.id, "ts": message.ts}


def get_permalink(call: Call) -> Answer:
    channel = call.channel()
    message = call.message(channel, "message_ts")
    link = f"{call.base}/archives/{channel.id}/p{message.ts.replace('.', '')}"
    if message.is_reply:
        link += f"?thread_ts={message.thread}&cid={channel.id}"
    return {"channel": channel.id, "permalink": link}


def _writable(call: Call) -> Channel:
    channel = call.channel()
    if channel.archived:
        raise SlackError("is_archived")
    if not channel.has_bot():
        raise SlackError("not_in_channel")
    return channel


def _content(call: Call) -> Content:
    return checked(
        call.args.get("text", call.args.get("markdown_text")),
        call.parsed("blocks", "invalid_blocks_format"),
        call.parsed("attachments", "invalid_arguments"),
    )


def _refuse_long(content: Content) -> None:
    if len(content.text or "") > MESSAGE_TEXT:
        raise SlackError("msg_too_long")


def _own(call: Call, channel: Channel, error: str) -> Message:
    message = call.message(channel)
    if message.body.get("bot_id") != identity.BOT_ID:
        raise SlackError(error)
    return message


def _thread(call: Call, channel: Channel) -> dict[str, Any]:
    """Keys that put a message into a thread; answering an answer lands in the same thread."""
    wanted = call.text("thread_ts")
    if not wanted:
        return {}
    parent = channel.public(wanted)
    if parent is not None and parent.is_reply:
        parent = channel.public(parent.thread)
    if parent is None:
        raise SlackError("cannot_reply_to_message")
    parent.body["thread_ts"] = parent.ts
    return {"thread_ts": parent.ts, "parent_user_id": parent.body["user"]}


METHODS = {
    "chat.postMessage": post_message,
    "chat.postEphemeral": post_ephemeral,
    "chat.update": update,
    "chat.delete": delete,
    "chat.getPermalink": get_permalink,
}
