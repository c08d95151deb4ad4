"""Watches: order, selectors, ends."""

from typing import Any

from tests.sandbox.conformance.asking import Check
from tests.sandbox.conformance.objects import event_slim, kinds, pod


async def check_watch_from_version(t: Check) -> None:
    """From a resourceVersion only later changes come: ADDED, MODIFIED, DELETED, each with the whole object."""
    rv = (await t.get(f"{t.core}/configmaps", quiet=True)).meta["resourceVersion"]

    async def write() -> Any:
        path = await t.config_map(labels={"set": t.object_name()})
        await t.patch(path, {"data": {"a": "2"}}, quiet=True)
        await t.delete(path, quiet=True)

    events, _ = await t.watch(
        f"{t.core}/configmaps",
        until=lambda e: len(e) >= 3,
        on_start=write,
        resourceVersion=rv,
        labelSelector=f"set={t.object_name()}",
    )
    t.expect([k for k, _ in kinds(events)] == ["ADDED", "MODIFIED", "DELETED"], "ADDED, MODIFIED, DELETED")
    versions = [int(e["object"]["metadata"]["resourceVersion"]) for e in events]
    t.expect(versions == sorted(set(versions)), "resourceVersions rise; DELETED carries a new one")


async def check_watch_without_version(t: Check) -> None:
    """Without resourceVersion (and with 0) the present objects come first as ADDED."""
    await t.config_map("a", labels={"set": t.object_name()})
    await t.config_map("b", labels={"set": t.object_name()})
    for query in ({}, {"resourceVersion": "0"}):
        events, end = await t.watch(
            f"{t.core}/configmaps", trim=event_slim, labelSelector=f"set={t.object_name()}", timeoutSeconds=1, **query
        )
        t.expect(
            sorted(kinds(events)) == [("ADDED", t.object_name("a")), ("ADDED", t.object_name("b"))],
            f"{query}: two ADDED",
        )
        t.expect(end == "closed by server", "closed after timeoutSeconds")


async def check_watch_timeout(t: Check) -> None:
    """timeoutSeconds ends the stream cleanly, without an event."""
    rv = (await t.get(f"{t.core}/configmaps", quiet=True)).meta["resourceVersion"]
    events, end = await t.watch(f"{t.core}/configmaps", resourceVersion=rv, timeoutSeconds=1, labelSelector="no=such")
    t.expect((events, end) == ([], "closed by server"), "empty, closed")


async def check_watch_one_object(t: Check) -> None:
    """A watch on one object goes by fieldSelector metadata.name; watch=true on its own path is a plain GET."""
    await t.config_map()
    events, _ = await t.watch(
        f"{t.core}/configmaps", trim=event_slim, fieldSelector=f"metadata.name={t.object_name()}", timeoutSeconds=1
    )
    t.expect(kinds(events) == [("ADDED", t.object_name())], "by fieldSelector")
    events, _ = await t.watch(f"{t.core}/configmaps/{t.object_name()}", trim=event_slim, timeoutSeconds=1)
    t.expect(
        [e.get("kind") for e in events] == ["ConfigMap"], "by its own path watch=true is ignored: the plain object"
    )


async def check_watch_selector_transition(t: Check) -> None:
    """An object that leaves the selector is DELETED for the watcher, one that enters is ADDED."""
    path = await t.config_map(labels={"set": t.object_name(), "in": "yes"})
    rv = (await t.get(f"{t.core}/configmaps", quiet=True)).meta["resourceVersion"]

    async def write() -> Any:
        for value in ("no", "yes"):
            await t.patch(path, {"metadata": {"labels": {"in": value}}}, quiet=True)

    events, _ = await t.watch(
        f"{t.core}/configmaps",
        until=lambda e: len(e) >= 2,
        on_start=write,
        resourceVersion=rv,
        labelSelector=f"set={t.object_name()},in=yes",
    )
    t.expect([k for k, _ in kinds(events)] == ["DELETED", "ADDED"], "DELETED, ADDED")
    t.expect(
        events[0]["object"]["metadata"]["labels"]["in"] == "yes",
        "the DELETED object is the one before, with the new resourceVersion",
    )


