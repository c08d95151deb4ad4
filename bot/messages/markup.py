"""Make text that others wrote harmless in Slack's mrkdwn, and spell people, channels, times and lists.

Whatever came from a cluster, IKS, Helm or a person goes through `harmless` and stands in a code span: no mention, no
link, no bold survives there. Nothing here knows a reason or a run.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime

FOREIGN_TEXT = 300  # characters of one foreign text in a message
LISTED = 8  # names in a list before "… and n more"

_USER = re.compile(r"^[UW][A-Z0-9]{2,}$")
_CHANNEL = re.compile(r"^[CG][A-Z0-9]{2,}$")


def harmless(text: str, limit: int = FOREIGN_TEXT) -> str:
    """One line of at most `limit` characters without control characters, backticks and live markup."""
    head = text[: limit * 4]
    visible = head if head.isprintable() else "".join(char if char.isprintable() else " " for char in head)
    line = " ".join(visible.split()).replace("`", "'")
    return escaped(cut(line, limit))


def escaped(text: str) -> str:
    """Slack's three control characters as entities, so that `<!channel>` stays text."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def cut(text: str, limit: int) -> str:
    """Text of at most `limit` characters; an ellipsis says that there was more."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def code(text: str) -> str:
    """A code span, "" for nothing."""
    inner = harmless(text)
    return f"`{inner}`" if inner else ""


def user(text: str) -> str:
    """A mention of a Slack user id; any other text as a code span."""
    return f"<@{text}>" if _USER.match(text) else code(text)


def channel(text: str) -> str:
    """A link to a Slack channel id; any other text as a code span."""
    return f"<#{text}>" if _CHANNEL.match(text) else code(text)


def listed(items: Iterable[str], more: str, most: int = LISTED) -> str:
    """Code spans joined by comma; what is over `most` is counted. `more`: "… and {count} more" of the language."""
    names = [code(item) for item in items if item.strip()]
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} {more.format(count=len(names) - most)}"


def moment(at: datetime) -> str:
    """A moment in the reader's own time zone; UTC where Slack cannot convert."""
    utc = at.astimezone(UTC)
    return f"<!date^{int(utc.timestamp())}^{{date_short_pretty}} {{time}}|{utc:%Y-%m-%d %H:%M} UTC>"


def clock_time(at: datetime) -> str:
    """A moment of today, without its date."""
    utc = at.astimezone(UTC)
    return f"<!date^{int(utc.timestamp())}^{{time}}|{utc:%H:%M} UTC>"
