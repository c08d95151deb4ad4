"""What Slack hands out with a command or a click: a trigger id (3 s, once) and a response_url (5 posts, 30 min).

Source: docs.slack.dev, "Handling user interaction"; the numbers are Slack's and never scaled by the world's speed.
"""

import itertools
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from sandbox.slack import identity
from sandbox.slack.errors import SlackError

TRIGGER_LIFE = 3.0
RESPONSE_LIFE = 1800.0
RESPONSE_POSTS = 5


@dataclass(slots=True)
class Trigger:
    """`view_id`: the modal it came from, "" for a message or a command."""

    user: str
    until: float
    view_id: str = ""
    used: bool = False


@dataclass(slots=True)
class ResponseUrl:
    """Where an app may answer one interaction. `ts`: the message it came from, "" for a command."""

    user: str
    channel: str
    ts: str
    until: float
    thread: str = ""
    posts: int = 0


class Triggers:
    """All trigger ids and response URLs given out."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._triggers: dict[str, Trigger] = {}
        self._urls: dict[str, ResponseUrl] = {}
        self._numbers = itertools.count(100_000_000_000)

    def issue(self, user: str, view_id: str = "", life: float = TRIGGER_LIFE) -> str:
        """A trigger id for one interaction of `user`."""
        trigger_id = f"{next(self._numbers)}.{next(self._numbers)}.{secrets.token_hex(16)}"
        self._triggers[trigger_id] = Trigger(user, self._clock() + life, view_id)
        return trigger_id

    def spend(self, trigger_id: str) -> Trigger:
        """Use a trigger id up. Raises invalid_, exchanged_ or expired_trigger_id."""
        trigger = self._triggers.get(trigger_id)
        if trigger is None:
            raise SlackError("invalid_trigger_id")
        if trigger.used:
            raise SlackError("exchanged_trigger_id")
        if self._clock() > trigger.until:
            raise SlackError("expired_trigger_id")
        trigger.used = True
        return trigger

    def response_path(self, user: str, channel: str, ts: str = "", thread: str = "") -> str:
        """Path of a new response URL, below the server's root."""
        secret = secrets.token_urlsafe(18)
        self._urls[secret] = ResponseUrl(user, channel, ts, self._clock() + RESPONSE_LIFE, thread)
        return f"/{'actions' if ts else 'commands'}/{identity.TEAM_ID}/{next(self._numbers)}/{secret}"

    def answer(self, secret: str) -> ResponseUrl:
        """Count one post to a response URL. Raises expired_url or used_url."""
        url = self._urls.get(secret)
        if url is None or self._clock() > url.until:
            raise SlackError("expired_url")
        if url.posts >= RESPONSE_POSTS:
            raise SlackError("used_url")
        url.posts += 1
        return url
