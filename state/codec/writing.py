"""Records → JSON text. Never reads: what comes back is `reading`'s matter.

Records are frozen and so is what they hold: the text of an inner one is kept while the record lives here, since a
transition leaves most of a run as it was. A field that still has an empty default (None, "", 0, False, (), {}) is left
out: runs have many of them. Such a default must therefore never change its meaning without a new schema.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cache, partial
from json.encoder import encode_basestring_ascii
from operator import attrgetter
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from state.codec.shape import TAG, value_type

Write = Callable[[Any], str]
_any_json: Write = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
_KEPT = 4096  # texts of inner records of one kind; then all are dropped
_WRITTEN = object()  # stands for "no empty default": nothing is ever identical with it


def encode(value: Any) -> str:
    """Write a record as one line of ASCII JSON, tagged with its class name.

    Raises TypeError or ValueError for what has no JSON form (a naive datetime, NaN, keys that are no text).
    """
    if not is_dataclass(type(value)):
        raise TypeError(f"{type(value)} is no record")
    kind: Any = type(value)
    return _tag(value, _record_writer(kind)(value))


def _tag(value: Any, text: str) -> str:
    comma = "," if text != "{}" else ""
    return f'{{"{TAG}":"{type(value).__name__}"{comma}{text[1:]}'


@cache
def _writer(kind: Any) -> Write:
    """How a value of this annotation is written."""
    simple = _SIMPLE.get(kind)
    if simple is not None:
        return simple
    origin = get_origin(kind)
    if origin is tuple:
        return _tuple_writer(get_args(kind))
    if origin in (Union, UnionType):
        return _union_writer(get_args(kind))
    if origin is Mapping:
        return _mapping_writer(value_type(kind))
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return encode_basestring_ascii
    if is_dataclass(kind):
        record: Any = kind
        return _keeping(_record_writer(record))
    raise TypeError(f"{kind} has no stored form")


@cache
def _record_writer(kind: Any) -> Write:
    plan: list[tuple[str, Write, object, bool]] = []
    names = [field.name for field in fields(kind)]
    get = attrgetter(*names) if len(names) > 1 else partial(_each, names=names)

    def write(value: Any) -> str:
        if not plan:  # made late: records refer to themselves and to later ones
            plan.extend(_plan(kind))
        parts = [
            prefix + write_field(item)
            for item, (prefix, write_field, empty, mapping) in zip(get(value), plan, strict=True)
            if item is not empty and (item or not mapping)
        ]
        return "{" + ",".join(parts) + "}"

    return write


def _each(value: Any, names: list[str]) -> tuple[Any, ...]:
    """What attrgetter gives for several names, for one or none."""
    return tuple(getattr(value, name) for name in names)


def _keeping(write: Write) -> Write:
    """Write each record once. By identity: the kept record cannot be freed, so its id stays its own."""
    kept: dict[int, tuple[Any, str]] = {}

    def write_once(value: Any) -> str:
        found = kept.get(id(value))
        if found is not None:
            return found[1]
        text = write(value)
        if len(kept) >= _KEPT:
            kept.clear()
        kept[id(value)] = (value, text)
        return text

    return write_once


def _plan(kind: Any) -> list[tuple[str, Write, object, bool]]:
    """Per field: its name in JSON, how it is written, its empty default, whether it is an empty mapping by default."""
    hints = get_type_hints(kind)
    return [
        (f'"{field.name}":', _writer(hints[field.name]), _empty_default(field), field.default_factory is dict)
        for field in fields(kind)
    ]


def _empty_default(field: Field[Any]) -> object:
    return field.default if field.default is not MISSING and not field.default else _WRITTEN


def _tuple_writer(inner: tuple[Any, ...]) -> Write:
    if len(inner) == 2 and inner[1] is Ellipsis:
        write = _writer(inner[0])
        return lambda value: "[" + ",".join(map(write, value)) + "]"
    writers = tuple(_writer(item) for item in inner)
    return lambda value: "[" + ",".join(one(item) for one, item in zip(writers, value, strict=True)) + "]"


def _mapping_writer(inner: Any) -> Write:
    write = _writer(inner)
    key_text = encode_basestring_ascii  # refuses what is no text
    return lambda value: "{" + ",".join([f"{key_text(key)}:{write(item)}" for key, item in value.items()]) + "}"


def _union_writer(inner: tuple[Any, ...]) -> Write:
    """None and plain values as they are; a record gets its tag when the union has more than one kind of record."""
    records = [kind for kind in inner if is_dataclass(kind)]
    others = [kind for kind in inner if kind is not NoneType and kind not in records]
    if len(records) > 1:
        return _write_member
    if len(records) + len(others) == 1:
        write = _writer((records + others)[0])
        return lambda value: "null" if value is None else write(value)
    return _any_json  # written by what it is: text, number, a tuple of plain values


def _write_member(value: Any) -> str:
    kind: Any = type(value)
    return "null" if value is None else _tag(value, _writer(kind)(value))


def _write_bool(value: Any) -> str:
    return "true" if value else "false"


def _write_time(value: datetime) -> str:
    if value.tzinfo is None:
        raise ValueError("a naive datetime")
    return f'"{value.isoformat(timespec="microseconds")}"'


def _write_duration(value: timedelta) -> str:
    return repr(value.total_seconds())


_SIMPLE: dict[Any, Write] = {
    str: encode_basestring_ascii,
    int: int.__repr__,
    float: _any_json,
    bool: _write_bool,
    NoneType: _any_json,
    object: _any_json,
    datetime: _write_time,
    timedelta: _write_duration,
}
