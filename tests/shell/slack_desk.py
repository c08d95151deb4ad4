"""Slack that loses answers, refuses rewrites and forgets nothing that was asked of it; and a run with things to tell."""

from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.messages import Words
from bot.ports import Place
from bot.telling import PROGRESS, Teller
from handlers.ports import Message
from state.errors import GpuMigrateError, OutcomeUnknown, PermanentError, TransientError
from state.events import Observed
from state.machine import transition
from state.reasons import Code, reason
from state.run import Note, Run
from tests.builders import START, run, two_workers
from tests.shell.journal import MemoryStore
from tests.shell.ports import MemoryChat, World, WorldClock

GONE = PermanentError(reason(Code.SLACK_REFUSED, error="message_not_found"))
LOST = OutcomeUnknown(reason(Code.SLACK_UNREACHABLE, error="timeout"))
AWAY = TransientError(reason(Code.SLACK_UNREACHABLE, error="service_unavailable"))


@dataclass
class Slack(MemoryChat):
    """`loses`: keys whose next post arrives without an answer; `refuses`: what rewriting a key raises."""

    loses: list[str] = field(default_factory=list)
    away: list[str] = field(default_factory=list)
    refuses: dict[str, GpuMigrateError] = field(default_factory=dict)
    threads: dict[str, str] = field(default_factory=dict)
    rewrites: list[str] = field(default_factory=list)
    searched: list[tuple[str, str, datetime | None]] = field(default_factory=list)
    shown: dict[str, Message] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__()

    async def post(self, channel: str, message: Message, *, key: str, thread: str = "") -> Place:
        if key in self.away:
            self.away.remove(key)
            raise AWAY
        place = await super().post(channel, message, key=key, thread=thread)
        self.threads[key] = thread
        self.shown[key] = message
        if key in self.loses:
            self.loses.remove(key)
            raise LOST
        return place

    async def update(self, place: Place, message: Message, *, key: str) -> None:
        if key in self.refuses:
            raise self.refuses.pop(key)
        self.rewrites.append(key)
        self.shown[key] = message
        await super().update(place, message, key=key)

    async def find(self, channel: str, key: str, *, thread: str = "", since: datetime | None = None) -> Place | None:
        self.searched.append((key, thread, since))
        return await super().find(channel, key, thread=thread, since=since)


def planned() -> Run:
    """Its plan is asked for, and one thing happened since."""
    found = transition(run(), Observed(START, two_workers())).run
    ready = reason(Code.NODE_READY, worker="w1", node="10.240.0.64", version="v1.36.0")
    return replace(found, notes=(Note("node:w1", START, ready),))


CARD, NEWS, ROOT = "r-1/card:r-1:1", "r-1/note:node:w1", f"r-1/{PROGRESS}"


@dataclass
class Desk:
    slack: Slack = field(default_factory=Slack)
    store: MemoryStore = field(default_factory=MemoryStore)

    @property
    def teller(self) -> Teller:
        """As a new process would have it."""
        return Teller(self.slack, self.store, Words(), WorldClock(World(two_workers())))
