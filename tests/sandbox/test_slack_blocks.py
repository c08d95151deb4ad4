"""Block Kit rules: what Slack refuses is refused, what it takes is taken, and odd JSON crashes nothing."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.slack.blocks import block_faults
from sandbox.slack.view_rules import view_faults
from tests.sandbox.blockcheck.check import problems
from tests.sandbox.slack_room import button, card, plain


def section(text: str = "x", **keys: Any) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}, **keys}


def actions(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": "actions", "elements": list(elements)}


def option(value: str = "1") -> dict[str, Any]:
    return {"text": plain("One"), "value": value}


RICH = {
    "type": "rich_text",
    "elements": [
        {
            "type": "rich_text_section",
            "elements": [
                {"type": "text", "text": "bold", "style": {"bold": True}},
                {"type": "link", "url": "https://example.com"},
                {"type": "emoji", "name": "eyes"},
                {"type": "user", "user_id": "U1"},
            ],
        },
        {
            "type": "rich_text_list",
            "style": "bullet",
            "elements": [{"type": "rich_text_section", "elements": [{"type": "text", "text": "one"}]}],
        },
        {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": "code"}]},
    ],
}
GOOD: dict[str, list[dict[str, Any]]] = {
    "card": card(),
    "fields": [{"type": "section", "fields": [{"type": "mrkdwn", "text": "x" * 2000}, *[plain("y")] * 9]}],
    "header": [{"type": "header", "text": plain("x" * 150)}],
    "context": [{"type": "context", "elements": [{"type": "mrkdwn", "text": "x"}, plain("y")]}],
    "select": [
        actions({"type": "static_select", "action_id": "s", "placeholder": plain("Pick"), "options": [option()] * 100})
    ],
    "overflow": [section(accessory={"type": "overflow", "action_id": "o", "options": [option(), option("2")]})],
    "rich text": [RICH],
    "table": [{"type": "table", "rows": [[{"type": "raw_text", "text": "Worker"}, RICH]]}],
    "plan": [{"type": "plan", "title": "Run", "tasks": [{"type": "task_card", "task_id": "a", "title": "A"}]}],
    "fifty": [{"type": "divider"}] * 50,
}
BAD: dict[str, tuple[list[Any], str]] = {
    "too many": ([{"type": "divider"}] * 51, "/blocks"),
    "not an object": (["x"], "/blocks/0"),
    "no type": ([{}], "/blocks/0/type"),
    "unknown type": ([{"type": "carrot"}], "/blocks/0/type"),
    "alert": ([{"type": "alert", "text": plain("x")}], "/blocks/0/type"),
    "empty text": ([section("")], "/blocks/0/text/text"),
    "long text": ([section("x" * 3001)], "/blocks/0/text/text"),
    "text is a string": ([{"type": "section", "text": "x"}], "/blocks/0/text"),
    "empty section": ([{"type": "section"}], "/blocks/0"),
    "long field": (
        [{"type": "section", "fields": [{"type": "mrkdwn", "text": "x" * 2001}]}],
        "/blocks/0/fields/0/text",
    ),
    "eleven fields": ([{"type": "section", "fields": [plain("x")] * 11}], "/blocks/0/fields"),
    "mrkdwn header": ([{"type": "header", "text": {"type": "mrkdwn", "text": "x"}}], "/blocks/0/text/type"),
    "long header": ([{"type": "header", "text": plain("x" * 151)}], "/blocks/0/text/text"),
    "empty actions": ([actions()], "/blocks/0/elements"),
    "26 buttons": ([actions(*[button(str(n), "x") for n in range(26)])], "/blocks/0/elements"),
    "long button": ([actions(button("a", "x" * 76))], "/blocks/0/elements/0/text/text"),
    "long value": ([actions(button("a", "x", value="v" * 2001))], "/blocks/0/elements/0/value"),
    "style": ([actions(button("a", "x", style="default"))], "/blocks/0/elements/0/style"),
    "same action": ([actions(button("a", "x"), button("a", "y"))], "/blocks/0"),
    "same block": ([{"type": "divider", "block_id": "b"}] * 2, "/blocks"),
    "long block id": ([{"type": "divider", "block_id": "b" * 256}], "/blocks/0/block_id"),
    "confirm title": (
        [actions(button("a", "x", confirm={**card()[1]["elements"][0]["confirm"], "title": plain("t" * 101)}))],
        "/blocks/0/elements/0/confirm/title/text",
    ),
    "extra key": ([section(colour="red")], "/blocks/0"),
    "button in context": ([{"type": "context", "elements": [button("a", "x")]}], "/blocks/0/elements/0/type"),
    "101 options": ([actions({"type": "static_select", "options": [option()] * 101})], "/blocks/0/elements/0/options"),
    "task status": (
        [
            {
                "type": "plan",
                "title": "x",
                "tasks": [{"type": "task_card", "task_id": "a", "title": "A", "status": "done"}],
            }
        ],
        "/blocks/0/tasks/0/status",
    ),
    "101 rows": ([{"type": "table", "rows": [[{"type": "raw_text", "text": "x"}]] * 101}], "/blocks/0/rows"),
}


@pytest.mark.parametrize("name", GOOD)
def test_given_a_good_message_when_checked_then_nothing_is_wrong(name: str) -> None:
    assert problems({"text": "x", "blocks": GOOD[name]}) == ()


@pytest.mark.parametrize("name", BAD)
def test_given_a_bad_message_when_checked_then_the_pointer_says_where(name: str) -> None:
    blocks, pointer = BAD[name]

    faults = block_faults(blocks)

    assert any(fault.pointer.startswith(pointer) for fault in faults), faults


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ({"blocks": card()}, "no fallback text"),
        ({"text": "x" * 4001}, "fallback text of 4001 characters"),
        ({"text": "x", "blocks": [section("x" * 2900)] * 4}, "11600 characters in blocks"),
        ({"text": "x", "metadata": {"event_payload": {"a": "b" * 9000}}}, "metadata too large"),
    ],
    ids=["no text", "long text", "much text", "metadata"],
)
def test_given_a_message_beyond_our_rules_when_checked_then_it_is_named(message: dict[str, Any], says: str) -> None:
    assert says in problems(message)


def test_given_a_modal_with_input_and_no_submit_when_checked_then_refused() -> None:
    field = {"type": "input", "label": plain("Why"), "element": {"type": "plain_text_input", "action_id": "t"}}
    view = {"type": "modal", "title": plain("Reject"), "blocks": [field]}

    faults = view_faults(view)
    fine = view_faults({**view, "submit": plain("Send")})

    assert [str(fault) for fault in faults] == ["missing required field: submit [json-pointer:/view]"]
    assert fine == ()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "text", "elements", "fields", "accessory", "options", "confirm", "rows", "block_id"]
            ),
            inner | st.sampled_from(["section", "actions", "button", "mrkdwn", "table", "rich_text", "plan", "video"]),
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
@settings(max_examples=150, deadline=None)
def test_given_any_json_when_checked_then_it_is_judged_and_never_raises(value: Any) -> None:
    assert isinstance(block_faults(value), tuple)
    assert isinstance(block_faults([value], view=True), tuple)
    assert isinstance(view_faults(value), tuple)
