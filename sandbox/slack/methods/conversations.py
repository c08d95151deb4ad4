"""conversations.*: channels, their members and their history, as far as the bot may see them."""

from typing import Any

from sandbox.slack import identity
from sandbox.slack.call import Answer, Call
from sandbox.slack.errors import SlackError
from sandbox.slack.message_view import shown
from sandbox.slack.workspace import Channel

KINDS = ("public_channel", "private_channel", "mpim", "im")
MOST = 1000


def info(call: Call) -> Answer:
    channel = call.channel()
    answer = channel_object(channel)
    if call.flag("include_num_members"):
        answer["num_members"] = len(channel.members)
    return {"channel": answer}


def list_all(call: Call) -> Answer:
    types = [kind.strip() for kind in call.text("types", "public_channel").split(",")]
    if not set(types) <= set(KINDS):
        raise SlackError("invalid_types")
    found = [
        channel_object(channel)
        for channel in call.workspace.channels.values()
        if _kind(channel) in types and not (channel.archived and call.flag("exclude_archived"))
    ]
    page, cursor = _page(call, found)
    return {"channels": page, "response_metadata": {"next_cursor": cursor}}


def join(call: Call) -> Answer:
    channel = call.channel()
    if channel.is_im or channel.private:
        raise SlackError("method_not_supported_for_channel_type")
    if channel.archived:
        raise SlackError("is_archived")
    if channel.has_bot():
        warning = "already_in_channel"
        return {"channel": channel_object(channel), "warning": warning, "response_metadata": {"warnings": [warning]}}
    channel.members.append(identity.BOT_USER)
    call.workspace.tell({"type": "channel", "channel": channel.id, "ts": ""})
    return {"channel": channel_object(channel)}


def open_direct(call: Call) -> Answer:
    """Only direct messages with one person; groups of several are not part of this workspace."""
    users = [user for user in call.text("users").split(",") if user]
    if call.text("channel"):
        users = [call.channel().person]
    if not users:
        raise SlackError("users_list_not_supplied")
    if len(users) > 1:
        raise SlackError("too_many_users")
    person = call.workspace.people.get(users[0])
    if person is None:
        raise SlackError("user_not_found")
    if person.role == "deactivated":
        raise SlackError("user_disabled")
    known = f"D{person.id[1:]}" in call.workspace.channels
    channel = call.workspace.direct(person.id)
    answer = channel_object(channel) if call.flag("return_im") else {"id": channel.id}
    return {"channel": answer, "no_op": True, "already_open": True} if known else {"channel": answer}


def members(call: Call) -> Answer:
    page, cursor = _page(call, list(call.channel().members))
    return {"members": page, "response_metadata": {"next_cursor": cursor}}


def history(call: Call) -> Answer:
    """Newest first, answers in threads left out, as Slack does."""
    channel = _readable(call)
    public = [m for m in channel.messages.values() if not m.deleted and not m.only_for and m.in_channel]
    chosen = [m for m in reversed(public) if _within(call, m.ts)]
    page, cursor = _page(call, [shown(channel, m, metadata=call.flag("include_all_metadata")) for m in chosen])
    answer: Answer = {"messages": page, "has_more": bool(cursor), "pin_count": sum(m.pinned for m in public)}
    return {**answer, "response_metadata": {"next_cursor": cursor}} if cursor else answer


def replies(call: Call) -> Answer:
    """The message that began the thread, then its answers, oldest first."""
    channel = _readable(call)
    parent = call.message(channel, error="thread_not_found")
    found = [parent, *(m for m in channel.replies(parent.ts) if _within(call, m.ts))]
    page, cursor = _page(call, [shown(channel, m, metadata=call.flag("include_all_metadata")) for m in found])
    answer: Answer = {"messages": page, "has_more": bool(cursor)}
    return {**answer, "response_metadata": {"next_cursor": cursor}} if cursor else answer


def channel_object(channel: Channel) -> dict[str, Any]:
    common: dict[str, Any] = {
        "id": channel.id,
        "created": channel.created,
        "is_archived": channel.archived,
        "is_im": channel.is_im,
        "is_org_shared": False,
        "context_team_id": identity.TEAM_ID,
        "updated": channel.created * 1000,
    }
    if channel.is_im:
        return {**common, "user": channel.person, "priority": 0}
    empty = {"value": "", "creator": "", "last_set": 0}
    return {
        **common,
        "name": channel.name,
        "name_normalized": channel.name,
        "is_channel": not channel.private,
        "is_group": channel.private,
        "is_mpim": False,
        "is_private": channel.private,
        "is_general": False,
        "is_shared": False,
        "is_ext_shared": False,
        "is_pending_ext_shared": False,
        "pending_shared": [],
        "shared_team_ids": [identity.TEAM_ID],
        "pending_connected_team_ids": [],
        "unlinked": 0,
        "creator": channel.members[0],
        "is_member": channel.has_bot(),
        "topic": {**empty, "value": channel.topic},
        "purpose": empty,
        "previous_names": [],
    }


def _kind(channel: Channel) -> str:
    if channel.is_im:
        return "im"
    return "private_channel" if channel.private else "public_channel"


def _readable(call: Call) -> Channel:
    channel = call.channel()
    if not channel.has_bot():
        raise SlackError("not_in_channel" if call.method == "conversations.history" else "channel_not_found")
    return channel


def _within(call: Call, ts: str) -> bool:
    """Between `oldest` and `latest`, which belong to it only with `inclusive`."""
    oldest, latest = call.text("oldest", "0"), call.text("latest") or "9" * 10
    try:
        low, high, at = float(oldest), float(latest), float(ts)
    except ValueError as exc:
        raise SlackError("invalid_ts_oldest" if not _is_number(oldest) else "invalid_ts_latest") from exc
    return low <= at <= high if call.flag("inclusive") else low < at < high


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdecimal()


def _page(call: Call, rows: list[Any]) -> tuple[list[Any], str]:
    """One page of rows and the cursor of the next, "" at the end."""
    limit = min(call.number("limit", 100) or 100, MOST)
    cursor = call.text("cursor", "0") or "0"
    if not cursor.isdecimal():
        raise SlackError("invalid_cursor")
    start = int(cursor)
    end = start + limit
    return rows[start:end], str(end) if end < len(rows) else ""


METHODS = {
    "conversations.info": info,
    "conversations.list": list_all,
    "conversations.join": join,
    "conversations.open": open_direct,
    "conversations.members": members,
    "conversations.history": history,
    "conversations.replies": replies,
}
