"""Say whether Slack would take a view: a modal or a Home tab.

Source: docs.slack.dev (views), slack_sdk's View; the size limit is 250 kB.
"""

import json
from typing import Any

from sandbox.slack.block_spec import Flag, Shape, Str, Text
from sandbox.slack.blocks import Fault, block_faults, shape_faults

VIEW_BYTES = 250_000
_COMMON = {
    "private_metadata": Str(3000, 0),
    "callback_id": Str(255, 0),
    "external_id": Str(255, 0),
}
_MODAL = Shape(
    {"title": Text(24, plain=True)},
    {
        **_COMMON,
        "submit": Text(24, plain=True),
        "close": Text(24, plain=True),
        "clear_on_close": Flag(),
        "notify_on_close": Flag(),
        "submit_disabled": Flag(),
    },
)
_HOME = Shape(
    {}, {**_COMMON, "title": Text(24, plain=True), "submit": Text(24, plain=True), "close": Text(24, plain=True)}
)


def view_faults(view: Any) -> tuple[Fault, ...]:
    """Everything wrong with a view; empty when Slack would take it."""
    if not isinstance(view, dict):
        return (Fault("/view", "must provide an object"),)
    kind = view.get("type")
    if kind not in ("modal", "home"):
        return (Fault("/view/type", f"unsupported type: {kind}"),)
    found = list(shape_faults(view, _MODAL if kind == "modal" else _HOME, "/view", extra=("type", "blocks")))
    found += block_faults(view.get("blocks"), view=True, root="/view/blocks")
    if kind == "modal" and _has_input(view.get("blocks")) and not view.get("submit"):
        found.append(Fault("/view", "missing required field: submit"))
    return tuple(found)


def too_large(view: Any) -> bool:
    return len(json.dumps(view).encode()) > VIEW_BYTES


def _has_input(blocks: Any) -> bool:
    return isinstance(blocks, list) and any(isinstance(b, dict) and b.get("type") == "input" for b in blocks)
