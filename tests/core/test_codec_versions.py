"""Older and newer code read each other's records; what cannot be understood is named, never guessed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import pytest

from state.codec import Unreadable, decode, decode_any, encode
from state.events import Approved, HumanEvent, Person
from state.journal import MessageRecord
from state.orders import EvictPod, LabelNode, Order
from state.policy import ChartChoice, Durations
from state.reasons import Code, Reason, reason
from state.run import Run, RunPhase, StepKind, StepRun
from state.snapshot import Container, Pool
from tests.stored import AT, a_run, an_intent


def _changed(text: str, **fields: object) -> str:
    return json.dumps({**json.loads(text), **fields})


def _without(text: str, name: str) -> str:
    return json.dumps({key: value for key, value in json.loads(text).items() if key != name})


def test_given_a_field_of_a_newer_version_when_read_then_it_is_ignored() -> None:
    run = a_run()

    assert decode(Run, _changed(encode(run), invented_later={"a": [1]})) == run


def test_given_a_record_of_an_older_version_when_read_then_missing_fields_take_their_defaults() -> None:
    run = replace(a_run(), intent=an_intent("op"), ops=7)
    text = _without(_without(encode(run), "intent"), "ops")

    assert decode(Run, text) == a_run()


def test_given_a_field_without_default_is_missing_when_read_then_it_is_named() -> None:
    with pytest.raises(Unreadable, match="Run without cluster"):
        decode(Run, _without(encode(a_run()), "cluster"))


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        pytest.param(HumanEvent, '{"$":"Teleported","at":"2026-12-01T00:00:00+00:00"}', id="unknown tag"),
        pytest.param(Order, '{"node":"n"}', id="no tag"),
        pytest.param(Order, '{"$":["CordonNode"]}', id="tag is no text"),
        pytest.param(Run, '{"$":"EvictPod"}', id="another record's tag"),
        pytest.param(Reason, '{"code":"from-the-future"}', id="unknown code"),
        pytest.param(Reason, '{"code":["deadline"]}', id="code is a list"),
        pytest.param(Reason, '{"code":"deadline","facts":{"a":{"b":1}}}', id="fact is an object"),
        pytest.param(Reason, '{"code":"deadline","facts":{"a":true}}', id="fact is a truth value"),
        pytest.param(Reason, '{"code":"deadline","facts":[1]}', id="facts are a list"),
        pytest.param(Person, '{"user":7}', id="number for text"),
        pytest.param(Person, '{"user":null}', id="null for text"),
        pytest.param(Person, "[1]", id="list"),
        pytest.param(Person, "null", id="null"),
        pytest.param(Person, "", id="empty"),
        pytest.param(Person, "{", id="half"),
        pytest.param(Person, "[" * 100_000, id="deep"),
        pytest.param(ChartChoice, '{"tested":["1","2","3"]}', id="pair of three"),
        pytest.param(ChartChoice, '{"tested":"12"}', id="text for a pair"),
        pytest.param(Durations, '{"poll":"20"}', id="text for a duration"),
        pytest.param(Durations, '{"poll":true}', id="truth value for a duration"),
        pytest.param(Durations, '{"poll":1e300}', id="endless duration"),
        pytest.param(MessageRecord, '{"channel":"C","ts":"","digest":"","since":"yesterday"}', id="no time"),
        pytest.param(MessageRecord, '{"channel":"C","ts":"","digest":"","since":1}', id="number for a time"),
        pytest.param(
            MessageRecord, '{"channel":"C","ts":"","digest":"","since":"2026-12-01T00:00:00"}', id="time without zone"
        ),
    ],
)
def test_given_what_cannot_be_understood_when_read_then_unreadable(kind: Any, text: str) -> None:
    with pytest.raises(Unreadable) as caught:
        decode_any(kind, text)

    assert caught.value.reason.code is Code.STORE_UNREADABLE


def test_given_orders_in_a_queue_when_written_then_each_carries_its_kind() -> None:
    step = StepRun(
        "k", StepKind.MOVE_WORKLOADS, queue=(EvictPod("a", "b", "c", "d"), LabelNode("n", "u", "w", {"x": None}))
    )

    plain = json.loads(encode(step))

    assert [order["$"] for order in plain["queue"]] == ["EvictPod", "LabelNode"]


def test_given_times_and_durations_when_written_then_they_are_iso_and_seconds() -> None:
    approved = json.loads(encode(Approved(AT, "e", Person("U"), "a", 1)))
    durations = json.loads(encode(Durations()))

    assert approved["at"] == "2026-12-01T12:00:00.123456+00:00"
    assert durations["settle"] == 120.0


@pytest.mark.parametrize(
    ("value", "written"),
    [
        pytest.param(Container("c", True, 0, "running"), False, id="absent"),
        pytest.param(Container("c", True, 0, "running", exit_code=0), True, id="zero is not absent"),
    ],
)
def test_given_a_field_with_an_empty_default_when_written_then_only_another_value_takes_room(
    value: Container, written: bool
) -> None:
    text = encode(value)

    assert ("exit_code" in text) is written
    assert decode(Container, text) == value


def test_given_false_where_nothing_is_the_default_when_read_then_it_is_false() -> None:
    pool = Pool("p", "gpu", "gx2", (), autobalanced=False)

    assert decode(Pool, encode(pool)).autobalanced is False


def test_given_a_reason_with_a_cause_when_read_then_the_chain_is_whole() -> None:
    why = reason(Code.DEADLINE, reason(Code.WAIT_WORKER, reason(Code.PAUSED, by="U"), worker="w"), step="s", minutes=3)

    assert decode(Reason, encode(why)) == why


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(MessageRecord("C", "1", "d", AT.replace(tzinfo=None)), id="naive time"),
        pytest.param(ChartChoice(values={"a": float("nan")}), id="NaN"),
        pytest.param(ChartChoice(values={"a": object()}), id="no JSON"),
        pytest.param(ChartChoice(values={1: "a"}), id="key is no text"),  # type: ignore[dict-item]
        pytest.param(AT, id="no record"),
    ],
)
def test_given_what_has_no_stored_form_when_written_then_it_is_refused(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        encode(value)


@dataclass(frozen=True, slots=True)
class _OddKeys:
    by_number: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class _OddType:
    raw: bytes


@pytest.mark.parametrize("value", [_OddKeys({1: "a"}), _OddType(b"")], ids=["number keys", "bytes"])
def test_given_a_type_that_json_cannot_hold_when_written_then_it_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        encode(value)


def test_given_a_phase_and_a_time_when_read_then_they_have_their_own_types() -> None:
    run = decode(Run, encode(a_run(phase=RunPhase.ACTIVE)))

    assert run.phase is RunPhase.ACTIVE
    assert isinstance(run.created_at, datetime)
