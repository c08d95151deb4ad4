from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from yarl import URL

from bot.adapters.slack.failures import DEFAULT_DELAY, LONGEST_DELAY, Effect, read, translate
from state.errors import GpuMigrateError, OutcomeUnknown, PermanentError, TransientError
from state.reasons import Code


def said(error: Any = None, status: Any = 200, headers: Any = None, data: Any = None) -> SlackApiError:
    body = {"ok": False, "error": error} if data is None else data
    response = SimpleNamespace(status_code=status, headers=headers if headers is not None else {}, data=body)
    return SlackApiError("no", response)  # type: ignore[no-untyped-call]


@pytest.mark.parametrize(
    ("error", "once", "again"),
    [
        (said("ratelimited", 429), TransientError, TransientError),
        (said("message_limit_exceeded"), TransientError, TransientError),
        (said("internal_error"), OutcomeUnknown, TransientError),
        (said("", 503), OutcomeUnknown, TransientError),
        (said(data="<html>gateway</html>", status=200), OutcomeUnknown, TransientError),
        (said(data=["?"], status=502), OutcomeUnknown, TransientError),
        (said(error=5), OutcomeUnknown, TransientError),
        (said("channel_not_found"), PermanentError, PermanentError),
        (said("message_not_found"), PermanentError, PermanentError),
        (said("invalid_auth"), PermanentError, PermanentError),
        (said("a_word_of_tomorrow"), PermanentError, PermanentError),
        (TimeoutError(), OutcomeUnknown, TransientError),
        (aiohttp.ServerDisconnectedError(), OutcomeUnknown, TransientError),
        (ConnectionResetError(), OutcomeUnknown, TransientError),
        (AttributeError("'str' object has no attribute 'get'"), OutcomeUnknown, TransientError),
        (
            aiohttp.ClientConnectorError(SimpleNamespace(ssl=None, host="h", port=1), OSError("refused")),  # type: ignore[arg-type]
            TransientError,
            TransientError,
        ),
    ],
)
def test_given_an_error_when_translated_then_what_a_lost_answer_means_decides(
    error: Exception, once: type[GpuMigrateError], again: type[GpuMigrateError]
) -> None:
    assert type(translate(error, Effect.ANOTHER)) is once
    assert type(translate(error, Effect.NONE)) is again


def test_given_a_refusal_when_translated_then_slacks_own_word_is_kept() -> None:
    translated = translate(said("is_archived"), Effect.ANOTHER)

    assert translated.reason.code is Code.SLACK_REFUSED
    assert translated.reason.text("error") == "is_archived"


@pytest.mark.parametrize(
    ("headers", "delay"),
    [
        ({"Retry-After": "10"}, timedelta(seconds=10)),
        ({"retry-after": ["7"]}, timedelta(seconds=7)),
        ({"Retry-After": "soon"}, DEFAULT_DELAY),
        ({"Retry-After": "-3"}, DEFAULT_DELAY),
        ({"Retry-After": "99999"}, LONGEST_DELAY),
        ({"Retry-After": "nan"}, DEFAULT_DELAY),
        ({"Retry-After": "inf"}, DEFAULT_DELAY),
        ({}, DEFAULT_DELAY),
        ("odd", DEFAULT_DELAY),
    ],
)
def test_given_a_limit_when_translated_then_the_delay_is_slacks_or_our_guess(headers: Any, delay: timedelta) -> None:
    translated = translate(said("ratelimited", 429, headers), Effect.NONE)

    assert isinstance(translated, TransientError)
    assert translated.delay == delay


def test_given_details_when_read_then_the_json_pointers_are_kept() -> None:
    pointer = "[ERROR] must be less than 3001 characters [json-pointer:/blocks/2/text/text]"
    refusal = read(said(data={"ok": False, "error": "invalid_blocks", "response_metadata": {"messages": [pointer]}}))

    assert refusal.details == (pointer,)


def test_given_no_response_when_read_then_nothing_is_known() -> None:
    refusal = read(SlackApiError("no", None))  # type: ignore[no-untyped-call]

    assert (refusal.status, refusal.error, refusal.details) == (0, "", ())


def test_given_an_aiohttp_response_when_read_then_its_status_counts() -> None:
    """The SDK hands over the raw response when the body is broken JSON."""
    raw = SimpleNamespace(status=502, headers={}, url=URL("http://x"))

    assert read(SlackApiError("no", raw)).status == 502  # type: ignore[no-untyped-call]
