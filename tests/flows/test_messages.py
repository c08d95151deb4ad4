"""Everything that the examples said in Slack: accepted by Slack's rules, one living message, cards that close."""

from collections import Counter
from typing import Any

import pytest

from tests.flows.recording import Record
from tests.flows.said import answers, refused_by_slack, sent


def keys(record: Record) -> list[str]:
    found = [message.get("metadata") for message in record["messages"]["operator-1"]]
    return [row["event_payload"]["key"].partition("/")[2] for row in found if row]


def test_given_an_example_when_it_speaks_then_slack_accepts_every_message(example: Record) -> None:
    journal = example["journal"]

    assert len([*sent(journal), *answers(journal)]) > 20
    assert refused_by_slack(journal) == {}


def test_given_an_example_when_it_goes_on_then_one_message_is_edited(example: Record) -> None:
    living = [m for m in example["messages"]["operator-1"] if "is_root" not in m and _key(m).endswith("/progress")]
    edits = [args for args in sent(example["journal"], "chat.update") if args["ts"] == living[0]["ts"]]

    assert len(living) == 1
    assert len(edits) > 5
    assert "Migration done" in living[0]["text"]


def test_given_an_example_when_over_then_each_message_was_posted_once(example: Record) -> None:
    assert {key: times for key, times in Counter(keys(example)).items() if times > 1} == {}


def test_given_an_example_when_cards_are_answered_then_they_lose_their_buttons(example: Record) -> None:
    cards = [m for m in example["messages"]["operator-1"] if "/card:" in _key(m)]

    assert len(cards) == len(example["answered"])
    assert [card["text"] for card in cards if card["buttons"] or "Approved" not in card["text"]] == []


@pytest.mark.parametrize("news", ["node-ready", "gpus", "recovered", "done"])
def test_given_an_example_when_things_happen_then_people_are_told(example: Record, news: str) -> None:
    assert any(key.startswith(f"note:{news}") for key in keys(example))


def test_given_an_example_when_a_card_is_approved_then_a_confirm_dialog_was_asked_for(example: Record) -> None:
    buttons = [
        element
        for args in sent(example["journal"], "chat.postMessage")
        for block in args.get("blocks", ())
        for element in block.get("elements", ())
        if element.get("type") == "button"
    ]

    assert buttons
    assert [button["text"]["text"] for button in buttons if "confirm" not in button] == []


def _key(message: dict[str, Any]) -> str:
    payload = (message.get("metadata") or {}).get("event_payload") or {}
    return str(payload.get("key", ""))
