"""Fixtures for more than one folder of tests."""

from collections.abc import Iterator

import pytest

from tests.valkey import Valkey, running


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