async def check_watch_field_selector_transition(t: Check) -> None:
    """A pod watch by spec.nodeName sees a binding as ADDED."""
    body = pod(t.object_name())
    body["spec"]["schedulerName"] = "nobody"
    await t.post(f"{t.core}/pods", body, quiet=True)
    rv = (await t.get(f"{t.core}/pods", quiet=True)).meta["resourceVersion"]

    async def write() -> Any:
        await t.post(
            f"{t.core}/pods/{t.object_name()}/binding",
            {"metadata": {"name": t.object_name()}, "target": {"kind": "Node", "name": t.server.node}},
            quiet=True,
        )

    events, _ = await t.watch(
        f"{t.core}/pods",
        trim=event_slim,
        until=lambda e: len(e) >= 1,
        on_start=write,
        resourceVersion=rv,
        fieldSelector=f"spec.nodeName={t.server.node},metadata.name={t.object_name()}",
    )
    t.expect(kinds(events) == [("ADDED", t.object_name())], "ADDED")


async def check_watch_graceful_delete(t: Check) -> None:
    """A pod's deletion is MODIFIED (deletionTimestamp) and later DELETED."""
    path = await t.pod(node=t.server.node)
    rv = (await t.get(f"{t.core}/pods", quiet=True)).meta["resourceVersion"]

    async def write() -> Any:
        await t.delete(path, quiet=True)
        await t.delete(path, gracePeriodSeconds=0, quiet=True)

    events, _ = await t.watch(
        f"{t.core}/pods",
        trim=event_slim,
        until=lambda e: e[-1:] and e[-1]["type"] == "DELETED",
        on_start=write,
        resourceVersion=rv,
        fieldSelector=f"metadata.name={t.object_name()}",
    )
    t.expect([k for k, _ in kinds(events)][-2:] == ["MODIFIED", "DELETED"], "MODIFIED, DELETED")


async def check_watch_finalizer_delete(t: Check) -> None:
    """With a finalizer: MODIFIED on delete, DELETED on removal of the finalizer."""
    path = await t.config_map(finalizers=["example.com/hold"], labels={"set": t.object_name()})
    rv = (await t.get(f"{t.core}/configmaps", quiet=True)).meta["resourceVersion"]

    async def write() -> Any:
        await t.delete(path, quiet=True)
        await t.patch(path, {"metadata": {"finalizers": None}}, quiet=True)

    events, _ = await t.watch(
        f"{t.core}/configmaps",
        trim=event_slim,
        until=lambda e: len(e) >= 2,
        on_start=write,
        resourceVersion=rv,
        labelSelector=f"set={t.object_name()}",
    )
    t.expect([k for k, _ in kinds(events)] == ["MODIFIED", "DELETED"], "MODIFIED, DELETED")


async def check_watch_bookmarks(t: Check) -> None:
    """With allowWatchBookmarks a bookmark comes near the end of timeoutSeconds: kind and resourceVersion only."""
    rv = (await t.get(f"{t.core}/configmaps", quiet=True)).meta["resourceVersion"]
    events, _ = await t.watch(
        f"{t.core}/configmaps",
        seconds=14,
        resourceVersion=rv,
        allowWatchBookmarks="true",
        timeoutSeconds=8,
        labelSelector="no=such",
        on_start=t.config_map,
    )
    marks = [e for e in events if e["type"] == "BOOKMARK"]
    t.expect(
        marks
        and marks[-1]["object"]["kind"] == "ConfigMap"
        and marks[-1]["object"]["metadata"]["resourceVersion"].isdigit(),
        "a bookmark with a resourceVersion",
    )
    t.exchanges[-1]["response"]["events"] = marks[-1:]  # how many come is not fixed
