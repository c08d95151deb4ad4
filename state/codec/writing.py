"""Records → JSON text. Never reads: what comes back is `reading`'s matter."""

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from state.codec.shape import PLAIN, TAG, same, value_type

Convert = Callable[[Any], Any]


def encode(value: Any) -> str:
    """Write a record as one line of ASCII JSON, tagged with its class name.

    Raises TypeError or ValueError for what has no JSON form (a naive datetime, NaN, keys that are no text).
    """
    return json.dumps(_tagged(value), separators=(",", ":"), allow_nan=False)


def _tagged(value: Any) -> dict[str, Any]:
    kind: Any = type(value)
    return {TAG: kind.__name__, **_writer(kind)(value)}


@cache
def _writer(kind: Any) -> Convert:
    """How a value of this annotation is written."""
    if kind in PLAIN or kind is NoneType or kind is object:
        return same
    if kind is datetime:
        return _write_time
    if kind is timedelta:
        return timedelta.total_seconds
    origin = get_origin(kind)
    if origin is tuple:
        return _tuple_writer(get_args(kind))
    if origin in (Union, UnionType):
        return _union_writer(get_args(kind))
    if origin is Mapping:
        return _mapping_writer(value_type(kind))
    return _class_writer(kind)


def _class_writer(kind: Any) -> Convert:
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return same
    if is_dataclass(kind):
        record: Any = kind
        return lambda value: {name: write(getattr(value, name)) for name, write in _field_writers(record)}
    raise TypeError(f"{kind} has no stored form")


@cache
def _field_writers(kind: Any) -> tuple[tuple[str, Convert], ...]:
    hints = get_type_hints(kind)
    return tuple((field.name, _writer(hints[field.name])) for field in fields(kind))


def _tuple_writer(inner: tuple[Any, ...]) -> Convert:
    if len(inner) == 2 and inner[1] is Ellipsis:
        write = _writer(inner[0])
        return _same_list if write is same else lambda value: [write(item) for item in value]
    writers = tuple(_writer(item) for item in inner)
    return lambda value: [write(item) for write, item in zip(writers, value, strict=True)]


def _mapping_writer(inner: Any) -> Convert:
    write = _writer(inner)
    return lambda value: {_text_key(key): write(item) for key, item in value.items()}


def _union_writer(inner: tuple[Any, ...]) -> Convert:
    """None and plain values as they are; a record gets its tag when the union has more than one kind of record."""
    records = [kind for kind in inner if is_dataclass(kind)]
    others = [kind for kind in inner if kind is not NoneType and kind not in records]
    if len(records) > 1:
        return lambda value: None if value is None else _tagged(value)
    if len(records) + len(others) == 1:
        write = _writer((records + others)[0])
        return same if write is same else lambda value: None if value is None else write(value)
    return same  # json writes the rest by what it is: text, number, a tuple of plain values


def _same_list(value: Any) -> Any:
    return list(value)


def _write_time(value: datetime) -> str:
    if value.tzinfo is None:
        raise ValueError("a naive datetime")
    return value.isoformat(timespec="microseconds")


def _text_key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"key {key!r} is no text")
    return key
