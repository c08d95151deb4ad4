"""Reading one object and lists: pages."""

from typing import Any

from tests.sandbox.conformance.asking import Check
from tests.sandbox.conformance.objects import slim, widget, widgets


async def check_get_missing(t: Check) -> None:
    """A missing object is 404 NotFound with kind (plural), group and name in details."""
    for path in (
        f"{t.core}/pods/none",
        "/api/v1/nodes/none",
        f"/apis/apps/v1/namespaces/{t.ns}/deployments/none",
        f"{widgets(t)}/none",
        "/api/v1/namespaces/none",
    ):
        r = await t.get(path)
        t.expect(r.status == 404 and r.reason == "NotFound" and r["details"]["name"] == "none", f"{path}: 404 NotFound")


async def check_get_object(t: Check) -> None:
    """A GET carries kind and apiVersion."""
    r = await t.get(await t.config_map())
    t.expect(r.status == 200 and r["kind"] == "ConfigMap" and r["apiVersion"] == "v1", "kind and apiVersion")


async def check_get_not_acceptable(t: Check) -> None:
    """An Accept type the server cannot give is 406; */* and no match order work."""
    path = await t.config_map()
    r = await t.get(path, accept="text/html")
    t.expect(r.status == 406, "406")
    r = await t.get(
        path,
        accept="application/vnd.kubernetes.protobuf,application/json",
        trim=lambda b: b if b == "(binary)" else "(json)",
    )
    t.fact("content type answered to protobuf,json", r.headers["Content-Type"])


async def check_get_partial_metadata(t: Check) -> None:
    """PartialObjectMetadata by the Accept header."""
    r = await t.get(await t.config_map(), accept="application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io")
    t.expect(r["kind"] == "PartialObjectMetadata" and "data" not in r.body, "metadata only")


async def check_list_envelope(t: Check) -> None:
    """A list has kind <Kind>List, a resourceVersion, and items without kind and apiVersion."""
    await t.config_map(labels={"set": t.object_name()})
    r = await t.get(f"{t.core}/configmaps", labelSelector=f"set={t.object_name()}")
    t.expect(r["kind"] == "ConfigMapList" and r.meta["resourceVersion"].isdigit(), "ConfigMapList with resourceVersion")
    t.expect("kind" not in r["items"][0], "items of built-in types have no kind")


async def check_list_custom_items_have_kind(t: Check) -> None:
    """Items of a custom resource list do carry kind and apiVersion."""
    await t.post(widgets(t), widget(t), quiet=True)
    r = await t.get(widgets(t), fieldSelector=f"metadata.name={t.object_name()}")
    t.expect(r["kind"] == "WidgetList" and r["items"][0]["kind"] == "Widget", "WidgetList, items with kind")


async def check_list_empty(t: Check) -> None:
    """An empty list is [] and not null, also in a namespace that does not exist."""
    r = await t.get("/api/v1/namespaces/no-such-namespace/pods")
    t.expect(r.status == 200 and r["items"] == [], "200 []")


async def check_list_limit_continue(t: Check) -> None:
    """limit pages with continue and remainingItemCount; the last page has neither; RV stays the first page's."""
    for number in range(3):
        await t.config_map(str(number), labels={"set": t.object_name()})
    selector = {"labelSelector": f"set={t.object_name()}"}
    first = await t.get(f"{t.core}/secrets", limit=1, quiet=True)
    await t.post(f"{t.core}/secrets", {"metadata": {"name": t.object_name("a")}}, quiet=True)
    await t.post(f"{t.core}/secrets", {"metadata": {"name": t.object_name("b")}}, quiet=True)
    await t.post(f"{t.core}/secrets", {"metadata": {"name": t.object_name("c")}}, quiet=True)
    first = await t.get(f"{t.core}/secrets", limit=1, trim=slim("kind", "metadata"))
    total = 1 + first.meta.get("remainingItemCount", 0)
    t.expect(
        len(first["items"]) == 1 and first.meta["continue"] and total >= 3, "one item, continue, remainingItemCount"
    )
    rest = await t.get(f"{t.core}/secrets", limit=500, continue_=first.meta["continue"], trim=slim("kind", "metadata"))
    t.expect(
        len(rest["items"]) == total - 1
        and "continue" not in rest.meta
        and rest.meta["resourceVersion"] == first.meta["resourceVersion"],
        "the rest at the same resourceVersion",
    )
    page = await t.get(f"{t.core}/configmaps", limit=2, **selector, trim=slim("kind", "metadata"))
    t.expect(
        len(page["items"]) == 2 and page.meta["continue"] and "remainingItemCount" not in page.meta,
        "with a selector: no remainingItemCount",
    )
    page = await t.get(
        f"{t.core}/configmaps", limit=2, continue_=page.meta["continue"], **selector, trim=slim("kind", "metadata")
    )
    t.expect(len(page["items"]) == 1 and not page.meta.get("continue"), "second page")


