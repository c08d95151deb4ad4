"""Which keys and lengths Slack allows in Block Kit objects, as values that blocks.py walks along.

Only what the documentation states stands here; rules over several blocks are in blocks.py.
Sources: docs.slack.dev (Block Kit reference), slack_sdk's models; lengths are characters.
"""

from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Str:
    """A string of `least` to `most` characters."""

    most: int = 3000
    least: int = 1


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a closed set of strings."""

    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Flag:
    """true or false."""


@dataclass(frozen=True, slots=True)
class Free:
    """Anything; what Slack does with it is not modelled."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text object of at most `most` characters; `plain`: mrkdwn is refused."""

    most: int
    plain: bool = False


@dataclass(frozen=True, slots=True)
class Items:
    """A list of `least` to `most` things."""

    of: "Spec"
    most: int
    least: int = 1


@dataclass(frozen=True, slots=True)
class Shape:
    """An object with these keys and no others. `one_of`: at least one of them must be there."""

    required: dict[str, "Spec"]
    optional: dict[str, "Spec"] = field(default_factory=dict)
    one_of: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Kinds:
    """An object whose `type` names one of OBJECTS."""

    names: tuple[str, ...]


Spec: TypeAlias = Str | Choice | Flag | Free | Text | Items | Shape | Kinds

ID = Str(255)
STYLE = Choice(("primary", "danger"))
CONFIRM = Shape(
    {"title": Text(100, plain=True), "text": Text(300), "confirm": Text(30, plain=True), "deny": Text(30, plain=True)},
    {"style": STYLE},
)
OPTION = Shape({"text": Text(75), "value": Str(150)}, {"description": Text(75), "url": Str(3000)})
OPTION_GROUP = Shape({"label": Text(75, plain=True), "options": Items(OPTION, 100)})

_BASIC: dict[str, Spec] = {"action_id": ID, "confirm": CONFIRM, "focus_on_load": Flag()}
_PICKER: dict[str, Spec] = {**_BASIC, "placeholder": Text(150, plain=True)}
_MULTI: dict[str, Spec] = {**_PICKER, "max_selected_items": Free()}
_OPTIONS: dict[str, Spec] = {"options": Items(OPTION, 100), "option_groups": Items(OPTION_GROUP, 100)}


def _picker(initial: str, *, multi: bool = False) -> Shape:
    return Shape({}, {**(_MULTI if multi else _PICKER), initial: Free()})


ELEMENTS: dict[str, Shape] = {
    "button": Shape(
        {"text": Text(75, plain=True)},
        {
            "action_id": ID,
            "url": Str(3000),
            "value": Str(2000, 0),
            "style": STYLE,
            "confirm": CONFIRM,
            "accessibility_label": Str(75),
        },
    ),
    "static_select": Shape({}, {**_PICKER, **_OPTIONS, "initial_option": OPTION}, ("options", "option_groups")),
    "multi_static_select": Shape(
        {}, {**_MULTI, **_OPTIONS, "initial_options": Items(OPTION, 100)}, ("options", "option_groups")
    ),
    "users_select": _picker("initial_user"),
    "multi_users_select": _picker("initial_users", multi=True),
    "channels_select": _picker("initial_channel"),
    "conversations_select": Shape(
        {},
        {
            **_PICKER,
            "initial_conversation": ID,
            "default_to_current_conversation": Flag(),
            "filter": Free(),
            "response_url_enabled": Flag(),
        },
    ),
    "external_select": Shape({}, {**_PICKER, "initial_option": OPTION, "min_query_length": Free()}),
    "overflow": Shape({"options": Items(OPTION, 5)}, {"action_id": ID, "confirm": CONFIRM}),
    "checkboxes": Shape({"options": Items(OPTION, 10)}, {**_BASIC, "initial_options": Items(OPTION, 10)}),
    "radio_buttons": Shape({"options": Items(OPTION, 10)}, {**_BASIC, "initial_option": OPTION}),
    "datepicker": _picker("initial_date"),
    "timepicker": Shape({}, {**_PICKER, "initial_time": Str(5), "timezone": Str(255)}),
    "datetimepicker": Shape({}, {**_BASIC, "initial_date_time": Free()}),
    "image": Shape(
        {"alt_text": Str(2000)}, {"image_url": Str(3000), "slack_file": Free()}, ("image_url", "slack_file")
    ),
    "plain_text_input": Shape(
        {},
        {
            "action_id": ID,
            "placeholder": Text(150, plain=True),
            "initial_value": Str(3000, 0),
            "multiline": Flag(),
            "min_length": Free(),
            "max_length": Free(),
            "focus_on_load": Flag(),
            "dispatch_action_config": Free(),
        },
    ),
}
INTERACTIVE = tuple(name for name in ELEMENTS if name not in ("image", "plain_text_input"))
INPUTS = tuple(name for name in ELEMENTS if name not in ("button", "overflow", "image"))

