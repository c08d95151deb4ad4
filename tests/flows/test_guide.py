"""At each moment for which the guide prints an output the world shows the same."""

import pytest

from tests.flows.guide import IMPOSSIBLE, Key, expected, shown, tables
from tests.flows.recording import Record

TABLES = tuple(tables())


@pytest.mark.parametrize("key", [key for key in TABLES if key[0] == "example-1"], ids=" ".join)
def test_given_example_1_when_the_guide_prints_then_the_world_shows_the_same(key: Key, example_1: Record) -> None:
    assert _shown(key, example_1) == expected(key)


@pytest.mark.parametrize("key", [key for key in TABLES if key[0] == "example-2"], ids=" ".join)
def test_given_example_2_when_the_guide_prints_then_the_world_shows_the_same(key: Key, example_2: Record) -> None:
    assert _shown(key, example_2) == expected(key)


def _shown(key: Key, record: Record) -> list[dict[str, str]]:
    _, moment, table = key
    rows = record["views"][moment][table]
    return shown(key, [rows] if isinstance(rows, dict) else rows)


def test_given_the_guide_when_read_then_every_table_has_its_rows() -> None:
    sizes = {" ".join(key): len(rows) for key, rows in tables().items()}

    assert len(sizes) == 18
    assert min(sizes.values()) == 1
    assert sizes["example-2 card 2 operator"] == 5
    assert sizes["example-1 card 4 operator"] == 7


def test_given_the_second_pod_of_example_1_when_the_guide_shows_it_then_it_is_older_than_its_node() -> None:
    """The listing was taken from another cluster: a pod of 44 min on a node that has just come."""
    rows = {row["NAME"]: row for row in tables()["example-1", "card 5", "workloads"]}

    assert IMPOSSIBLE["example-1", "card 5", "workloads"] in rows
    assert rows["gpu-burn-z6xnh"]["AGE"] == "44m"
    assert rows["gpu-burn-z6xnh"]["NODE"] == "10.240.0.68"
