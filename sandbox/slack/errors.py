"""How Slack says no: HTTP 200 with `ok: false` and a string from the method's documented list."""

from collections.abc import Iterable
from typing import Any

DEEPEST = 60


class SlackError(Exception):
    """A refusal on its merits.

    Attributes:
        error: Slack's error string.
        extra: further keys of the answer, such as `needed` or `response_metadata`.
    """

    def __init__(self, error: str, **extra: Any) -> None:
        super().__init__(error)
        self.error = error
        self.extra = extra

    def answer(self) -> dict[str, Any]:
        return {"ok": False, "error": self.error, **self.extra}


def explained(error: str, *messages: str) -> SlackError:
    """A refusal whose `response_metadata.messages` name the faults, as Slack does for arguments and blocks."""
    lines = [f"[ERROR] {message}" for message in messages]
    return SlackError(error, errors=list(messages), response_metadata={"messages": lines})


def refuse_deep(value: Any) -> None:
    """Refuse JSON nested so deeply that everything which walks along it would fail. Raises invalid_arguments."""
    layer = [value]
    for _ in range(DEEPEST):
        layer = [inner for outer in layer for inner in _inside(outer)]
        if not layer:
            return
    raise explained("invalid_arguments", "nested too deeply")


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
