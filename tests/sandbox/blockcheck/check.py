"""Hold a message of the bot's against everything Slack is known to refuse, and what readers without blocks need.

Stricter than Slack in three points: a fallback text is required, it may have 4 000 characters, and all text of a
message stays below 10 000 (the undocumented limit starts near 12 000).
"""

import json
from typing import Any

from sandbox.slack.blocks import MESSAGE_TEXT, METADATA_BYTES, block_faults, block_text

ALL_TEXT = 10_000


def problems(message: dict[str, Any]) -> tuple[str, ...]:
    """Everything wrong with a message (`text`, `blocks`, `metadata` as given to chat.postMessage); () when fine."""
    blocks = message.get("blocks")
    found = [str(fault) for fault in block_faults(blocks)] if blocks is not None else []
    text = message.get("text")
    if not isinstance(text, str) or not text.strip():
        found.append("no fallback text")
    elif len(text) > MESSAGE_TEXT:
        found.append(f"fallback text of {len(text)} characters")
    if block_text(blocks) > ALL_TEXT:
        found.append(f"{block_text(blocks)} characters in blocks")
    if len(json.dumps(message.get("metadata") or {}).encode()) > METADATA_BYTES:
        found.append("metadata too large")
    return tuple(found)
