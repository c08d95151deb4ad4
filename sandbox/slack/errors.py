"""How Slack says no: HTTP 200 with `ok: false` and a string from the method's documented list."""

from typing import Any


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
