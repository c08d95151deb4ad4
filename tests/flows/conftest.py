"""Runs that several tests read."""

import pytest

from tests.flows import examples
from tests.flows.recording import Record, recorded


@pytest.fixture(scope="session", params=["example-1", "example-2"])
def example(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Record:
    """Each example of the guide in turn."""
    plays = {"example-1": examples.example_1, "example-2": examples.example_2}
    return recorded(tmp_path_factory, request.param, plays[request.param])


@pytest.fixture(scope="session")
def example_1(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """One GPU worker."""
    return recorded(tmp_path_factory, "example-1", examples.example_1)


@pytest.fixture(scope="session")
def example_2(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """Two GPU workers."""
    return recorded(tmp_path_factory, "example-2", examples.example_2)
