"""Answers of the API server, and which error of ours a refusal becomes.

A status code that a caller expects (404, 409 …) is a value; only what is left over is raised, by `refuse`. Text reaches
a reason only from a Kubernetes Status object, so that no proxy's HTML page ever gets into a message.
"""

import gc
import json
from dataclasses import dataclass, field
from datetime import timedelta

from bot.adapters.kubernetes.fields import Json, count, message, rows, table, text
from state.errors import GpuMigrateError, OutcomeUnknown, PermanentError, TransientError
from state.reasons import Code, Reason, reason

LARGE = 256 * 1024
LONGEST_WAIT = timedelta(seconds=60)
USUAL_WAIT = timedelta(seconds=5)
LOGIN_WAIT = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer. `body`: {} when it was no JSON object (`readable` tells the two apart)."""

    status: int
    body: Json = field(default_factory=dict)
    readable: bool = True
    retry_after: timedelta | None = None

    @property
    def good(self) -> bool:
        return 200 <= self.status < 300 and self.readable and not _is_failure(self.body)

    @property
    def message(self) -> str:
        return message(self.body, "message") if text(self.body, "kind") == "Status" else ""

    @property
    def causes(self) -> tuple[str, ...]:
        return tuple(text(row, "reason") for row in rows(table(self.body, "details"), "causes"))

    @property
    def wait(self) -> timedelta | None:
        """How long the server asked us to wait, by header or Status, within reason; None when it did not ask."""
        asked = self.retry_after
        if asked is None and (seconds := count(table(self.body, "details"), "retryAfterSeconds")) > 0:
            asked = timedelta(seconds=seconds)
        return None if asked is None else min(asked, LONGEST_WAIT)


def retry_after(value: str | None) -> timedelta | None:
    """Read a Retry-After header in seconds; a date or nonsense counts as not sent."""
    if value is None or not value.strip().isdecimal():
        return None
    return timedelta(seconds=min(int(value.strip()), 86_400))


def parsed(raw: bytes) -> object:
    """Read JSON, None for what is none.

    A page of pods makes so many objects that the collector of cycles would run inside, where there are none to find,
    and double the time that the loop stands still. So it pauses meanwhile.
    """
    pause = len(raw) > LARGE and gc.isenabled()
    if pause:
        gc.disable()
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None
    finally:
        if pause:
            gc.enable()


def refuse(answer: Answer, *, mutating: bool) -> GpuMigrateError:
    """Turn an answer nobody expected into the error to raise."""
    status = _status(answer)
    if status == 401:
        return TransientError(reason(Code.API_LOGIN, status=status), LOGIN_WAIT)
    if status == 429:
        return TransientError(_unreachable(status, answer), answer.wait or USUAL_WAIT)
    if status in (408, 409, 410):
        return TransientError(_refused(status, answer), answer.wait or USUAL_WAIT)
    if status >= 500 or status < 300:
        why = _unreachable(status, answer)
        return OutcomeUnknown(why) if mutating else TransientError(why, answer.wait or USUAL_WAIT)
    return PermanentError(_refused(status, answer))


def _status(answer: Answer) -> int:
    """The code, looking through a Failure that came with a 200."""
    if answer.status < 300 and _is_failure(answer.body):
        return count(answer.body, "code", 500)
    return answer.status


def _is_failure(body: Json) -> bool:
    return body.get("kind") == "Status" and body.get("status") == "Failure"


def _refused(status: int, answer: Answer) -> Reason:
    return reason(Code.API_REFUSED, status=status, message=answer.message)


def _unreachable(status: int, answer: Answer) -> Reason:
    return reason(Code.API_UNREACHABLE, status=status, detail=answer.message or f"HTTP {status}")
