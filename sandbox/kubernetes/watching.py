"""Watches: streams of changes with selector transitions, bookmarks, initial events and expiry.

An event's bytes are made once and shared by all streams that send it.
"""

import asyncio
import random
import time
from collections import deque
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any

from sandbox.kubernetes.cluster import Call
from sandbox.kubernetes.listing import check_versions, parse_version, selection
from sandbox.kubernetes.options import integer
from sandbox.kubernetes.resources import Resource
from sandbox.kubernetes.selectors import Selection
from sandbox.kubernetes.statuses import expired, internal
from sandbox.kubernetes.store import Event, ExpiredError, Record, encode
from sandbox.kubernetes.views import full_bytes, present

BOOKMARK_EVERY = 60.0
BOOKMARK_BEFORE_END = 2.0
INITIAL_END = {"k8s.io/initial-events-end": "true"}


@dataclass(slots=True, eq=False)
class Stream:
    """One open watch: what it wants and what waits to be sent."""

    call: Call
    chosen: Selection
    ends: float
    waiting: deque[Event] = field(default_factory=deque)
    ready: asyncio.Event = field(default_factory=asyncio.Event)

    def notice(self, event: Event) -> None:
        """Take note of a change, if it can be of interest."""
        if event.key != self.call.kind.key:
            return
        if self.chosen.namespace and event.place[0] != self.chosen.namespace:
            return
        self.waiting.append(event)
        self.ready.set()


@dataclass(frozen=True, slots=True)
class Change:
    """One thing a watcher is told. `shared`: the event whose bytes may be reused."""

    type: str
    record: Record
    shared: Event | None = None


def open_stream(call: Call) -> Stream:
    """Understand a watch request. Raises ApiError 400, 422 or 500 before anything is sent."""
    check_versions(call)
    chosen = selection(call)
    if call.query.get("resourceVersion"):
        try:
            parse_version(call.query["resourceVersion"])
        except ValueError as error:
            raise internal(str(error)) from error
    seconds = integer(call.query["timeoutSeconds"]) if call.query.get("timeoutSeconds") else 0
    return Stream(call, chosen, time.monotonic() + (seconds or random.uniform(1800, 3600)))


def transition(event: Event, chosen: Selection) -> Change | None:
    """What a change means to a watcher with this selection; None when it is none of its business."""
    if not chosen.narrow:
        return Change(event.type, event.new, event)
    before = event.old is not None and chosen.matches(event.old.obj)
    after = event.type != "DELETED" and chosen.matches(event.new.obj)
    if event.type == "DELETED":
        return Change("DELETED", event.new, event) if before else None
    if before and after:
        return Change("MODIFIED", event.new, event)
    if after:
        return Change("ADDED", event.new, event if event.type == "ADDED" else None)
    if before and event.old is not None:
        last = event.old.copy()
        last["metadata"]["resourceVersion"] = str(event.version)
        return Change("DELETED", Record(last, event.version))
    return None


def line(change: Change, resource: Resource) -> bytes:
    """The bytes of one event."""
    if change.shared is not None and not resource.custom and resource.group != "events.k8s.io":
        made = change.shared.lines.get(change.type)
        if made is None:
            made = change.shared.lines[change.type] = _line(change.type, full_bytes(change.record, resource))
        return made
    return _line(change.type, full_bytes(change.record, resource))


def _line(kind: str, obj: bytes) -> bytes:
    return b'{"type":"' + kind.encode() + b'","object":' + obj + b"}\n"


async def changes(stream: Stream) -> AsyncGenerator[Change | dict[str, Any]]:
    """All a watcher is told until its time is over; bookmarks and errors come as finished events."""
    store, call = stream.call.cluster.store, stream.call
    store.listen(stream.notice)
    try:
        text, initial = call.query.get("resourceVersion", ""), "sendInitialEvents" in call.query
        start = store.version
        if initial or text in ("", "0"):
            for _, record in list(store.items(call.kind.key, call.namespace)):
                if stream.chosen.matches(record.obj):
                    yield Change("ADDED", record)
            if initial and call.query["sendInitialEvents"] == "true":
                yield _bookmark(call, start, INITIAL_END)
        else:
            start = int(text)
            try:
                missed = store.since(call.kind.key, start)
            except ExpiredError:
                yield {"type": "ERROR", "object": expired(f"too old resource version: {start} ({store.floor})").body()}
                return
            for event in missed:
                if event not in stream.waiting:
                    stream.waiting.append(event)
            stream.waiting = deque(sorted(stream.waiting, key=lambda event: event.version))
        async for told in _live(stream, start):
            yield told
    finally:
        store.unlisten(stream.notice)


async def _live(stream: Stream, start: int) -> AsyncGenerator[Change | dict[str, Any]]:
    bookmarks = stream.call.query.get("allowWatchBookmarks") in ("true", "1")
    opened = time.monotonic()
    due = min(opened + BOOKMARK_EVERY, max(stream.ends - BOOKMARK_BEFORE_END, opened + 1))
    while (now := time.monotonic()) < stream.ends:
        while stream.waiting:
            event = stream.waiting.popleft()
            if event.version > start and (change := transition(event, stream.chosen)) is not None:
                yield change
        stream.ready.clear()
        if bookmarks and now >= due:
            due = now + BOOKMARK_EVERY
            if due > stream.ends - BOOKMARK_BEFORE_END > now:
                due = stream.ends - BOOKMARK_BEFORE_END
            version = stream.call.cluster.store.version
            if version >= start:
                yield _bookmark(stream.call, version, None)
        await _pause(stream, min(stream.ends, due if bookmarks else stream.ends))


async def _pause(stream: Stream, until: float) -> None:
    """Wait for a change, or for the next thing that is due."""
    try:
        async with asyncio.timeout(max(until - time.monotonic(), 0)):
            await stream.ready.wait()
    except TimeoutError:
        return


def _bookmark(call: Call, version: int, annotations: dict[str, str] | None) -> dict[str, Any]:
    resource = call.kind
    meta: dict[str, Any] = {"resourceVersion": str(version)}
    if annotations:
        meta["annotations"] = annotations
    return {
        "type": "BOOKMARK",
        "object": {"kind": resource.kind, "apiVersion": resource.group_version, "metadata": meta},
    }


def shown(change: Change, resource: Resource) -> dict[str, Any]:
    """The object of a change, for formats other than plain JSON."""
    return present(change.record.obj, resource)


def encoded(event: dict[str, Any]) -> bytes:
    return encode(event) + b"\n"
