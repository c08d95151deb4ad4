"""Runs that several tests read, and their place among all tests."""

import pytest

from tests.flows import examples
from tests.flows.recording import Record, recorded

RUNS = (  # fixtures that take long, the longest first
    "stopped",
    "crashed",
    "killed",
    "misfortune",
    "absence",
    "rivals",
    "emptied",
    "turned_back",
    "forgotten",
    "ambushed",
    "steered",
    "aborted",
    "example_2",
    "example_1",
)
LANES = 4  # test processes of `make test`


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the long runs, each in another test process: they mostly wait, and the short tests fill the time.

    xdist hands every process a piece of the list of equal length, and pieces of what is left over later.
    """
    heads = _heads(items)
    rest = [item for item in items if item not in heads]
    piece = -(-len(rest) // LANES)
    items[:] = [
        item for lane in range(LANES) for item in (*heads[lane::LANES], *rest[lane * piece : (lane + 1) * piece])
    ]


def _heads(items: list[pytest.Item]) -> list[pytest.Item]:
    """The first test of each run that needs nothing but that run."""
    found: dict[tuple[int, str], pytest.Item] = {}
    for item in items:
        if "tests/flows/" not in item.path.as_posix() or item.get_closest_marker("control_plane"):
            continue
        needs = [name for name in RUNS if name in getattr(item, "fixturenames", ())]
        if len(needs) == 1:
            found.setdefault((RUNS.index(needs[0]), _variant(item, needs[0])), item)
    return [found[run] for run in sorted(found)]


def _variant(item: pytest.Item, fixture: str) -> str:
    """Which of several runs, where the fixture is parametrised."""
    chosen = getattr(item, "callspec", None)
    return str(chosen.params.get(fixture, "")) if chosen is not None else ""


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
