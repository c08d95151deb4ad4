"""Replacing objects."""

from tests.sandbox.conformance.asking import Check
from tests.sandbox.conformance.objects import config_map, widget, widgets


async def check_put_conflict(t: Check) -> None:
    """A PUT with a stale resourceVersion is 409 Conflict."""
    path = await t.config_map()
    r = await t.get(path, quiet=True)
    t.expect((await t.put(path, r.body | {"data": {"a": "2"}})).status == 200, "first PUT: 200")
    r = await t.put(path, r.body | {"data": {"a": "3"}})
    t.expect(r.status == 409 and r.reason == "Conflict", "second: 409 Conflict")


async def check_put_without_resource_version(t: Check) -> None:
    """A PUT without resourceVersion overwrites a ConfigMap; for custom resources and Leases it is 422."""
    path = await t.config_map(data={"a": "1", "b": "2"})
    r = await t.put(path, config_map(t.object_name(), {"b": "3"}))
    t.expect(r.status == 200 and r["data"] == {"b": "3"}, "ConfigMap: replaced")
    await t.post(widgets(t), widget(t), quiet=True)
    r = await t.put(f"{widgets(t)}/{t.object_name()}", widget(t, size=4))
    t.expect(r.status == 422 and r["details"]["causes"][0]["field"] == "metadata.resourceVersion", "widget: 422")
    lease = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": t.object_name()},
        "spec": {"holderIdentity": "a"},
    }
    leases = f"/apis/coordination.k8s.io/v1/namespaces/{t.ns}/leases"
    await t.post(leases, lease, quiet=True)
    r = await t.put(f"{leases}/{t.object_name()}", lease)
    t.expect(r.status == 422, "Lease: 422")


async def check_put_missing(t: Check) -> None:
    """A PUT on a missing object is 404; only some types (Leases) are created by it, 201."""
    r = await t.put(f"{t.core}/configmaps/{t.object_name()}", config_map(t.object_name()))
    t.expect(r.status == 404, "ConfigMap: 404")
    lease = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": t.object_name()},
        "spec": {"holderIdentity": "a"},
    }
    r = await t.put(f"/apis/coordination.k8s.io/v1/namespaces/{t.ns}/leases/{t.object_name()}", lease)
    t.expect(r.status == 201, "Lease: 201")


async def check_put_names_differ(t: Check) -> None:
    """Another name in the body than in the path is 400; another uid is 409."""
    path = await t.config_map()
    r = await t.put(path, config_map("another"))
    t.expect(r.status == 400, "name: 400")
    r = await t.put(path, config_map(t.object_name(), uid="00000000-0000-0000-0000-000000000000"))
    t.expect(r.status == 409, "uid: 409")


async def check_put_no_change(t: Check) -> None:
    """A PUT that changes nothing keeps the resourceVersion."""
    path = await t.config_map()
    before = await t.get(path, quiet=True)
    r = await t.put(path, before.body)
    t.expect(r.status == 200 and r.meta["resourceVersion"] == before.meta["resourceVersion"], "same resourceVersion")


async def check_put_immutable(t: Check) -> None:
    """Immutable fields are 422: a pod's container names, an immutable ConfigMap."""
    path = await t.pod()
    body = (await t.get(path, quiet=True)).body
    body["spec"]["containers"][0]["name"] = "other"
    body["metadata"] = {"name": t.object_name()}  # without resourceVersion a scheduler's write in between does no harm
    del body["status"]
    r = await t.put(path, body)
    t.expect(r.status == 422 and r.reason == "Invalid", "pod spec: 422")
    r = await t.post(f"{t.core}/configmaps", config_map(t.object_name()) | {"immutable": True}, quiet=True)
    r = await t.put(f"{t.core}/configmaps/{t.object_name()}", r.body | {"data": {"a": "9"}})
    t.expect(r.status == 422, "immutable ConfigMap: 422")
