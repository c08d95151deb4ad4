"""Read raw JSON without ever raising: a missing field, a null or a wrong type reads as "nothing there".

Only types are looked at here; what a field means belongs to the projections.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

Json = Mapping[str, Any]

EPOCH = datetime.fromtimestamp(0, UTC)
LONGEST_MESSAGE = 300
_NOTHING: dict[str, Any] = {}
_NO_ROWS: list[Json] = []


def table(raw: Json, key: str) -> Json:
    value = raw.get(key)
    return value if isinstance(value, dict) else _NOTHING


def rows(raw: Json, key: str) -> list[Json]:
    """Read a list of objects, not to be changed; whatever in it is no object is left out."""
    value = raw.get(key)
    if not value or not isinstance(value, list):
        return _NO_ROWS
    for row in value:
        if not isinstance(row, dict):
            return [row for row in value if isinstance(row, dict)]
    return value


def text(raw: Json, key: str) -> str:
    value = raw.get(key)
    return value if isinstance(value, str) else ""


def count(raw: Json, key: str, missing: int = 0) -> int:
    value = raw.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else missing


def flag(raw: Json, key: str) -> bool:
    return raw.get(key) is True


def message(raw: Json, key: str) -> str:
    """Read a text for humans, cut to what a human would read."""
    return text(raw, key)[:LONGEST_MESSAGE]


def moment(raw: Json, key: str) -> datetime | None:
    value = raw.get(key)
    return _moment(value) if isinstance(value, str) else None


def strings(raw: Json, key: str) -> dict[str, str]:
    """Read a map of strings, such as labels."""
    return {name: value for name, value in table(raw, key).items() if isinstance(value, str)}


def condition(status: Json, kind: str) -> Json:
    """Find the condition of this type; an empty one when there is none."""
    for row in rows(status, "conditions"):
        if row.get("type") == kind:
            return row
    return _NOTHING


def holds(status: Json, kind: str) -> bool:
    return condition(status, kind).get("status") == "True"


def revision(raw: Json) -> int | None:
    """Read metadata.resourceVersion as the number it has been in every release; None when it is something else."""
    value = text(table(raw, "metadata"), "resourceVersion")
    return int(value) if value.isascii() and value.isdecimal() else None


@lru_cache(maxsize=4096)
def _moment(value: str) -> datetime | None:
    try:
        parsed = datetime.fromisoformat(value)
    except ValueError:
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
