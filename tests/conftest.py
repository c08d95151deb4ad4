"""Fixtures for more than one folder of tests."""

from collections.abc import Iterator

import pytest
import structlog

from tests.valkey import Valkey, running


def pytest_configure() -> None:
    """Plain tracebacks: drawing the local variables of a whole world takes longer than the tests wait."""
    render = structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[structlog.processors.add_log_level, render])


@pytest.fixture(scope="session")
def valkey_process() -> Iterator[Valkey]:
    """One server per test process."""
    with running() as server:
        yield server


@pytest.fixture
def valkey(valkey_process: Valkey) -> Valkey:
    """An empty server that other tests use too: do not kill or reconfigure it."""
    valkey_process.say("FLUSHALL")
    return valkey_process