_STYLED: dict[str, Spec] = {"style": Free()}
INLINE: dict[str, Shape] = {
    "text": Shape({"text": Str(3000, 0)}, _STYLED),
    "link": Shape({"url": Str(3000)}, {"text": Str(3000), "unsafe": Flag(), **_STYLED}),
    "emoji": Shape({"name": Str(255)}, {"unicode": Str(255), **_STYLED}),
    "user": Shape({"user_id": ID}, _STYLED),
    "usergroup": Shape({"usergroup_id": ID}, _STYLED),
    "channel": Shape({"channel_id": ID}, _STYLED),
    "broadcast": Shape({"range": Choice(("here", "channel", "everyone"))}, _STYLED),
    "date": Shape({"timestamp": Free(), "format": Str(3000)}, {"url": Str(3000), "fallback": Str(3000), **_STYLED}),
    "color": Shape({"value": Str(255)}, _STYLED),
}
_INLINE = Items(Kinds(tuple(INLINE)), 1000, 0)
RICH: dict[str, Shape] = {
    "rich_text_section": Shape({"elements": _INLINE}),
    "rich_text_list": Shape(
        {"elements": Items(Kinds(("rich_text_section",)), 1000, 0), "style": Choice(("bullet", "ordered"))},
        {"indent": Free(), "offset": Free(), "border": Free()},
    ),
    "rich_text_preformatted": Shape({"elements": _INLINE}, {"border": Free(), "language": Str(255)}),
    "rich_text_quote": Shape({"elements": _INLINE}, {"border": Free()}),
}

_RICH_TEXT = Items(Kinds(tuple(RICH)), 1000, 0)
CELLS: dict[str, Shape] = {
    "raw_text": Shape({"text": Str(3000)}),
    "raw_number": Shape({"value": Free()}, {"text": Str()}),
}
_CELL = Kinds(("raw_text", "raw_number", "rich_text"))

TASK = Shape(
    {"task_id": ID, "title": Str(3000)},
    {
        "status": Choice(("pending", "in_progress", "complete", "error")),
        "details": Kinds(("rich_text",)),
        "output": Kinds(("rich_text",)),
        "sources": Free(),
        "block_id": ID,
    },
)
BLOCKS: dict[str, Shape] = {
    "section": Shape(
        {},
        {
            "text": Text(3000),
            "fields": Items(Text(2000), 10),
            "accessory": Kinds((*INTERACTIVE, "image")),
            "expand": Flag(),
        },
        ("text", "fields"),
    ),
    "divider": Shape({}),
    "header": Shape({"text": Text(150, plain=True)}),
    "context": Shape({"elements": Items(Kinds(("mrkdwn", "plain_text", "image")), 10)}),
    "actions": Shape({"elements": Items(Kinds(INTERACTIVE), 25)}),
    "image": Shape(
        {"alt_text": Str(2000)},
        {"image_url": Str(3000), "slack_file": Free(), "title": Text(2000, plain=True)},
        ("image_url", "slack_file"),
    ),
    "input": Shape(
        {"label": Text(2000, plain=True), "element": Kinds(INPUTS)},
        {"hint": Text(2000, plain=True), "optional": Flag(), "dispatch_action": Flag()},
    ),
    "rich_text": Shape({"elements": _RICH_TEXT}),
    "table": Shape({"rows": Items(Items(_CELL, 20), 100)}, {"column_settings": Free()}),
    "markdown": Shape({"text": Str(12000)}),
    "plan": Shape({"title": Str(3000)}, {"tasks": Items(Kinds(("task_card",)), 50, 0)}),
    "task_card": TASK,
}
TEXTS: dict[str, Shape] = {
    "mrkdwn": Shape({"text": Str(3000)}, {"verbatim": Flag()}),
    "plain_text": Shape({"text": Str(3000)}, {"emoji": Flag()}),
}
#: Every object that has a `type`; a block may also have a block_id.
OBJECTS: dict[str, Shape] = {
    **ELEMENTS,
    **INLINE,
    **RICH,
    **CELLS,
    **TEXTS,
    "task_card": TASK,
    "rich_text": BLOCKS["rich_text"],
}
