"""Say whether Slack would take a message or a view, and name each fault by its JSON pointer.

Two readings are asked: the rules of block_spec.py with those over several blocks, and the validators of slack_sdk.
The server refuses by it and tests hold the bot's messages against it. Nothing is repaired here.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, assert_never

from slack_sdk.errors import SlackObjectFormationError
from slack_sdk.models.blocks import Block

from sandbox.slack.block_spec import BLOCKS, OBJECTS, Choice, Flag, Free, Items, Kinds, Shape, Spec, Str, Text

MESSAGE_BLOCKS = 50
VIEW_BLOCKS = 100
#: Not documented; people measured refusals from about 12 000 upwards (bolt-js#2509, #2867).
BLOCK_TEXT = 12_000
MESSAGE_TEXT = 4_000
METADATA_BYTES = 8_000
#: Blocks that only a message, or only a view, may hold.
NOT_IN_VIEWS = ("markdown", "plan", "task_card", "file", "context_actions")
NOT_IN_MESSAGES = ("alert",)
#: Blocks slack_sdk can judge and block_spec.py does not describe.
BY_SDK_ONLY = ("context_actions", "video", "card", "carousel", "container", "alert")


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault. `pointer`: where, from the payload's root, as /blocks/0/text."""

    pointer: str
    says: str

    def __str__(self) -> str:
        return f"{self.says} [json-pointer:{self.pointer}]"


def block_faults(blocks: Any, *, view: bool = False, root: str = "/blocks") -> tuple[Fault, ...]:
    """Everything wrong with a list of blocks; empty when Slack would take it. Never raises, whatever is handed in."""
    if not isinstance(blocks, list):
        return (Fault(root, "must provide an array"),)
    most = VIEW_BLOCKS if view else MESSAGE_BLOCKS
    found = [Fault(root, f"no more than {most} items allowed")] if len(blocks) > most else []
    for index, block in enumerate(blocks):
        found += _block(block, f"{root}/{index}", view=view)
    found += _doubles(blocks, root)
    return tuple(found)


def block_text(value: Any) -> int:
    """Characters of all texts in blocks, as far as Slack's limit for a whole message counts them."""
    match value:
        case dict():
            own = value.get("text")
            return (len(own) if isinstance(own, str) else 0) + sum(block_text(inner) for inner in value.values())
        case list():
            return sum(block_text(inner) for inner in value)
    return 0


def _block(block: Any, at: str, *, view: bool) -> Iterator[Fault]:
    if not isinstance(block, dict):
        yield Fault(at, "must provide an object")
        return
    kind = block.get("type")
    misplaced = kind in (NOT_IN_VIEWS if view else NOT_IN_MESSAGES)
    if not isinstance(kind, str) or (kind not in BLOCKS and kind not in BY_SDK_ONLY) or misplaced:
        yield Fault(f"{at}/type", f"unsupported type: {kind}")
        return
    yielded = False
    if kind in BLOCKS:
        for fault in shape_faults(block, BLOCKS[kind], at, extra=("type", "block_id")):
            yielded = True
            yield fault
    yield from _value(block.get("block_id", "-"), Str(255), f"{at}/block_id")
    if not yielded:
        yield from _by_sdk(block, at)


def _by_sdk(block: dict[str, Any], at: str) -> Iterator[Fault]:
    """What slack_sdk's own validators say. Its constructors raise whatever an odd payload makes them raise."""
    try:
        parsed = Block.parse(block)
        if parsed is None:
            yield Fault(f"{at}/type", f"unsupported type: {block.get('type')}")
            return
        parsed.validate_json()
        parsed.to_dict()
    except SlackObjectFormationError as error:
        yield Fault(at, str(error))
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        yield Fault(at, f"cannot be read ({error})")


