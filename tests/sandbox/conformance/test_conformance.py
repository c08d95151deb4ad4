"""The pretend server answers every check as the recorded v1.36.2 server did, but for the allowed differences."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.sandbox.conformance.ahead import Ahead
from tests.sandbox.conformance.comparing import against_recording, allowances, recorded_answers, unexplained
from tests.sandbox.conformance.running import all_checks, run_alone

CHECKS = all_checks()
AT_ONCE = 12  # checks wait more than they work


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def results() -> AsyncIterator[Ahead[dict[str, Any]]]:
    """Every check against a server of its own, several at a time."""
    ahead = Ahead(list(CHECKS), run_alone, AT_ONCE)
    yield ahead
    await ahead.aclose()


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", list(CHECKS))
async def test_given_a_recorded_answer_when_asked_the_same_then_the_pretend_server_says_the_same(
    results: Ahead[dict[str, Any]], name: str
) -> None:
    result = await results.get(name)
    strange = unexplained(against_recording(result))

    assert [row["what"] for row in result["expectations"] if not row["met"]] == []
    assert "\n".join(str(difference) for difference in strange) == ""


def test_given_the_recording_when_compared_with_the_checks_then_each_check_is_recorded() -> None:
    assert set(CHECKS) == set(recorded_answers())


def test_given_the_allowed_differences_when_read_then_each_names_a_check_and_a_reason() -> None:
    rows = allowances()

    assert [row for row in rows if row.check not in CHECKS or len(row.reason) < 20] == []
