"""Sends a watch over HTTP: one JSON object per line, flushed at once, in the format the caller accepts."""

import json
from typing import Any

from aiohttp import web

from sandbox.kubernetes import watching
from sandbox.kubernetes.cluster import Call
from sandbox.kubernetes.negotiation import Format, chosen, viewed
from sandbox.kubernetes.views import present

Obj = dict[str, Any]


async def stream(call: Call, request: web.Request) -> web.StreamResponse:
    """Answer a watch until its time is over or the caller has gone. Raises ApiError before anything is sent."""
    wanted = chosen(call)
    opened = watching.open_stream(call)
    response = web.StreamResponse(headers={"Content-Type": "application/json", "Cache-Control": "no-cache, private"})
    response.enable_chunked_encoding()
    await response.prepare(request)
    head = True
    told = watching.changes(opened)
    try:
        async for change in told:
            await response.write(_bytes(call, change, wanted, head=head))
            head = False
        await response.write_eof()
    except ConnectionResetError:
        return response  # the caller has gone, or an outage was commanded
    finally:
        await told.aclose()
    return response


def _bytes(call: Call, change: "watching.Change | Obj", wanted: Format, *, head: bool) -> bytes:
    if isinstance(change, watching.Change):
        if not wanted.view:
            return watching.line(change, call.kind)
        obj = viewed(call, present(change.record.obj, call.kind), wanted.view, head=head)
        return json.dumps({"type": change.type, "object": obj}).encode() + b"\n"
    if wanted.view == "Table" and change["type"] == "BOOKMARK":
        table = {"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": change["object"]["metadata"]}
        change = {"type": "BOOKMARK", "object": {**table, "columnDefinitions": None, "rows": []}}
    return watching.encoded(change)
