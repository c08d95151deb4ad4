"""Read fields of foreign JSON that may be missing, null or of another type, without ever raising.

Only the reading of single values belongs here; what they mean is for the callers.
"""

from collections.abc import Mapping
from typing import Any


def text(row: Any, *path: str) -> str:
    """The string at `path`; "" when anything on the way is missing or no scalar."""
    value = dig(row, *path)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value)


def whole(row: Any, *path: str) -> int:
    """The integer at `path`, also when it is spelled as a string; 0 otherwise."""
    value = dig(row, *path)
    try:
        return int(value) if isinstance(value, int | float | str) else 0
    except (ValueError, OverflowError):
        return 0


def truth(row: Any, *path: str) -> bool | None:
    """The boolean at `path`, also when spelled as a string; None when it is not told."""
    value = dig(row, *path)
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(value.strip().lower()) if isinstance(value, str) else None


def rows(row: Any, *path: str) -> tuple[Mapping[str, Any], ...]:
    """The objects of the list at `path`; entries of other types are left out."""
    value = dig(row, *path)
    return tuple(entry for entry in value if isinstance(entry, Mapping)) if isinstance(value, list) else ()


def texts(row: Any, *path: str) -> dict[str, str]:
    """The object at `path` as strings by key."""
    value = dig(row, *path)
    return {str(key): text(value, key) for key in value} if isinstance(value, Mapping) else {}


def dig(row: Any, *path: str) -> Any:
    """The value at `path`; None when the way ends before."""
    for name in path:
        if not isinstance(row, Mapping):
            return None
        row = row.get(name)
    return row
