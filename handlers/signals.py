"""Read Slack's payloads without trusting their shape: who spoke, where, what was pressed, and the signal's natural id.

Missing or odd fields become "", so that whoever judges them refuses; nothing here raises.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from state.events import Person

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Signal:
    """One command or click. `id`: by it the inbox takes the signal once."""

    id: str
    by: Person
    at: datetime


@dataclass(frozen=True, slots=True)
class Click:
    """A pressed button of a card. `run_id` is the approval's id up to its last colon."""

    action_id: str
    approval: str
    revision: int

    @property
    def run_id(self) -> str:
        return self.approval.rpartition(":")[0]


def signal(body: Body, at: datetime) -> Signal:
    return Signal(natural_id(body), speaker(body), at)


def speaker(body: Body) -> Person:
    """Who typed or clicked, and where only they can be answered."""
    user = _text(body, "user", "id") or _text(body, "user_id")
    channel = _text(body, "channel", "id") or _text(body, "channel_id") or _text(body, "container", "channel_id")
    return Person(user, next(iter(teams(body)), ""), channel)


def teams(body: Body) -> tuple[str, ...]:
    """All team ids that the payload names for the speaker: their own first, then the workspace it came from."""
    found = (_text(body, "user", "team_id"), _text(body, "team_id"), _text(body, "team", "id"))
    return tuple(dict.fromkeys(team for team in found if team))


def is_bot_or_guest(body: Body) -> bool:
    """Whether the payload says that no full member of a workspace spoke."""
    user = body.get("user")
    flags = ("is_bot", "is_stranger", "is_restricted", "is_ultra_restricted", "deleted")
    return bool(body.get("bot_id")) or (isinstance(user, Mapping) and any(user.get(flag) is True for flag in flags))


def natural_id(body: Body) -> str:
    """The trigger id; without one, what makes a click or a command unique: a second delivery is equal to the first."""
    if trigger := _text(body, "trigger_id"):
        return trigger
    action = _first(body)
    parts = (_text(body, "container", "message_ts"), _text(body, "user", "id"), _text(action, "action_ts"))
    if all(parts):
        return ":".join(parts)
    return hashlib.sha256(json.dumps(body, sort_keys=True, default=str).encode()).hexdigest()[:32]


def clicked(body: Body) -> Click | None:
    """The pressed button; None when its value is not one of ours. One press carries exactly one action."""
    action = _first(body)
    approval, _, revision = _text(action, "value").rpartition("#")
    run_id, colon, number = approval.rpartition(":")
    plain = revision.isascii() and revision.isdigit() and len(revision) <= 9
    if not (run_id and colon and number and plain):
        return None
    return Click(_text(action, "action_id"), approval, int(revision))


def _first(body: Body) -> Body:
    actions = body.get("actions")
    one = actions[0] if isinstance(actions, list) and len(actions) == 1 else {}
    return one if isinstance(one, Mapping) else {}


def _text(body: Body, *path: str) -> str:
    """The string at a path; "" when anything on the way is missing or of another kind."""
    value: object = body
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value.strip() if isinstance(value, str) else ""
