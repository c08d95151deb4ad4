"""Judge what IKS answered: accepted, refused, refused for now, or nobody knows.

IKS's bodies are JSON with code, description and incidentID; a gateway before it answers HTML, plain text or nothing.
HTML is nobody's word on the call: it makes a read worth repeating and a mutating call's outcome unknown (B043).
No HTML and no body longer than a sentence leaves this module.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from bot.adapters.iks.json_fields import dig, rows, text
from state.errors import GpuMigrateError, OutcomeUnknown, PermanentError, TransientError
from state.reasons import Code, Fact, Reason

LONGEST = 400
NO_CLUSTER = ("G0004", "E0008")
BUSY = ("Ef9cc", "E1437")  # master not in deployed state (B041); pool operations pending (B046)
BUSY_DELAY = timedelta(seconds=30)
LONGEST_DELAY = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer. `order`: whether the call was a mutating one. `subject`: cluster the call was about."""

    status: int
    body: bytes
    order: bool
    content_type: str = ""
    subject: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_html(self) -> bool:
        return "html" in self.content_type.lower() or self.body.lstrip()[:1] == b"<"

    @property
    def accepted(self) -> bool:
        return 200 <= self.status < 300 and not self.is_html

    def json(self) -> Any:
        """The decoded body; None when it is none."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None


@dataclass(frozen=True, slots=True)
class Complaint:
    """What an error body says."""

    code: str
    message: str
    incident: str


def complaint(answer: Answer) -> Complaint:
    """Read an error body of any of the shapes seen (one error, `items`, `errors`, a platform's `message`, text)."""
    body = answer.json()
    if not isinstance(body, Mapping):
        plain = "" if answer.is_html or body is not None else answer.body.decode("utf-8", "replace")
        return Complaint("", sentence(plain), "")
    entries = rows(body, "items") or rows(body, "errors") or (body,)
    code = next((found for entry in entries if (found := _first(entry, "code", "errorCode"))), "")
    told = [_first(entry, "description", "errorMessage", "message", "terseDescription") for entry in entries]
    incident = _first(body, "incidentID", "incidentId") or _first(entries[0], "incidentID")
    return Complaint(sentence(code), sentence(" ".join(filter(None, told))), sentence(incident))


def failure(answer: Answer) -> GpuMigrateError:
    """Make the error of an answer that is not accepted."""
    said = complaint(answer)
    facts: dict[str, Fact] = {
        "status": answer.status,
        "code": said.code,
        "message": said.message,
        "incident": said.incident,
    }
    if answer.status == 429:
        return TransientError(Reason(Code.IKS_BUSY, facts), retry_after(answer.headers))
    if answer.is_html or answer.status >= 500 or answer.status < 400 or answer.status == 408:
        return lost(answer, said)
    if answer.status == 401:
        return PermanentError(Reason(Code.IKS_LOGIN, {"code": said.code or "401", "message": said.message}))
    if answer.status == 404 and said.code in NO_CLUSTER:
        return PermanentError(Reason(Code.CLUSTER_NOT_FOUND, {"cluster": answer.subject, **facts}))
    if answer.status == 409 or (answer.status == 400 and said.code in BUSY):
        return TransientError(Reason(Code.IKS_BUSY, facts), BUSY_DELAY)
    return PermanentError(Reason(Code.IKS_REFUSED, facts))


def lost(answer: Answer, said: Complaint) -> GpuMigrateError:
    """The service, or something before it, failed: reads may be repeated, orders have to be looked for."""
    words = (said.code, said.message or ("a web page instead of an answer" if answer.is_html else ""))
    incident = f"(incident {said.incident})" if said.incident else ""
    detail = " ".join(filter(None, (*words, incident)))
    why = Reason(Code.IKS_UNREACHABLE, {"status": answer.status, "detail": detail})
    return OutcomeUnknown(why) if answer.order else TransientError(why, retry_after(answer.headers, 5))


def retry_after(headers: Mapping[str, str], otherwise: float = 10) -> timedelta:
    """How long we are asked to wait: Retry-After in seconds or as a date; `otherwise` seconds when not told."""
    told = next((value.strip() for name, value in headers.items() if name.lower() == "retry-after"), "")
    delay = timedelta(seconds=otherwise)
    if told.isascii() and told.isdigit():
        delay = timedelta(seconds=min(int(told), LONGEST_DELAY.total_seconds()))
    elif told:
        delay = _until(told) or delay
    return min(max(delay, timedelta(0)), LONGEST_DELAY)


def sentence(words: str) -> str:
    """One printable line of bounded length."""
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in words).split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _until(date: str) -> timedelta | None:
    try:
        then = parsedate_to_datetime(date)
    except ValueError:
        return None
    return (then if then.tzinfo else then.replace(tzinfo=UTC)) - datetime.now(UTC)


def _first(row: Any, *names: str) -> str:
    return next((found for name in names if not isinstance(dig(row, name), Mapping) and (found := text(row, name))), "")
