"""The pretend Slack's conversation on a terminal: who said what, and where each run stands.

Words come from the messages; nothing is decided here.
"""

import re
from datetime import UTC, datetime
from typing import Any

from rich.console import Console
from rich.markup import escape

from sandbox.demo_script import Screen, key_of
from sandbox.people import Message

BOT_STYLE, PERSON_STYLE, QUIET = "bold cyan", "bold magenta", "dim"
LONGEST = 14  # lines of one message that are shown
_LINK = re.compile(r"<([^<>|]+)\|([^<>]+)>")
_MENTION = re.compile(r"<@([A-Z0-9]+)>")
_DATE = re.compile(r"<!date\^\d+\^[^|>]*\|([^>]*)>")


class Terminal:
    """Prints the conversation; on a real terminal the last line shows where the runs stand."""

    def __init__(self, console: Console, names: dict[str, str]) -> None:
        self._console = console
        self._names = names
        self._standing: dict[str, str] = {}
        self._status = console.status("", spinner="dots") if console.is_terminal else None

    def __enter__(self) -> Screen:
        if self._status is not None:
            self._status.start()
        return Screen(self.said, self.moved, self.did)

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()

    def said(self, message: Message) -> None:
        """Print a new message: its lines, threads indented, buttons in brackets."""
        if key_of(message).endswith("/progress"):
            self.moved(message)
            return
        if not message["bot"]:
            return
        indent = "      " if "thread_ts" in message else "  "
        whom = " (only visible to you)" if message["ephemeral"] else self._cluster(message)
        self._print(f"[{QUIET}]{_clock(message)}[/] [{BOT_STYLE}]{escape(message['name'])}[/][{QUIET}]{whom}[/]")
        for line in self._lines(message):
            self._print(f"{indent}{escape(line)}")
        if message["buttons"]:
            self._print(indent + "  ".join(f"[reverse] {escape(one['text'])} [/]" for one in message["buttons"]))

    def moved(self, message: Message) -> None:
        """Show where a run stands now."""
        text = self._plain(message["text"])
        if self._standing.get(key_of(message)) == text:
            return
        self._standing[key_of(message)] = text
        if self._status is not None:
            room = self._console.width - 6
            rows = (one if len(one) <= room else f"{one[: room - 1]}…" for one in self._standing.values())
            self._status.update("\n  ".join(escape(row) for row in rows))
        else:
            self._print(f"[{QUIET}]{_now()} {escape(text)}[/]")

    def did(self, name: str, what: str) -> None:
        """Print what a person does."""
        self._print(f"[{QUIET}]{_now()}[/] [{PERSON_STYLE}]{escape(name)}[/] {escape(what)}")

    def _cluster(self, message: Message) -> str:
        """Name the cluster a message is about, as the run's living message does."""
        run = key_of(message).partition("/")[0]
        told = self._standing.get(f"{run}/progress", "").partition(":")[0]
        return f" · {told.split()[-1]}" if told else ""

    def _print(self, text: str) -> None:
        self._console.print(text, highlight=False, soft_wrap=True)

    def _lines(self, message: Message) -> list[str]:
        """The text of the blocks as lines; the summary where there are none."""
        texts = [text for block in message["blocks"] if (text := _text(block))]
        lines = [line for text in texts or [message["text"]] for line in self._plain(text).splitlines() if line]
        hidden = len(lines) - LONGEST
        return [*lines[:LONGEST], f"… {hidden} more lines"] if hidden > 1 and not message["ephemeral"] else lines

    def _plain(self, text: str) -> str:
        """Slack's markup as a person would read it."""
        text = _DATE.sub(r"\1", text)
        text = _MENTION.sub(lambda found: f"@{self._names.get(found[1], found[1])}", text)
        text = _LINK.sub(r"\2", text)
        return text.replace("*", "").replace("`", "").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _text(block: dict[str, Any]) -> str:
    """What a header or a section says; small print is left out."""
    if block.get("type") not in ("header", "section"):
        return ""
    return str((block.get("text") or {}).get("text", ""))


def _clock(message: Message) -> str:
    return datetime.fromtimestamp(float(message["ts"]), UTC).strftime("%H:%M:%S")


def _now() -> str:
    return datetime.now(UTC).strftime("%H:%M:%S")