def shape_faults(value: dict[str, Any], shape: Shape, at: str, extra: tuple[str, ...] = ("type",)) -> Iterator[Fault]:
    keys = {**shape.required, **shape.optional}
    for name in shape.required:
        if value.get(name) is None:
            yield Fault(at, f"missing required field: {name}")
    if shape.one_of and not any(value.get(name) for name in shape.one_of):
        yield Fault(at, f"missing required field: {' or '.join(shape.one_of)}")
    for name, inner in value.items():
        if name in keys:
            if inner is not None:
                yield from _value(inner, keys[name], f"{at}/{name}")
        elif name not in extra:
            yield Fault(at, f"invalid additional property: {name}")


def _value(value: Any, spec: Spec, at: str) -> Iterator[Fault]:
    match spec:
        case Str():
            yield from _string(value, spec, at)
        case Choice():
            if value not in spec.values:
                yield Fault(at, f"must be one of: {', '.join(spec.values)}")
        case Flag():
            if not isinstance(value, bool):
                yield Fault(at, "must provide a boolean")
        case Free():
            pass
        case Text():
            yield from _text(value, spec, at)
        case Items():
            yield from _items(value, spec, at)
        case Shape() | Kinds():
            yield from _object(value, spec, at)
        case _:
            assert_never(spec)


def _object(value: Any, spec: Shape | Kinds, at: str) -> Iterator[Fault]:
    if not isinstance(value, dict):
        yield Fault(at, "must provide an object")
        return
    if isinstance(spec, Shape):
        yield from shape_faults(value, spec, at)
        return
    kind = value.get("type")
    if kind not in spec.names:
        yield Fault(f"{at}/type", f"unsupported type: {kind}")
        return
    yield from shape_faults(value, OBJECTS[str(kind)], at, extra=("type", "block_id"))


def _string(value: Any, spec: Str, at: str) -> Iterator[Fault]:
    if not isinstance(value, str):
        yield Fault(at, "must provide a string")
    elif len(value) < spec.least:
        yield Fault(at, f"must be more than {spec.least - 1} characters")
    elif len(value) > spec.most:
        yield Fault(at, f"must be less than {spec.most + 1} characters")


def _text(value: Any, spec: Text, at: str) -> Iterator[Fault]:
    if not isinstance(value, dict):
        yield Fault(at, "must provide an object")
        return
    kind = value.get("type")
    if kind not in ("plain_text", "mrkdwn") or (spec.plain and kind != "plain_text"):
        yield Fault(f"{at}/type", f"unsupported type: {kind}")
        return
    yield from shape_faults(value, Shape({"text": Str(spec.most)}, OBJECTS[str(kind)].optional), at)


def _items(value: Any, spec: Items, at: str) -> Iterator[Fault]:
    if not isinstance(value, list):
        yield Fault(at, "must provide an array")
        return
    if len(value) > spec.most:
        yield Fault(at, f"no more than {spec.most} items allowed")
    if len(value) < spec.least:
        yield Fault(at, f"no fewer than {spec.least} items allowed")
    for index, inner in enumerate(value):
        yield from _value(inner, spec.of, f"{at}/{index}")


def _doubles(blocks: list[Any], root: str) -> Iterator[Fault]:
    """Ids that name two things: block_id in a message, action_id in one block."""
    objects = [(index, block) for index, block in enumerate(blocks) if isinstance(block, dict)]
    names = Counter(str(block["block_id"]) for _, block in objects if block.get("block_id"))
    for name, times in names.items():
        if times > 1:
            yield Fault(root, f"block_id {name} already exists")
    for index, block in objects:
        actions = Counter(action_ids(block))
        for name, times in actions.items():
            if times > 1:
                yield Fault(f"{root}/{index}", f"action_id {name} already exists for block")


def action_ids(block: dict[str, Any]) -> list[str]:
    """The action_ids of a block's elements, its accessory and its input element."""
    elements = block.get("elements")
    inner = [*(elements if isinstance(elements, list) else []), block.get("accessory"), block.get("element")]
    return [str(e["action_id"]) for e in inner if isinstance(e, dict) and e.get("action_id")]
