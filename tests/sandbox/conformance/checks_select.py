"""Lists by selector and by resourceVersion."""

import time
from typing import Any

from tests.sandbox.conformance.asking import TABLE, Check
from tests.sandbox.conformance.objects import slim, widget, widgets


async def check_list_field_selector_nodes(t: Check) -> None:
    """Nodes can be selected by spec.unschedulable and metadata.name."""

    def names(b: Any) -> Any:
        return [i["metadata"]["name"] for i in b["items"] if i["metadata"]["name"] == t.server.node]

    r = await t.get("/api/v1/nodes", fieldSelector="spec.unschedulable=false", trim=names)
    t.expect(names(r.body) == [t.server.node], "an absent unschedulable counts as false")
    r = await t.get("/api/v1/nodes", fieldSelector=f"metadata.name={t.server.node}", trim=names)
    t.expect(r.names == [t.server.node], "by name")
    r = await t.get("/api/v1/nodes", fieldSelector="spec.providerID=x")
    t.expect(r.status == 400, "another field: 400")


async def check_list_field_selector_others(t: Check) -> None:
    """ConfigMaps and custom resources know only metadata.name and metadata.namespace; Jobs also status.successful."""
    r = await t.get(f"{t.core}/configmaps", fieldSelector="data.a=1")
    t.expect(r.status == 400, "ConfigMap data.a: 400")
    r = await t.get(widgets(t), fieldSelector="spec.size=3")
    t.expect(r.status == 400, "widget spec.size: 400")
    r = await t.get(f"/apis/batch/v1/namespaces/{t.ns}/jobs", fieldSelector="status.successful=0", trim=slim("kind"))
    t.expect(r.status == 200, "Job status.successful: 200")


async def check_list_resource_version(t: Check) -> None:
    """resourceVersion 0 may be stale, a past one means not older than, a future one waits and then is 504."""
    r = await t.get(f"{t.core}/configmaps", trim=slim("metadata"))
    now = r.meta["resourceVersion"]
    r = await t.get(f"{t.core}/configmaps", resourceVersion="0", trim=slim("metadata"))
    t.expect(r.status == 200, "0: 200")
    r = await t.get(f"{t.core}/configmaps", resourceVersion=now, trim=slim("metadata"))
    t.expect(r.status == 200 and int(r.meta["resourceVersion"]) >= int(now), "not older than")
    started = time.monotonic()
    r = await t.get(f"{t.core}/configmaps", resourceVersion="99999999999")
    t.expect(
        r.status == 504 and r.reason == "Timeout" and r["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge",
        "future: 504 ResourceVersionTooLarge",
    )
    t.fact("seconds until the 504", round(time.monotonic() - started))
    r = await t.get(f"{t.core}/configmaps", resourceVersion="abc")
    t.expect(r.status == 400, "abc: 400")


async def check_list_resource_version_match(t: Check) -> None:
    """resourceVersionMatch=Exact lists history; it needs a resourceVersion and may not be 0."""
    path = await t.config_map("a", labels={"set": t.object_name()})
    old = (await t.get(path, quiet=True)).meta["resourceVersion"]
    await t.config_map("b", labels={"set": t.object_name()})
    selector = {"labelSelector": f"set={t.object_name()}"}
    r = await t.get(
        f"{t.core}/configmaps", resourceVersion=old, resourceVersionMatch="Exact", **selector, trim=slim("metadata")
    )
    t.expect(r.names == [t.object_name("a")] and r.meta["resourceVersion"] == old, "as it was then")
    r = await t.get(
        f"{t.core}/configmaps",
        resourceVersion=old,
        resourceVersionMatch="NotOlderThan",
        **selector,
        trim=slim("metadata"),
    )
    t.expect(len(r["items"]) == 2, "NotOlderThan: as it is now")
    for query in (
        {"resourceVersionMatch": "Exact"},
        {"resourceVersion": "0", "resourceVersionMatch": "Exact"},
        {"resourceVersion": old, "resourceVersionMatch": "Later"},
    ):
        r = await t.get(f"{t.core}/configmaps", **query)
        t.expect(r.status == 422, f"{query}: 422")


async def check_list_exact_expired(t: Check) -> None:
    """An exact list of a compacted resourceVersion is 410 Expired, once the watch cache has noticed the compaction."""
    if t.server.compact is None:
        t.skip("nobody can compact this server's history")
        return
    old = (await t.get(await t.config_map(), quiet=True)).meta["resourceVersion"]
    await t.config_map("later")
    t.expect(await t.server.compact(), "compacted")

    async def expired() -> Any:
        return (
            await t.get(f"{t.core}/configmaps", resourceVersion=old, resourceVersionMatch="Exact", quiet=True)
        ).status == 410

    t.expect(await t.until(expired, 100, every=1), "expired within 100 s")
    r = await t.get(f"{t.core}/configmaps", resourceVersion=old, resourceVersionMatch="Exact")
    t.expect(r.status == 410 and r.reason == "Expired", "410 Expired")
    r = await t.get(f"{t.core}/configmaps", resourceVersion=old, resourceVersionMatch="NotOlderThan", trim=slim("kind"))
    t.expect(r.status == 200, "NotOlderThan: 200")


async def check_list_table(t: Check) -> None:
    """Table output: columns, cells, and PartialObjectMetadata per row; for a CRD its printer columns."""
    await t.ready_pod("p")
    r = await t.get(f"{t.core}/pods", accept=TABLE, fieldSelector=f"metadata.name={t.object_name('p')}")
    t.expect(
        r["kind"] == "Table" and [c["name"] for c in r["columnDefinitions"]][:3] == ["Name", "Ready", "Status"],
        "Table: Name, Ready, Status",
    )
    t.expect(r["rows"][0]["object"]["kind"] == "PartialObjectMetadata", "rows carry PartialObjectMetadata")
    await t.post(widgets(t), widget(t), quiet=True)
    r = await t.get(f"{widgets(t)}/{t.object_name()}", accept=TABLE)
    t.expect([c["name"] for c in r["columnDefinitions"]] == ["Name", "State"], "custom columns")
    r = await t.get(f"/api/v1/nodes/{t.server.node}", accept=TABLE)
    t.expect(r["rows"][0]["cells"][0] == t.server.node, "a node as a Table")
