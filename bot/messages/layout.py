"""Build Block Kit blocks within Slack's limits, and put them together into a message.

Limits: reference values of Slack (50 blocks, 3000 characters a text, 150 a header, about 12 000 in all; we stay below
10 000). Long lists are cut by whoever makes them; what is still too long is cut here, so that a message always goes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bot.messages.markup import cut
from handlers.ports import Message

Block = Mapping[str, Any]

SECTION_TEXT = 2_800
ALL_TEXT = 9_000
MOST_BLOCKS = 48
SUMMARY = 1_500


@dataclass(frozen=True, slots=True)
class Button:
    """A button. `confirm`: title, text, yes and no of the question that Slack asks before the click counts."""

    text: str
    action_id: str
    value: str
    style: str = ""
    confirm: tuple[str, str, str, str] | None = None

    def element(self) -> Block:
        found: dict[str, Any] = {
            "type": "button",
            "text": _plain(self.text, 75),
            "action_id": self.action_id,
            "value": self.value,
        }
        if self.style:
            found["style"] = self.style
        if self.confirm:
            found["confirm"] = _confirm(self.confirm, self.style)
        return found


def header(text: str) -> Block:
    return {"type": "header", "text": _plain(text, 150)}


def sections(lines: Iterable[str]) -> tuple[Block, ...]:
    """Lines of mrkdwn in as few sections as fit."""
    return tuple({"type": "section", "text": {"type": "mrkdwn", "text": text}} for text in _chunks(lines))


def footer(*texts: str) -> Block:
    """Small print."""
    elements = [{"type": "mrkdwn", "text": whole(text, SECTION_TEXT)} for text in texts[:10] if text]
    return {"type": "context", "elements": elements}


def actions(block_id: str, buttons: Iterable[Button]) -> Block:
    return {"type": "actions", "block_id": cut(block_id, 255), "elements": [button.element() for button in buttons]}


def divider() -> Block:
    return {"type": "divider"}


def assemble(summary: str, blocks: Iterable[Block]) -> Message:
    """A message that Slack takes: buttons, header and small print always stay, sections go when it gets too long."""
    wanted = [block for block in blocks if block.get("elements", True)]
    budget = ALL_TEXT - sum(_size(block) for block in wanted if block["type"] != "section")
    kept: list[Block] = []
    room = MOST_BLOCKS - sum(block["type"] != "section" for block in wanted)
    for block in wanted:
        if block["type"] != "section":
            kept.append(block)
        elif _size(block) <= budget and room > 0:
            budget, room = budget - _size(block), room - 1
            kept.append(block)
        elif budget > 0:
            budget, room = 0, 0
            kept.append({"type": "section", "text": {"type": "mrkdwn", "text": "…"}})
    return Message(whole(summary, SUMMARY) or "…", tuple(kept))


def whole(text: str, limit: int) -> str:
    """Cut mrkdwn without leaving an open code span or half an entity behind."""
    if len(text) <= limit:
        return text
    head = text[: limit - 3]
    head = head[: max(head.rfind(" "), limit // 2)]
    if head.rfind("&") > head.rfind(";"):
        head = head[: head.rfind("&")]
    if head.rfind("<") > head.rfind(">"):
        head = head[: head.rfind("<")]
    return head + ("`…" if head.count("`") % 2 else "…")


def _chunks(lines: Iterable[str]) -> list[str]:
    found: list[str] = []
    for line in (whole(line, SECTION_TEXT) for line in lines if line.strip()):
        if found and len(found[-1]) + len(line) < SECTION_TEXT:
            found[-1] += f"\n{line}"
        else:
            found.append(line)
    return found


def _size(block: Block) -> int:
    """Characters of the texts of a block."""
    match block:
        case {"text": {"text": str(text)}}:
            return len(text)
        case {"elements": list(elements)}:
            return sum(_size(element) if "action_id" in element else len(element["text"]) for element in elements)
        case _:
            return 0


def _confirm(question: tuple[str, str, str, str], style: str) -> Block:
    title, text, yes, no = question
    found: dict[str, Any] = {
        "title": _plain(title, 100),
        "text": _plain(text, 300),
        "confirm": _plain(yes, 30),
        "deny": _plain(no, 30),
    }
    return found | ({"style": style} if style else {})


def _plain(text: str, limit: int) -> Block:
    return {"type": "plain_text", "text": cut(" ".join(text.split()), limit) or "…", "emoji": False}
