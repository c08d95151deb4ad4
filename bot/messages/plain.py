"""A message's short form, for when Slack does not take the full one, and its text, for a terminal."""

import re
from collections.abc import Iterator

from bot.messages.layout import SECTION_TEXT, Block, whole
from handlers.ports import Message

_DATE = re.compile(r"<!date\^[^|>]*\|([^>]*)>")
_LINK = re.compile(r"<[@#!]?([^|>]+)(?:\|([^>]*))?>")
_STRONG = re.compile(r"(?<![\w*])\*([^*\n]+)\*(?![\w*])")


def plain(message: Message) -> Message:
    """The key fact and the buttons, nothing else: one plain section and the message's own actions."""
    text = whole(message.text, SECTION_TEXT)
    section: Block = {"type": "section", "text": {"type": "mrkdwn", "text": text}}
    gates = tuple(block for block in message.blocks if block.get("type") == "actions")
    return Message(text, (section, *gates) if gates else ())


def terminal(message: Message) -> str:
    """All text of a message, without Slack's markup."""
    lines = list(_texts(message.blocks)) or [message.text]
    return "\n".join(_bare(line) for line in lines)


def _texts(blocks: tuple[Block, ...]) -> Iterator[str]:
    for block in blocks:
        match block:
            case {"type": "header" | "section", "text": {"text": str(text)}}:
                yield text
            case {"type": "context", "elements": list(elements)}:
                yield " · ".join(element["text"] for element in elements)


def _bare(text: str) -> str:
    text = _DATE.sub(r"\1", text)
    text = _LINK.sub(lambda match: match[2] or match[1], text)
    text = _STRONG.sub(r"\1", text).replace("`", "")
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
