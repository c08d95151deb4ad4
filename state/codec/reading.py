"""JSON text → records, or Unreadable. Never guesses: a value of the wrong kind is damage, not a default."""

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from state.codec.shape import PLAIN, TAG, same, value_type
from state.errors import PermanentError
from state.reasons import Code, reason

T = TypeVar("T")
Convert = Callable[[Any], Any]


class Unreadable(PermanentError):  # noqa: N818 (what it is, not a failure of ours)
    """Stored text that this version cannot understand: an unknown tag, a missing field, or damage."""

    def __init__(self, what: str) -> None:
        super().__init__(reason(Code.STORE_UNREADABLE, what=what))


def decode(kind: type[T], text: str) -> T:
    """Read a record back. Raises Unreadable."""
    return cast("T", decode_any(kind, text))


def decode_any(kind: Any, text: str) -> Any:
    """Like decode, for a union of records too (`Event`)."""
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise Unreadable("no JSON") from exc
    if not isinstance(plain, dict):
        raise Unreadable("no object")
    return _reader(kind)(plain)


@cache
def _reader(kind: Any) -> Convert:
    """How a value of this annotation is read."""
    if kind is object:
        return same
    if kind in PLAIN or kind is NoneType:
        return _plain_reader(kind)
    if kind is datetime:
        return _read_time
    if kind is timedelta:
        return _read_duration
    origin = get_origin(kind)
    if origin is tuple:
        return _tuple_reader(get_args(kind))
    if origin in (Union, UnionType):
        return _union_reader(get_args(kind))
    if origin is Mapping:
        return _mapping_reader(value_type(kind))
    return _class_reader(kind)


def _class_reader(kind: Any) -> Convert:
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        known = {member.value: member for member in kind}

        def read_enum(plain: Any) -> Any:
            try:
                return known[plain]
            except (KeyError, TypeError) as exc:
                raise Unreadable(f"{kind.__name__} {plain!r}") from exc

        return read_enum
    if is_dataclass(kind):
        return lambda plain: _read_record(kind, plain)
    raise TypeError(f"{kind} has no stored form")


def _read_record(kind: Any, plain: Any) -> Any:
    if not isinstance(plain, dict):
        raise Unreadable(f"{kind.__name__} is no object")
    if plain.get(TAG, kind.__name__) != kind.__name__:
        raise Unreadable(f"{plain[TAG]!r} where {kind.__name__} was expected")
    known, needed = _field_readers(kind)
    values = {name: known[name](value) for name, value in plain.items() if name in known}
    try:
        return kind(**values)
    except TypeError as exc:
        raise Unreadable(f"{kind.__name__} without {', '.join(sorted(needed - values.keys()))}") from exc


@cache
def _field_readers(kind: Any) -> tuple[dict[str, Convert], frozenset[str]]:
    hints = get_type_hints(kind)
    readers = {field.name: _reader(hints[field.name]) for field in fields(kind)}
    return readers, frozenset(field.name for field in fields(kind) if _has_no_default(field))


def _has_no_default(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _tuple_reader(inner: tuple[Any, ...]) -> Convert:
    many = len(inner) == 2 and inner[1] is Ellipsis
    each = tuple(_reader(item) for item in (inner[:1] if many else inner))

    def read(plain: Any) -> Any:
        if not isinstance(plain, list) or (not many and len(plain) != len(each)):
            raise Unreadable(f"{plain!r:.40} is no list as expected")
        if many:
            return tuple(map(each[0], plain))
        return tuple(reader(item) for reader, item in zip(each, plain, strict=True))

    return read


def _mapping_reader(inner: Any) -> Convert:
    reader = _reader(inner)

    def read(plain: Any) -> Any:
        if not isinstance(plain, dict):
            raise Unreadable(f"{plain!r:.40} is no object")
        return {key: reader(value) for key, value in plain.items()}

    return read


def _union_reader(inner: tuple[Any, ...]) -> Convert:
    kinds: tuple[Any, ...] = tuple(kind for kind in inner if is_dataclass(kind))
    records = {kind.__name__: _reader(kind) for kind in kinds}
    others = tuple((_json_type(kind), kind is bool, _reader(kind)) for kind in inner if not is_dataclass(kind))

    def read(plain: Any) -> Any:
        if isinstance(plain, dict) and records:
            return _pick(records, plain)(plain)
        for wanted, takes_bool, reader in others:
            if isinstance(plain, wanted) and (takes_bool or not isinstance(plain, bool)):
                return reader(plain)
        raise Unreadable(f"{plain!r:.40} is none of {len(inner)} kinds")

    return read


def _pick(records: Mapping[str, Convert], plain: Mapping[str, Any]) -> Convert:
    """The reader that the tag names; a lone kind of record needs none."""
    if TAG not in plain and len(records) == 1:
        return next(iter(records.values()))
    reader = records.get(str(plain.get(TAG)))
    if reader is None:
        raise Unreadable(f"kind {plain.get(TAG)!r}")
    return reader


def _json_type(kind: Any) -> type | tuple[type, ...]:
    """What a value of this annotation looks like in JSON."""
    if kind is object:
        return object
    if get_origin(kind) is tuple:
        return list
    if get_origin(kind) is Mapping:
        return dict
    if kind is float or kind is timedelta:
        return (int, float)
    return kind if kind in (*PLAIN, NoneType) else str


def _plain_reader(kind: Any) -> Convert:
    wanted = _json_type(kind)

    def read(plain: Any) -> Any:
        if type(plain) is kind:  # the usual case
            return plain
        if not isinstance(plain, wanted) or (isinstance(plain, bool) and kind is not bool):
            raise Unreadable(f"{plain!r:.40} is no {kind.__name__}")
        return plain

    return read


def _read_time(plain: Any) -> datetime:
    try:
        at = datetime.fromisoformat(plain)
    except (TypeError, ValueError) as exc:
        raise Unreadable(f"time {plain!r:.40}") from exc
    if at.tzinfo is None:
        raise Unreadable(f"time {plain!r:.40} without a zone")
    return at


def _read_duration(plain: Any) -> timedelta:
    if isinstance(plain, bool) or not isinstance(plain, int | float):
        raise Unreadable(f"duration {plain!r:.40}")
    try:
        return timedelta(seconds=plain)
    except (OverflowError, ValueError) as exc:
        raise Unreadable(f"duration {plain!r:.40}") from exc
