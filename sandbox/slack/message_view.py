"""A stored message as history, clicks and the page show it: with thread counts, pins and reactions."""

from typing import Any

from sandbox.slack.workspace import Channel, Message


def shown(channel: Channel, message: Message, *, metadata: bool) -> dict[str, Any]:
    """The message object; `metadata`: also its metadata, which Slack leaves out unless asked."""
    body = {key: value for key, value in message.body.items() if metadata or key != "metadata"}
    replies = channel.replies(message.ts) if not message.is_reply else []
    if replies:
        users = list(dict.fromkeys(str(m.body.get("user", "")) for m in replies))
        body |= {
            "thread_ts": message.ts,
            "reply_count": len(replies),
            "reply_users_count": len(users),
            "latest_reply": replies[-1].ts,
            "reply_users": users[:5],
            "is_locked": False,
            "subscribed": False,
        }
    if message.reactions:
        body["reactions"] = reactions(message)
    if message.pinned:
        body["pinned_to"] = [channel.id]
    return body


def reactions(message: Message) -> list[dict[str, Any]]:
    return [{"name": name, "users": users, "count": len(users)} for name, users in message.reactions.items()]
