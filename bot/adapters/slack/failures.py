"""Slack's errors in our words.

Slack says no with HTTP 200 and `ok: false`; only limits and outages show in the status. Error strings: the method pages of
docs.slack.dev. Which of our errors it becomes depends on what a lost answer means for the call (`Effect`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError

from state.errors import GpuMigrateError, OutcomeUnknown, PermanentError, TransientError
from state.reasons import Code, reason


class Effect(StrEnum):
    """What repeating a call does."""

    NONE = "none"  # reads, and rewrites of one message: the last one wins
    ANOTHER = "another"  # a second message: look before repeating


LIMITED = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})
PASSING = frozenset(
    {"fatal_error", "internal_error", "service_unavailable", "request_timeout", "team_added_to_org", "team_not_ready"}
)
CONTENT = frozenset(
    {
        "invalid_blocks",
        "invalid_blocks_format",
        "msg_too_long",
        "msg_blocks_too_long",
        "no_text",
        "invalid_metadata_format",
        "invalid_metadata_schema",
        "metadata_too_large",
        "invalid_arguments",
    }
)
"""The message itself is at fault: ours. The same one would be refused again."""

NO_ACCESS = frozenset(
    {
        "token_revoked",
        "token_expired",
        "invalid_auth",
        "account_inactive",
        "not_authed",
        "missing_scope",
        "no_permission",
        "not_allowed_token_type",
        "org_login_required",
        "team_access_not_granted",
    }
)
"""Credentials or rights: a human has to act, and nothing works until then."""

DEFAULT_DELAY = timedelta(seconds=5)
LONGEST_DELAY = timedelta(minutes=10)
UNREADABLE = (AttributeError, TypeError, ValueError, KeyError)  # what the SDK raises on answers that are no JSON object


@dataclass(frozen=True, slots=True)
class Refusal:
    """What an answer says. `error`: Slack's word, "" without one. `details`: JSON pointers of what was wrong."""

    status: int
    error: str
    retry_after: timedelta
    details: tuple[str, ...] = ()


def translate(error: Exception, effect: Effect) -> GpuMigrateError:
    """The error of ours for one that a call raised."""
    if isinstance(error, SlackApiError):
        return _said_no(read(error), effect)
    text = type(error).__name__
    if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ClientProxyConnectionError):
        return _passing(text)  # nothing has left
    return _lost(text, effect)


def read(error: SlackApiError) -> Refusal:
    """Take an answer apart, whatever it is: a dict-like response, an aiohttp response or nothing."""
    response: Any = error.response
    status = getattr(response, "status_code", None) or getattr(response, "status", None) or 0
    headers = getattr(response, "headers", None)
    data = getattr(response, "data", response)
    body: Mapping[str, Any] = data if isinstance(data, Mapping) else {}
    told = body.get("error")
    return Refusal(
        status if isinstance(status, int) else 0,
        told if isinstance(told, str) else "",
        _delay(headers if isinstance(headers, Mapping) else {}),
        _details(body),
    )


def _said_no(refusal: Refusal, effect: Effect) -> GpuMigrateError:
    status, error = refusal.status, refusal.error
    if status == 429 or error in LIMITED:
        return TransientError(reason(Code.SLACK_UNREACHABLE, error=error or "ratelimited"), refusal.retry_after)
    if status >= 500 or error in PASSING or not error:
        return _lost(error or f"status {status}", effect)
    return PermanentError(reason(Code.SLACK_REFUSED, error=error))


def _lost(text: str, effect: Effect) -> GpuMigrateError:
    """The answer never came: the call may have been taken."""
    if effect is Effect.ANOTHER:
        return OutcomeUnknown(reason(Code.SLACK_UNREACHABLE, error=text))
    return _passing(text)


def _passing(text: str) -> TransientError:
    return TransientError(reason(Code.SLACK_UNREACHABLE, error=text), DEFAULT_DELAY)


def _delay(headers: Mapping[str, Any]) -> timedelta:
    """Retry-After in seconds; a value that is none, or an absurd one, is our own guess."""
    found = {str(name).lower(): value for name, value in headers.items()}.get("retry-after")
    value = found[0] if isinstance(found, list) and found else found
    try:
        seconds = float(str(value))
    except ValueError:
        return DEFAULT_DELAY
    return min(timedelta(seconds=seconds), LONGEST_DELAY) if 0 <= seconds < 1e6 else DEFAULT_DELAY


def _details(body: Mapping[str, Any]) -> tuple[str, ...]:
    metadata = body.get("response_metadata")
    told = metadata.get("messages") if isinstance(metadata, Mapping) else body.get("errors")
    return tuple(str(line)[:300] for line in told[:5]) if isinstance(told, list) else ()
