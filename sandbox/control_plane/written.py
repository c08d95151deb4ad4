"""What the journal learns of a write that a real API server has answered: the same as of one that the emulator has.

The server's answer names what was made; nothing is asked of the server for it.
"""

import json
from typing import Any

from aiohttp import web

from sandbox.journal import Journal
from sandbox.kubernetes import protobuf
from sandbox.kubernetes.cluster import Call, Cluster
from sandbox.kubernetes.record import note
from sandbox.kubernetes.resources import Resource
from sandbox.kubernetes.routing import understand
from sandbox.kubernetes.shapes import ANY
from sandbox.tokens import ANONYMOUS, Tokens

Json = dict[str, Any]


class Written:
    """The writes of one cluster."""

    def __init__(self, cluster: str, journal: Journal, tokens: Tokens) -> None:
        self._cluster = Cluster(cluster, tokens, "")
        self._journal = journal
        self._tokens = tokens

    def note(self, request: web.Request, body: bytes, status: int, answer: bytes) -> None:
        """Add a write to the journal."""
        call = Call(
            cluster=self._cluster,
            method=request.method,
            path=request.path,
            query=request.query,
            body=_readable(request.content_type, body),
            content_type=request.content_type,
        )
        understand(call)
        if not call.plural:
            return
        call.resource = call.resource or _custom(call)
        call.identity = self._tokens.who(_bearer(request)) or ANONYMOUS
        made, wanted = _object(answer), _object(call.body)
        if not call.name and call.verb == "create":
            call.name = _name(made) or _name(wanted)
        if uid := (made.get("metadata") or {}).get("uid"):
            call.effect = {"uid": uid}
        note(self._journal, call, status)


def _custom(call: Call) -> Resource:
    """A resource that a definition has added; its scope is that of the path."""
    key = (call.group, call.plural)
    return Resource(call.group, call.version, call.plural, "", "", bool(call.namespace), key, (), ANY, custom=True)


def _readable(content_type: str, body: bytes) -> bytes:
    if content_type != protobuf.MEDIA:
        return body
    try:
        return protobuf.as_json(body)
    except protobuf.UnreadableError:
        return body


def _bearer(request: web.Request) -> str:
    return request.headers.get("Authorization", "").partition(" ")[2].strip()


def _object(content: bytes) -> Json:
    try:
        found = json.loads(content) if content else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _name(item: Json) -> str:
    return str((item.get("metadata") or {}).get("name") or "")
