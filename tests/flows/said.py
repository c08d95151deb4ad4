"""What the bot said in the pretend Slack, as it sent it; from the world's journal."""

from collections.abc import Iterable
from typing import Any

from tests.sandbox.blockcheck.check import problems

Row = dict[str, Any]
METHODS = ("chat.postMessage", "chat.update", "chat.postEphemeral")


def sent(journal: Iterable[Row], *methods: str) -> list[Row]:
    """Arguments of the bot's calls of these methods."""
    rows = (row for row in journal if row["system"] == "slack" and row["verb"] in (methods or METHODS))
    return [row["request"]["args"] for row in rows]


def answers(journal: Iterable[Row]) -> list[Row]:
    """What commands were answered with at once."""
    rows = (row for row in journal if row["system"] == "slack" and row["verb"] == "type")
    return [row["effect"]["ack"] for row in rows if row["effect"].get("ack")]


def refused_by_slack(journal: Iterable[Row]) -> dict[str, tuple[str, ...]]:
    """Messages that break a rule of Slack's, by their text, with what is wrong."""
    rows = tuple(journal)
    return {
        str(message.get("text")): found for message in (*sent(rows), *answers(rows)) if (found := problems(message))
    }