async def check_list_continue_is_a_snapshot(t: Check) -> None:
    """Objects made after the first page do not appear on later pages."""
    for suffix in ("a", "c"):
        await t.config_map(suffix, labels={"set": t.object_name()})
    first = await t.get(f"{t.core}/configmaps", limit=1, labelSelector=f"set={t.object_name()}", trim=slim("metadata"))
    await t.config_map("b", labels={"set": t.object_name()})
    rest = await t.get(
        f"{t.core}/configmaps",
        limit=5,
        continue_=first.meta["continue"],
        labelSelector=f"set={t.object_name()}",
        trim=slim("metadata"),
    )
    t.expect(rest.names == [t.object_name("c")], "only the old second object")


async def check_list_continue_bad(t: Check) -> None:
    """A continue token that is no token is 400; continue with a resourceVersion is 400 too."""
    r = await t.get(f"{t.core}/configmaps", limit=1, continue_="nonsense")
    t.expect(r.status == 400, "400")
    await t.config_map("a")
    await t.config_map("b")
    token = (await t.get(f"{t.core}/configmaps", limit=1, quiet=True)).meta["continue"]
    r = await t.get(f"{t.core}/configmaps", limit=1, continue_=token, resourceVersion="5")
    t.expect(r.status == 400, "with resourceVersion: 400")
    r = await t.get(f"{t.core}/configmaps", limit="many")
    t.expect(r.status == 400, "limit=many: 400")


async def check_list_continue_expired(t: Check) -> None:
    """A continue token older than the history is 410 Expired, and the answer offers an inconsistent token.

    The watch cache serves such tokens until it has noticed the compaction, for up to a minute.
    """
    if t.server.compact is None:
        t.skip("nobody can compact this server's history")
        return
    await t.config_map("a")
    await t.config_map("b")
    first = await t.get(f"{t.core}/configmaps", limit=1, trim=slim("metadata"))
    await t.config_map("later")
    t.expect(await t.server.compact(), "compacted")

    async def expired() -> Any:
        return (
            await t.get(f"{t.core}/configmaps", limit=1, continue_=first.meta["continue"], quiet=True)
        ).status == 410

    t.expect(await t.until(expired, 100, every=1), "expired within 100 s")
    r = await t.get(f"{t.core}/configmaps", limit=1, continue_=first.meta["continue"])
    t.expect(
        r.status == 410 and r.reason == "Expired" and r.meta.get("continue"), "410 Expired with a new continue token"
    )
    r = await t.get(f"{t.core}/configmaps", limit=500, continue_=r.meta["continue"], trim=slim("metadata"))
    t.expect(r.status == 200 and not r.meta.get("continue"), "the new token lists the rest as it is now")


async def check_list_label_selector(t: Check) -> None:
    """Label selectors: equality, set, existence, and their errors."""
    for suffix, labels in (("x", {"tier": "x"}), ("y", {"tier": "y", "gpu": "true"}), ("z", {"gpu": ""})):
        await t.config_map(suffix, labels={"set": t.object_name(), **labels})
    mine, expected = (
        f"set={t.object_name()}",
        {
            "tier=x": "x",
            "tier==x": "x",
            "tier!=x": "yz",
            "tier in (x,y)": "xy",
            "tier notin (x)": "yz",
            "gpu": "yz",
            "!gpu": "x",
            "gpu=": "z",
            "tier in (x),gpu": "",
            "gpu=true,tier=y": "y",
        },
    )
    for selector, names in expected.items():
        r = await t.get(
            f"{t.core}/configmaps",
            labelSelector=f"{mine},{selector}",
            trim=lambda b: [i["metadata"]["name"] for i in b["items"]],
        )
        t.expect(r.names == [t.object_name(n) for n in names], f"{selector} gives {names or 'none'}")
    for selector in ("a in x", "=", "a=b=c", "tier>x"):
        r = await t.get(f"{t.core}/configmaps", labelSelector=selector)
        t.expect(r.status == 400, f"{selector}: 400")


async def check_list_field_selector_pods(t: Check) -> None:
    """Pods can be selected by node, phase, name, and their negation; other fields are 400."""
    await t.ready_pod("on")
    await t.pod("off")

    def names(b: Any) -> Any:
        return [i["metadata"]["name"] for i in b["items"] if i["metadata"]["name"].startswith(t.object_name())]

    for selector, expected in (
        (f"spec.nodeName={t.server.node}", ["on"]),
        (f"metadata.name={t.object_name('off')}", ["off"]),
        ("status.phase=Running", ["on"]),
        ("status.phase!=Running", ["off"]),
        (f"spec.nodeName!={t.server.node}", ["off"]),
        ("spec.nodeName=", ["off"]),
        (f"spec.nodeName={t.server.node},status.phase=Pending", []),
        ("metadata.namespace=" + t.ns, ["off", "on"]),
        ("spec.restartPolicy=Always", ["off", "on"]),
        ("status.podIP=", ["off", "on"]),
    ):
        r = await t.get(f"{t.core}/pods", fieldSelector=selector, trim=names)
        t.expect(
            r.status == 200 and names(r.body) == [t.object_name(n) for n in expected], f"{selector} gives {expected}"
        )
    for selector in ("spec.foo=1", "metadata.labels=x", "spec.nodeName"):
        r = await t.get(f"{t.core}/pods", fieldSelector=selector)
        t.expect(r.status == 400, f"{selector}: 400")
