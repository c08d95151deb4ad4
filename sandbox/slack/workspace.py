"""Everything the pretend workspace remembers: people, channels, messages, views, and who wants to hear of changes.

No HTTP and no rules about who may do what enter this module; methods and page share it.
"""

import asyncio
import itertools
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sandbox.scenario import Person, Scenario
from sandbox.slack import identity
from sandbox.slack.views import Views

KEPT_VERSIONS = 20


@dataclass(slots=True)
class Message:
    """One message.

    Attributes:
        body: Slack's message object (type, user, text, blocks, ts …).
        only_for: user id of the one person who sees it; "" for everybody.
        versions: earlier bodies, newest last, for clicks on a card that has changed since.
        reactions: emoji name -> user ids, in order.
        deleted: hidden from everybody, kept so that its ts stays taken.
    """

    body: dict[str, Any]
    only_for: str = ""
    versions: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=KEPT_VERSIONS))
    pinned: bool = False
    reactions: dict[str, list[str]] = field(default_factory=dict)
    deleted: bool = False

    @property
    def ts(self) -> str:
        return str(self.body["ts"])

    @property
    def thread(self) -> str:
        """The ts of the thread it stands in, its own when it starts one, "" outside threads."""
        return str(self.body.get("thread_ts", ""))

    @property
    def is_reply(self) -> bool:
        return self.thread not in ("", self.ts)

    @property
    def in_channel(self) -> bool:
        """Whether the channel itself shows it, not only a thread."""
        return not self.is_reply or self.body.get("subtype") == "thread_broadcast"


@dataclass(slots=True)
class Channel:
    """A channel, or with `person` set the direct messages between that person and the bot."""

    id: str
    name: str
    members: list[str]
    created: int
    person: str = ""
    private: bool = False
    archived: bool = False
    topic: str = ""
    messages: dict[str, Message] = field(default_factory=dict)

    @property
    def is_im(self) -> bool:
        return bool(self.person)

    def has_bot(self) -> bool:
        return identity.BOT_USER in self.members

    def public(self, ts: str) -> Message | None:
        """The message everybody sees under `ts`; None for unknown, deleted and ephemeral ones."""
        message = self.messages.get(ts)
        return None if message is None or message.deleted or message.only_for else message

    def replies(self, ts: str) -> list[Message]:
        """The visible answers in the thread of `ts`, oldest first."""
        found = [m for m in self.messages.values() if m.is_reply and m.thread == ts]
        return [m for m in found if not m.deleted and not m.only_for]


class Workspace:
    """The state of one workspace, and the clock that gives out its timestamps."""

    def __init__(self, scenario: Scenario) -> None:
        self.created = int(time.time())
        self.people: dict[str, Person] = {person.id: person for person in scenario.people}
        members = [*self.people, identity.BOT_USER]
        home = Channel(identity.HOME_CHANNEL, scenario.channel, members, self.created, topic="GPU cluster migrations")
        other = Channel(identity.OTHER_CHANNEL, "random", list(self.people), self.created, topic="Anything else")
        self.channels: dict[str, Channel] = {home.id: home, other.id: other}
        self.views = Views()
        self.scopes = set(identity.SCOPES)
        self._subscribers: set[asyncio.Queue[dict[str, Any]]] = set()
        self._last_ts = 0
        self._ids = itertools.count(1)

    def next_ts(self) -> str:
        """A timestamp no message has had: seconds with six digits, as Slack writes it."""
        self._last_ts = max(self._last_ts + 1, time.time_ns() // 1000)
        return f"{self._last_ts // 1_000_000}.{self._last_ts % 1_000_000:06d}"

    def next_id(self, prefix: str) -> str:
        """An id like Slack's: a letter for the kind, then ten upper-case characters."""
        return f"{prefix}{next(self._ids):010X}"

    def person(self, text: str) -> Person | None:
        """Find a person by id or name; "" is the first person of the scenario."""
        if not text:
            return next(iter(self.people.values()), None)
        wanted = text.removeprefix("@")
        return next((p for p in self.people.values() if wanted in (p.id, p.name)), None)

    def channel(self, text: str) -> Channel | None:
        """Find a channel by id or name, with or without "#"; "" is the bot's home channel, "@name" a person's."""
        if not text:
            return self.channels[identity.HOME_CHANNEL]
        if text.startswith("@"):
            person = self.person(text)
            return None if person is None else self.direct(person.id)
        wanted = text.removeprefix("#")
        return next((c for c in self.channels.values() if c.id == wanted or (c.name == wanted and not c.is_im)), None)

    def direct(self, user: str) -> Channel:
        """The direct messages of `user` with the bot, opened when there are none yet."""
        channel_id = "D" + user[1:]
        if channel_id not in self.channels:
            both = [user, identity.BOT_USER]
            self.channels[channel_id] = Channel(channel_id, "directmessage", both, int(time.time()), person=user)
            self.tell({"type": "channel", "channel": channel_id, "ts": "", "user": user})
        return self.channels[channel_id]

    def add(self, channel: Channel, body: dict[str, Any], only_for: str = "") -> Message:
        """Append a message under a new ts and tell the pages."""
        message = Message({**body, "ts": self.next_ts()}, only_for)
        channel.messages[message.ts] = message
        self.note("message", channel, message)
        return message

    def change(self, channel: Channel, message: Message, **keys: Any) -> None:
        """Replace keys of a message, remembering how it stood before, and tell the pages."""
        message.versions.append(dict(message.body))
        message.body.update(keys)
        self.note("changed", channel, message)

    def delete(self, channel: Channel, message: Message) -> None:
        message.deleted = True
        self.note("deleted", channel, message)

    def note(self, kind: str, channel: Channel, message: Message) -> None:
        event = {"type": kind, "channel": channel.id, "ts": message.ts}
        self.tell({**event, "user": message.only_for} if message.only_for else event)

    def tell(self, event: dict[str, Any]) -> None:
        """Hand one event to every open page; a page that does not read loses events, never the workspace's time."""
        for queue in self._subscribers:
            if not queue.full():
                queue.put_nowait(event)

    @contextmanager
    def subscribed(self) -> Iterator[asyncio.Queue[dict[str, Any]]]:
        queue: asyncio.Queue[dict[str, Any]] = asyncio.Queue(maxsize=1000)
        self._subscribers.add(queue)
        try:
            yield queue
        finally:
            self._subscribers.discard(queue)
