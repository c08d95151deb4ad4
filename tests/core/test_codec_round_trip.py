"""Whatever the core can hold comes back from the journal as it was."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from state.codec import decode, decode_any, encode
from state.events import Event, HumanEvent
from state.journal import MessageRecord
from state.orders import Order
from state.reasons import Reason
from state.run import Run, StepRun

FEW = 2
zones = st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30)), timezone(-timedelta(hours=8))])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=FEW) | st.dictionaries(st.text(max_size=5), inner, max_size=FEW),
    max_leaves=5,
)
LEAVES: dict[Any, st.SearchStrategy[Any]] = {
    str: st.text(max_size=12),
    int: st.integers(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    NoneType: st.none(),
    object: json_values,
    datetime: st.datetimes(min_value=datetime(2000, 1, 1), max_value=datetime(2200, 1, 1), timezones=zones),  # noqa: DTZ001
    timedelta: st.timedeltas(min_value=timedelta(days=-9999), max_value=timedelta(days=9999)),
}


@cache
def values(kind: Any) -> st.SearchStrategy[Any]:
    """All values that an annotation allows."""
    if kind in LEAVES:
        return LEAVES[kind]
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return st.sampled_from(list(kind))
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return st.one_of(*(values(one) for one in inner))
    if origin is Mapping:
        return st.dictionaries(st.text(max_size=8), values(inner[1]), max_size=FEW)
    if origin is tuple and inner[-1] is Ellipsis:
        return st.lists(values(inner[0]), max_size=FEW).map(tuple)
    if origin is tuple:
        return st.tuples(*(values(one) for one in inner))
    assert is_dataclass(kind)
    return st.deferred(lambda: _record(kind))


def _record(kind: Any) -> st.SearchStrategy[Any]:
    hints = get_type_hints(kind)
    if kind is Reason:  # a cause has no cause here: depth is not what is tested
        flat = st.builds(Reason, values(hints["code"]), values(hints["facts"]))
        return st.builds(Reason, values(hints["code"]), values(hints["facts"]), st.none() | flat)
    return st.builds(kind, **{field.name: values(hints[field.name]) for field in fields(kind)})


relaxed = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@relaxed
@given(values(Run))
def test_given_any_run_when_written_and_read_then_it_is_the_same(run: Run) -> None:
    assert decode(Run, encode(run)) == run


@relaxed
@given(values(StepRun))
def test_given_any_step_when_written_and_read_then_it_is_the_same(step: StepRun) -> None:
    assert decode(StepRun, encode(step)) == step


@pytest.mark.parametrize("kind", [Event, HumanEvent, Order], ids=["Event", "HumanEvent", "Order"])
@relaxed
@given(data=st.data())
def test_given_any_member_of_a_union_when_written_and_read_then_its_kind_survives(
    kind: Any, data: st.DataObject
) -> None:
    value = data.draw(values(kind))

    assert decode_any(kind, encode(value)) == value


@relaxed
@given(values(MessageRecord))
def test_given_any_message_record_when_written_and_read_then_it_is_the_same(record: MessageRecord) -> None:
    assert decode(MessageRecord, encode(record)) == record


@relaxed
@given(values(StepRun))
def test_given_any_text_when_written_then_it_is_one_line_of_ascii(step: StepRun) -> None:
    text = encode(step)

    assert text.isascii()
    assert "\n" not in text
