"""One Web API call as the methods see it: arguments already parsed, the caller already known.

Coercion of form strings and JSON happens here, once; what a method means stays in its own module.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from sandbox.slack.errors import SlackError, explained, refuse_deep
from sandbox.slack.interactivity import Triggers
from sandbox.slack.workspace import Channel, Message, Workspace

Answer: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """One call. `base`: scheme and host the app reached us by, for URLs in answers."""

    method: str
    args: dict[str, Any]
    workspace: Workspace
    triggers: Triggers
    base: str

    def text(self, name: str, default: str = "") -> str:
        value = self.args.get(name)
        return default if value is None else str(value)

    def flag(self, name: str) -> bool:
        return str(self.args.get(name, "")).lower() in ("1", "true")

    def number(self, name: str, default: int) -> int:
        raw = self.text(name, str(default))
        if not raw.isdecimal():
            raise explained("invalid_arguments", f"must be an integer [json-pointer:/{name}]")
        return int(raw)

    def parsed(self, name: str, error: str = "invalid_arguments") -> Any:
        """A structured argument: already an object in JSON bodies, a JSON string in forms; None when left out."""
        value = self.args.get(name)
        if not isinstance(value, str):
            return value
        if not value.strip():
            return None
        try:
            parsed = json.loads(value)
        except (ValueError, RecursionError) as exc:
            raise SlackError(error) from exc
        refuse_deep(parsed)
        return parsed

    def channel(self, name: str = "channel") -> Channel:
        """The channel an argument names by id (or by "#name"); a person's id is their direct messages."""
        wanted = self.text(name)
        if wanted in self.workspace.people:
            return self.workspace.direct(wanted)
        known = self.workspace.channels.get(wanted)
        if known is None and wanted.startswith("#"):
            known = self.workspace.channel(wanted)
        if known is None or (known.private and not known.has_bot()):
            raise SlackError("channel_not_found")
        return known

    def message(self, channel: Channel, name: str = "ts", error: str = "message_not_found") -> Message:
        found = channel.public(self.text(name))
        if found is None:
            raise SlackError(error)
        return found


Method: TypeAlias = Callable[[Call], Answer]
