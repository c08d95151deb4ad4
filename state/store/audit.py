"""The log as a chain: each entry carries the hash of the one before it, so that a changed or missing row shows.

Pure. An entry is canonical JSON (sorted keys) of what the writer knew; the server's time stands beside it and is not
part of the hash, the writer's own time is.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

SCHEMA = 1
BESIDE = ("hash", "at")  # of a row, but not of its entry
_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode
_FLAT = frozenset({str, int, bool, type(None)})  # reads back as it was written


@dataclass(frozen=True, slots=True)
class FleetLog:
    """What happened to the fleet as a whole, oldest first; how far back is a matter of retention.

    Attributes:
        rows: entries; those from before there was a chain carry no hash.
        newest: number of the newest chained entry as the store remembers it beside the log, -1 = none.
    """

    rows: tuple[Mapping[str, object], ...] = ()
    newest: int = -1

    @property
    def chained(self) -> tuple[Mapping[str, object], ...]:
        """From the first entry with a hash on; one without after that is no older one, but a strange one."""
        first = next((place for place, row in enumerate(self.rows) if "hash" in row), len(self.rows))
        return self.rows[first:]


def entry_of(log: Mapping[str, object], place: Mapping[str, object]) -> str:
    """The canonical text of one row. `place` (version, before, op, replica …) wins over names in `log`."""
    row = {key: value for key, value in log.items() if key not in BESIDE} | dict(place)
    if "at" in log:
        row["event_at"] = log["at"]
    flat = all(type(value) in _FLAT for value in row.values())
    return _canonical(row if flat else json.loads(json.dumps(row, default=str)))


def digest_of(entry: str) -> str:
    """SHA-256 of an entry; the hash before it is part of the entry."""
    return hashlib.sha256(entry.encode()).hexdigest()


def row_of(fields: Mapping[str, str]) -> Mapping[str, object]:
    """A row as readers get it, made of a stored stream entry."""
    row: dict[str, Any] = json.loads(fields["entry"])
    return row | {"hash": fields["hash"], "at": datetime.fromtimestamp(int(fields["at"]) / 1000, UTC).isoformat()}


def verify_chain(rows: Sequence[Mapping[str, object]]) -> tuple[int, ...]:
    """Versions of rows that do not fit: changed since, or not following the row before them. Empty means whole.

    Rows may begin in the middle of a log; a missing end cannot be seen here, only by the run's own version.
    """
    broken = []
    for place, row in enumerate(rows):
        entry = _canonical({key: value for key, value in row.items() if key not in BESIDE})
        fits = digest_of(entry) == row.get("hash") and _follows(row, rows[place - 1] if place else None)
        if not fits:
            broken.append(_version(row))
    return tuple(broken)


def _follows(row: Mapping[str, object], before: Mapping[str, object] | None) -> bool:
    if before is None:
        return _version(row) > 0 or row.get("before") == ""
    return row.get("before") == before.get("hash") and _version(row) == _version(before) + 1


def _version(row: Mapping[str, object]) -> int:
    version = row.get("version")
    return version if isinstance(version, int) else -1
