"""Watches: bookmarks, initial events, versions, formats."""

import json

from tests.sandbox.conformance.asking import TABLE, Check
from tests.sandbox.conformance.objects import event_slim, kinds, widget, widgets


async def check_watch_initial_events(t: Check) -> None:
    """sendInitialEvents: present objects as ADDED, then a bookmark with the annotation initial-events-end."""
    await t.config_map("a", labels={"set": t.object_name()})
    await t.config_map("b", labels={"set": t.object_name()})
    query = {
        "sendInitialEvents": "true",
        "allowWatchBookmarks": "true",
        "resourceVersionMatch": "NotOlderThan",
        "labelSelector": f"set={t.object_name()}",
        "timeoutSeconds": "5",
    }
    events, _ = await t.watch(f"{t.core}/configmaps", until=lambda e: e and e[-1]["type"] == "BOOKMARK", **query)
    t.expect([e["type"] for e in events] == ["ADDED", "ADDED", "BOOKMARK"], "ADDED, ADDED, BOOKMARK")
    t.expect(
        events[-1]["object"]["metadata"].get("annotations", {}).get("k8s.io/initial-events-end") == "true",
        "the annotation",
    )
    events, end = await t.watch(f"{t.core}/configmaps", sendInitialEvents="true", timeoutSeconds="1")
    t.expect(end == "http 422", "without resourceVersionMatch: 422")
    r = await t.get(f"{t.core}/configmaps", sendInitialEvents="true", resourceVersionMatch="NotOlderThan")
    t.expect(r.status == 422, "on a list: 422")


async def check_watch_too_old(t: Check) -> None:
    """A watch from a resourceVersion older than the history: 200 with one ERROR event 410 Expired, then the end."""
    events, end = await t.watch(widgets(t), resourceVersion="1", timeoutSeconds="2")
    t.expect(
        len(events) == 1
        and events[0]["type"] == "ERROR"
        and events[0]["object"]["code"] == 410
        and events[0]["object"]["reason"] == "Expired",
        "ERROR 410 Expired",
    )
    t.expect(end == "closed by server", "closed")


async def check_watch_too_old_after_compaction(t: Check) -> None:
    """Compaction alone does not expire a watch: the watch cache still serves it (an emulator may say 410)."""
    if t.server.compact is None:
        t.skip("nobody can compact this server's history")
        return
    old = (await t.get(await t.config_map("a", labels={"set": t.object_name()}), quiet=True)).meta["resourceVersion"]
    await t.config_map("b", labels={"set": t.object_name()})
    await t.server.compact()
    events, _ = await t.watch(
        f"{t.core}/configmaps",
        trim=event_slim,
        resourceVersion=old,
        timeoutSeconds="1",
        labelSelector=f"set={t.object_name()}",
    )
    t.expect(kinds(events) == [("ADDED", t.object_name("b"))] or events[0]["type"] == "ERROR", "ADDED b, or 410")


async def check_watch_future_version(t: Check) -> None:
    """A watch from a future resourceVersion waits silently and ends with timeoutSeconds, without an error."""
    events, end = await t.watch(
        f"{t.core}/configmaps", resourceVersion="99999999999", timeoutSeconds="1", labelSelector="no=such"
    )
    t.expect((events, end) == ([], "closed by server"), "no event, closed")


async def check_watch_bad_version(t: Check) -> None:
    """A resourceVersion that is no number is a 500 before the stream starts (a list: 400)."""
    for rv in ("abc", "-1"):
        _, end = await t.watch(f"{t.core}/configmaps", resourceVersion=rv, timeoutSeconds="1")
        t.expect(end == "http 500", f"{rv}: 500")


async def check_watch_with_limit_or_exact(t: Check) -> None:
    """resourceVersionMatch on a plain watch is 422; a bad selector is 400 before the stream starts."""
    _, end = await t.watch(
        f"{t.core}/configmaps", resourceVersion="1", resourceVersionMatch="Exact", timeoutSeconds="1"
    )
    t.expect(end == "http 422", "422")
    _, end = await t.watch(f"{t.core}/pods", fieldSelector="spec.foo=1", timeoutSeconds="1")
    t.expect(end == "http 400", "400")


async def check_watch_old_path(t: Check) -> None:
    """The deprecated /watch/ path prefix still works."""
    await t.config_map(labels={"set": t.object_name()})
    path = f"/api/v1/watch/namespaces/{t.ns}/configmaps"
    events, end = await t.watch(path, trim=event_slim, labelSelector=f"set={t.object_name()}", timeoutSeconds="1")
    t.expect(end == "closed by server" and kinds(events), "200, ADDED")


async def check_watch_all_namespaces(t: Check) -> None:
    """A watch over all namespaces carries objects with their namespace."""
    rv = (await t.get("/api/v1/configmaps", quiet=True)).meta["resourceVersion"]
    events, _ = await t.watch(
        "/api/v1/configmaps",
        until=lambda e: len(e) >= 1,
        on_start=lambda: t.config_map(labels={"set": t.object_name()}),
        resourceVersion=rv,
        labelSelector=f"set={t.object_name()}",
    )
    t.expect(events and events[0]["object"]["metadata"]["namespace"] == t.ns, "namespace given")


async def check_watch_custom_resource(t: Check) -> None:
    """Custom resources are watched like others, with kind in each object."""
    rv = (await t.get(widgets(t), quiet=True)).meta["resourceVersion"]
    events, _ = await t.watch(
        widgets(t),
        until=lambda e: len(e) >= 1,
        on_start=lambda: t.post(widgets(t), widget(t), quiet=True),
        resourceVersion=rv,
        fieldSelector=f"metadata.name={t.object_name()}",
    )
    t.expect(kinds(events) == [("ADDED", t.object_name())] and events[0]["object"]["kind"] == "Widget", "ADDED Widget")


async def check_watch_table(t: Check) -> None:
    """A watch with the Table accept header sends Tables; columns only in the first event."""
    await t.config_map("a", labels={"set": t.object_name()})
    await t.config_map("b", labels={"set": t.object_name()})
    r = await t.get(
        f"{t.core}/configmaps",
        accept=TABLE,
        watch="true",
        timeoutSeconds="1",
        labelSelector=f"set={t.object_name()}",
        trim=lambda b: [json.loads(line) for line in b.splitlines()] if isinstance(b, str) else b,
    )
    events = [json.loads(line) for line in r.body.splitlines()]
    t.expect([e["object"]["kind"] for e in events] == ["Table", "Table"], "two Tables")
    t.expect(
        events[0]["object"]["columnDefinitions"] and not events[1]["object"].get("columnDefinitions"), "columns once"
    )
