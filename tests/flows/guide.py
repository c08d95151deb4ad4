"""The sample outputs of the guide as rows, and the world's rows in the same columns.

data/guide.txt holds the outputs as they were printed, under the example, the moment and the table they belong to. What
cannot be equal is left out on both sides: ages, addresses of pods, random endings of names, and the number that
`helm install --generate-name` put into names where the bot uses one fixed release name.

Faults of the guide, see docs/procedure.md: the second gpu-burn of example 1 cannot run while there is one GPU for two
pods and one replica; the listings "GPU Operator pods on the new node" leave out everything but the operands.
"""

import re
from pathlib import Path

from tests.flows.oracle import stem

Row = dict[str, str]
Key = tuple[str, str, str]  # example, moment, table

FILE = Path(__file__).parent / "data" / "guide.txt"
IMPOSSIBLE = {("example-1", "card 5", "workloads"): "gpu-burn-z6xnh"}
ONLY_OPERANDS = {("example-1", "card 4", "operator"), ("example-2", "card 4", "operator")}
NOT_EQUAL = ("AGE", "IP", "Lifecycle")
_GENERATED = re.compile(r"^(gpu-operator)-\d{10}\b")
_GAP = re.compile(r"\s{2,}")


def tables() -> dict[Key, list[Row]]:
    """All tables of the guide, faults included."""
    found: dict[Key, list[Row]] = {}
    for part in FILE.read_text(encoding="utf-8").split("\n\n"):
        title, *lines = part.strip().splitlines()
        example, moment, table = title.strip("[]").split(" / ")
        found[example, moment, table] = [_pairs(lines)] if table == "master" else _rows(lines)
    return found


def expected(key: Key) -> list[Row]:
    """What the world has to show for this table."""
    return sorted((_plain(row) for row in tables()[key] if row.get("NAME") != IMPOSSIBLE.get(key, "-")), key=str)


def shown(key: Key, rows: list[Row]) -> list[Row]:
    """The world's rows in the same columns."""
    if key in ONLY_OPERANDS:
        newest = max(row["NODE"] for row in rows)
        rows = [row for row in rows if row["NODE"] == newest and not row["NAME"].startswith("gpu-operator")]
    return sorted((_plain(row) for row in rows), key=str)


def _plain(row: Row) -> Row:
    kept = {name: value for name, value in row.items() if name not in NOT_EQUAL}
    if "NAME" in kept:
        kept["NAME"] = stem(_GENERATED.sub(r"\1", kept["NAME"]))
    return kept


def _rows(lines: list[str]) -> list[Row]:
    names = _GAP.split(lines[0].strip())
    return [dict(zip(names, _GAP.split(line.strip()), strict=True)) for line in lines[1:]]


def _pairs(lines: list[str]) -> Row:
    """`Version:    1.36.0_1506` below its heading."""
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
