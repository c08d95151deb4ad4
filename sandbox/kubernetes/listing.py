"""Lists: selectors, pages, resourceVersion rules, history."""

import asyncio
import base64
import json
from typing import Any

from sandbox.kubernetes.cluster import Call, Reply
from sandbox.kubernetes.options import integer
from sandbox.kubernetes.selectors import Selection, parse_fields, parse_labels
from sandbox.kubernetes.statuses import (
    ApiError,
    Cause,
    bad_request,
    expired,
    forbidden_field,
    invalid_options,
    too_large_version,
    unsupported,
)
from sandbox.kubernetes.store import ExpiredError, Place, Record, encode
from sandbox.kubernetes.views import item_bytes

PATIENCE = 3.0  # seconds a list waits for a resourceVersion that does not exist yet
EXPIRED_PAGE = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list."
)
EXPIRED_EXACT = "The resourceVersion for the provided list is too old."

Rows = list[tuple[Place, Record]]


def selection(call: Call) -> Selection:
    """What the query selects. Raises ApiError 400."""
    resource = call.kind
    labels = parse_labels(call.query["labelSelector"]) if call.query.get("labelSelector") else ()
    text = call.query.get("fieldSelector", "")
    fields = parse_fields(text, resource.key, resource.selectable, custom=resource.custom) if text else ()
    return Selection(call.namespace, labels, fields)


def selected(call: Call) -> Rows:
    """All objects the query selects, as they are now."""
    chosen = selection(call)
    return _matching(list(call.cluster.store.items(call.kind.key, call.namespace)), chosen)


def _matching(rows: Rows, chosen: Selection) -> Rows:
    if chosen.namespace:
        rows = [row for row in rows if row[0][0] == chosen.namespace]
    return [row for row in rows if chosen.matches(row[1].obj)] if chosen.narrow else rows


def check_versions(call: Call) -> None:
    """Refuse contradictory resourceVersion options of a list or watch. Raises ApiError 422."""
    query, watch = call.query, call.verb == "watch"
    match, version, initial = (
        query.get("resourceVersionMatch", ""),
        query.get("resourceVersion", ""),
        "sendInitialEvents",
    )
    causes: list[Cause] = []
    if watch:
        causes = _watch_faults(match, initial=initial in query)
    else:
        if match and not version:
            text = "resourceVersionMatch is forbidden unless resourceVersion is provided"
            causes.append(forbidden_field("resourceVersionMatch", text))
        if match == "Exact" and version == "0":
            text = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
            causes.append(forbidden_field("resourceVersionMatch", text))
        if match not in ("", "Exact", "NotOlderThan"):
            causes.append(unsupported("resourceVersionMatch", json.dumps(match), ("Exact", "NotOlderThan", "")))
        if initial in query:
            causes.append(forbidden_field(initial, "sendInitialEvents is forbidden for list"))
    if causes:
        raise invalid_options("ListOptions", causes)


def _watch_faults(match: str, *, initial: bool) -> list[Cause]:
    causes = []
    if initial and match != "NotOlderThan":
        text = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        causes.append(forbidden_field("resourceVersionMatch", text))
    if match and not initial:
        text = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        causes.append(forbidden_field("resourceVersionMatch", text))
        if match != "NotOlderThan":
            causes.append(unsupported("resourceVersionMatch", json.dumps(match), ("NotOlderThan",)))
    return causes


def parse_version(text: str) -> int:
    """A resourceVersion as a number. Raises ValueError with Go's words."""
    if not text.isdigit():
        raise ValueError(
            f'resourceVersion: Invalid value: "{text}": strconv.ParseUint: parsing "{text}": invalid syntax'
        )
    return int(text)


async def list_objects(call: Call) -> Reply:
    """GET of a collection."""
    check_versions(call)
    chosen = selection(call)
    limit = integer(call.query["limit"]) if call.query.get("limit") else 0
    if call.query.get("continue"):
        rows, version, start = _continued(call)
    else:
        rows, version = await _from_start(call)
        start = None
    rows = _matching(rows, chosen)
    if start is not None:
        rows = [row for row in rows if row[0] > start]
    meta: dict[str, Any] = {"resourceVersion": str(version)}
    if 0 < limit < len(rows):
        meta["continue"] = _token(version, rows[limit - 1][0])
        if not chosen.narrow:
            meta["remainingItemCount"] = len(rows) - limit
        rows = rows[:limit]
    return _envelope(call, rows, meta)


def _envelope(call: Call, rows: Rows, meta: dict[str, Any]) -> Reply:
    resource = call.kind
    if resource.custom:
        meta.setdefault("continue", "")
    head = encode({"kind": resource.list_kind, "apiVersion": resource.group_version, "metadata": meta})
    items = b",".join(item_bytes(record, resource) for _, record in rows)
    return Reply(raw=head[:-1] + b',"items":[' + items + b"]}")


async def _from_start(call: Call) -> tuple[Rows, int]:
    store, text = call.cluster.store, call.query.get("resourceVersion", "")
    if text:
        try:
            asked = parse_version(text)
        except ValueError as error:
            raise bad_request(f"invalid resource version: {error}") from error
        await _wait_for(call, asked)
        if call.query.get("resourceVersionMatch") == "Exact":
            try:
                return store.at(call.kind.key, asked), asked
            except ExpiredError as error:
                raise expired(EXPIRED_EXACT) from error
    return list(store.items(call.kind.key, call.namespace)), store.version


async def _wait_for(call: Call, version: int) -> None:
    store, waited = call.cluster.store, 0.0
    while store.version < version:
        if waited >= PATIENCE:
            raise too_large_version(version, store.version)
        await asyncio.sleep(0.05)
        waited += 0.05


def _token(version: int, place: Place) -> str:
    text = json.dumps({"v": "meta.k8s.io/v1", "rv": version, "start": list(place)}, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _continued(call: Call) -> tuple[Rows, int, Place]:
    if call.query.get("resourceVersion"):
        raise bad_request("specifying resource version is not allowed when using continue")
    text = call.query["continue"]
    try:
        token = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        version, start = int(token["rv"]), (str(token["start"][0]), str(token["start"][1]))
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise _bad_token(text) from error
    store = call.cluster.store
    if version < 0:  # the inconsistent continuation that an expired token was answered with
        return list(store.items(call.kind.key, call.namespace)), store.version, start
    try:
        return store.at(call.kind.key, version), version, start
    except ExpiredError as error:
        raise expired(EXPIRED_PAGE, _token(-1, start)) from error


def _bad_token(text: str) -> ApiError:
    try:
        first = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))[:1].decode("latin-1")
    except ValueError:
        return bad_request(
            f"invalid continue token: continue key is not valid: illegal base64 data at input byte {len(text)}"
        )
    shown = first if first.isprintable() else f"\\u{ord(first or ' '):04x}"
    why = f"invalid character '{shown}' looking for beginning of value"
    return bad_request(f"invalid continue token: continue key is not valid: {why}")
