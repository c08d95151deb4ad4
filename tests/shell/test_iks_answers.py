"""What IKS answers, judged: refused, refused for now, or nobody knows. Nothing of a web page is ever passed on."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.adapters.iks.answers import LONGEST, Answer, complaint, failure, retry_after
from state.errors import OutcomeUnknown, PermanentError, TransientError
from state.reasons import Code

ERROR = b'{"incidentID":"2f1c","code":"%s","description":"told \\u003cwhy\\u003e","type":"General"}'
PAGE = b"<!DOCTYPE html><html><head><title>bad gateway</title></head></html>"


def refused(status: int, code: str, *, order: bool = False) -> Answer:
    return Answer(status, ERROR % code.encode(), order, "application/json", "gpu-lab")


@pytest.mark.parametrize("order", [False, True], ids=["read", "order"])
@pytest.mark.parametrize(
    ("status", "code", "kind", "expected"),
    [
        (400, "E0000", PermanentError, Code.IKS_REFUSED),
        (403, "E0000", PermanentError, Code.IKS_REFUSED),
        (404, "G0004", PermanentError, Code.CLUSTER_NOT_FOUND),
        (404, "E0008", PermanentError, Code.CLUSTER_NOT_FOUND),
        (404, "E0000", PermanentError, Code.IKS_REFUSED),
        (401, "A0003", PermanentError, Code.IKS_LOGIN),
        (400, "Ef9cc", TransientError, Code.IKS_BUSY),
        (400, "E1437", TransientError, Code.IKS_BUSY),
        (409, "E0000", TransientError, Code.IKS_BUSY),
        (429, "E0000", TransientError, Code.IKS_BUSY),
    ],
)
def test_given_a_refusal_when_judged_then_nothing_happened(
    status: int, code: str, kind: type, expected: Code, order: bool
) -> None:
    error = failure(refused(status, code, order=order))

    assert type(error) is kind
    assert error.reason.code is expected


@pytest.mark.parametrize(
    "answer",
    [
        (500, ERROR % b"A0002", "application/json"),
        (502, PAGE, "text/html"),
        (503, b"", ""),
        (504, b"upstream timed out", "text/plain"),
        (403, PAGE, "text/html"),
        (200, PAGE, "text/html"),
        (200, b"  <html>", "application/json"),
        (302, b"", ""),
        (408, b"", ""),
    ],
    ids=lambda a: f"{a[0]} {a[2]}",
)
def test_given_no_word_of_iks_when_judged_then_reads_may_be_repeated_and_orders_are_unknown(
    answer: tuple[int, bytes, str],
) -> None:
    status, body, content_type = answer
    read = failure(Answer(status, body, False, content_type))
    order = failure(Answer(status, body, True, content_type))

    assert (type(read), type(order)) == (TransientError, OutcomeUnknown)
    assert read.reason.code is order.reason.code is Code.IKS_UNREACHABLE
    assert "html" not in str(read).lower()


def test_given_a_busy_master_when_judged_then_code_and_incident_are_shown() -> None:
    error = failure(refused(400, "Ef9cc", order=True))

    assert error.reason.text("code") == "Ef9cc"
    assert error.reason.text("incident") == "2f1c"
    assert error.reason.text("message") == "told <why>"


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        (
            b'{"incidentID":"x","items":[{"code":"E1","description":"one"},{"code":"E2","description":"two"}]}',
            "E1",
            "one two",
        ),
        (b'{"statusCode":429,"message":"exceeded the allowable rate"}', "", "exceeded the allowable rate"),
        (b'{"errors":[{"code":"not_found","message":"gone"}]}', "not_found", "gone"),
        (b'{"errorCode":"BXNIM0407E","errorMessage":"expired"}', "BXNIM0407E", "expired"),
        (b"plain words\r\nof a proxy\x00", "", "plain words of a proxy"),
        (b"", "", ""),
        (PAGE, "", ""),
        (b"[1,2]", "", ""),
        (b'{"code":{"a":1},"description":["x"],"incidentID":null}', "", ""),
        (b'{"code":17,"description":12.5}', "17", "12.5"),
        (b'{"items":[]}', "", ""),
        (b'{"items":["x", null]}', "", ""),
        (b"\xff\xfe", "", "��"),
    ],
)
def test_given_any_error_body_when_read_then_it_is_one_line(body: bytes, code: str, message: str) -> None:
    said = complaint(Answer(400, body, False))

    assert (said.code, said.message) == (code, message)


@given(
    st.integers(100, 599),
    st.binary(max_size=3000),
    st.booleans(),
    st.sampled_from(["", "text/html", "application/json"]),
)
def test_given_anything_when_judged_then_it_is_one_of_ours_and_short(
    status: int, body: bytes, order: bool, content_type: str
) -> None:
    answer = Answer(status, body, order, content_type, "c")
    error = failure(answer)

    assert isinstance(error, TransientError | PermanentError | OutcomeUnknown)
    assert all(len(error.reason.text(name)) <= 3 * LONGEST for name in error.reason.facts)
    assert str(error).isprintable()


@pytest.mark.parametrize(
    ("told", "seconds"),
    [("30", 30), ("0", 0), ("-5", 10), ("soon", 10), ("", 10), ("99999", 600), ("1.5", 10), ("²", 10)],
)
def test_given_a_retry_after_when_read_then_it_is_bounded(told: str, seconds: int) -> None:
    assert retry_after({"Retry-After": told}) == timedelta(seconds=seconds)


def test_given_a_retry_after_date_when_read_then_it_counts_from_now() -> None:
    then = datetime.now(UTC) + timedelta(seconds=60)

    assert timedelta(seconds=55) < retry_after({"retry-after": format_datetime(then)}) <= timedelta(seconds=60)
