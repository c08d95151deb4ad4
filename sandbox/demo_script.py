"""The scripted operator of the demo: types the start, answers every question like a person would, reads to the end.

It sees and touches what a person does, the pretend Slack's page; how a run ends it reads from the messages' keys. What
is shown on the terminal is demo_screen.py's matter.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from sandbox.http_client import NoAnswer
from sandbox.people import Button, Message, Person

OPERATOR = "operator-1"
APPROVERS = ("approver-1", "approver-2")
APPROVE = "gm:approve"
THINKING = 1.2  # seconds between reading a card and pressing its button
POLL = 0.2


@dataclass(slots=True)
class Play:
    """One migration as its people see it.

    Attributes:
        cluster: name as typed.
        run: the run's id, "" until its first message is there.
        ended: "" while it goes on; "done" is the one good end, others name the bad one.
    """

    cluster: str
    run: str = ""
    ended: str = ""
    pressed: set[str] = field(default_factory=set)

    def take(self, message: Message) -> None:
        """Learn from one message of the bot."""
        run, _, key = key_of(message).partition("/")
        if not run:
            return
        if not self.run and key == "progress" and self.cluster in message["text"]:
            self.run = run
        if run == self.run:
            self.ended = self.ended or _ending(key)

    def question(self, message: Message) -> Button | None:
        """The approving button of a card of this run that was not pressed yet."""
        if not self.run or key_of(message).partition("/")[0] != self.run:
            return None
        button = next((one for one in message["buttons"] if one["action_id"] == APPROVE), None)
        return button if button is not None and button["value"] not in self.pressed else None


@dataclass(frozen=True, slots=True)
class Screen:
    """Where the conversation is shown. `said`: a new message; `moved`: the living message of a run has changed."""

    said: Callable[[Message], None]
    moved: Callable[[Message], None]
    did: Callable[[str, str], None]


class Operator:
    """Plays migrations through a page, and shows everything that is said meanwhile."""

    def __init__(self, page: str, screen: Screen) -> None:
        self._page = page
        self._screen = screen
        self._seen: dict[str, str] = {}  # ts -> what the message said when it was last shown

    def play(self, clusters: Iterable[str], deadline: float) -> tuple[Play, ...]:
        """Migrate the clusters, one beginning as soon as the last one has its plan; until all ended or `deadline`.

        `deadline` is a moment of time.monotonic(). A play that has not ended then has `ended` "too late".
        """
        plays = tuple(Play(cluster) for cluster in clusters)
        for play in plays:
            self._type(OPERATOR, f"/gpu-migrate start {play.cluster}")
            while not play.run and time.monotonic() < deadline:
                self._look(plays)
        while any(not play.ended for play in plays) and time.monotonic() < deadline:
            self._look(plays)
        for play in plays:
            play.ended = play.ended or "too late"
        return plays

    def report(self, cluster: str) -> None:
        """Ask for the closing report, which only the asking person sees."""
        self._type(OPERATOR, f"/gpu-migrate report {cluster}")
        until = time.monotonic() + 10
        while time.monotonic() < until and not any(m["ephemeral"] for m in self._read()):
            time.sleep(POLL)
        self._look(())

    def _look(self, plays: tuple[Play, ...]) -> None:
        """Read the channel once: show what is new, answer what is asked."""
        for message in self._read():
            for play in plays:
                play.take(message)
            self._show(message)
            for number, play in enumerate(plays):
                if (button := play.question(message)) is not None:
                    self._answer(play, message, button, APPROVERS[number % len(APPROVERS)])
        time.sleep(POLL)

    def _read(self) -> list[Message]:
        try:
            return Person(self._page, OPERATOR).messages()
        except NoAnswer as silence:
            self._screen.did("page", str(silence))
            return []

    def _show(self, message: Message) -> None:
        before, now = self._seen.get(message["ts"]), message["text"]
        self._seen[message["ts"]] = now
        if before is None:
            self._screen.said(message)
        elif before != now and key_of(message).endswith("/progress"):
            self._screen.moved(message)

    def _answer(self, play: Play, message: Message, button: Button, approver: str) -> None:
        time.sleep(THINKING)
        self._screen.did(approver, f"presses [{button['text']}]")
        try:
            Person(self._page, approver).press(message["ts"], button)
        except NoAnswer as refused:
            self._screen.did("Slack", str(refused))  # a person presses again
        else:
            play.pressed.add(button["value"])

    def _type(self, name: str, text: str) -> None:
        self._screen.did(name, text)
        try:
            Person(self._page, name).type(text)
        except NoAnswer as refused:
            self._screen.did("Slack", str(refused))


def key_of(message: Message) -> str:
    """The bot's own key of a message (`run/what`), "" for everybody else's."""
    payload = (message.get("metadata") or {}).get("event_payload") or {}
    return str(payload.get("key", ""))


def _ending(key: str) -> str:
    """How a run ended, as far as one message tells; what is stuck may still go on by itself."""
    return key.removeprefix("note:") if key in ("note:done", "note:aborted") else ""
