"""Custom resource definitions and their schemas."""

import asyncio
from typing import Any

from tests.sandbox.conformance.asking import Check
from tests.sandbox.conformance.objects import crd, slim, widget, widgets


async def check_crd_lifecycle(t: Check) -> None:
    """CRD: 201, Established, served in discovery, deleted with its objects, then 404."""
    group, crds = f"life.{t.server.group}", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    r = await t.post(crds, crd(group, "gears", "Gear", "Cluster"))
    t.expect(r.status == 201, "201")

    async def established() -> Any:
        r = await t.get(f"{crds}/gears.{group}", quiet=True)
        return {c["type"]: c["status"] for c in r.body.get("status", {}).get("conditions") or []}.get(
            "Established"
        ) == "True"

    t.expect(await t.until(established), "Established within 10 s")
    r = await t.get(f"{crds}/gears.{group}", trim=slim("metadata", "status"))
    t.expect({c["type"] for c in r["status"]["conditions"]} >= {"NamesAccepted", "Established"}, "both conditions")

    async def listed() -> Any:
        return (await t.get(f"/apis/{group}/v1/gears", quiet=True)).status == 200

    t.expect(await t.until(listed), "served")
    gear = {"apiVersion": f"{group}/v1", "kind": "Gear", "metadata": {"name": "g"}, "spec": {"size": 1}}
    t.expect((await t.post(f"/apis/{group}/v1/gears", gear)).status == 201, "object: 201")
    r = await t.delete(f"{crds}/gears.{group}")
    t.expect(r.status == 200, "delete: 200")

    async def gone() -> Any:
        return (await t.get(f"{crds}/gears.{group}", quiet=True)).status == 404

    t.expect(await t.until(gone, 20), "gone within 20 s")
    await asyncio.sleep(0.5)
    r = await t.get(f"/apis/{group}/v1/gears")
    t.expect(r.status == 404, "resource: 404")


async def check_crd_schema_validation(t: Check) -> None:
    """Objects against the schema: 422 with one cause per fault; defaults are filled in."""
    r = await t.post(widgets(t), widget(t, size=0, mode="loud"))
    t.expect(
        r.status == 422
        and r.reason == "Invalid"
        and {c["field"] for c in r["details"]["causes"]} == {"spec.size", "spec.mode"},
        "422: spec.size, spec.mode",
    )
    r = await t.post(widgets(t), widget(t, mode="fast"))
    t.expect(r.status == 422 and r["details"]["causes"][0]["reason"] == "FieldValueRequired", "required: 422")
    r = await t.post(widgets(t), widget(t, size="3"))
    t.expect(r.status == 422 and r["details"]["causes"][0]["reason"] == "FieldValueTypeInvalid", "type: 422")
    r = await t.post(widgets(t), widget(t, size=3))
    t.expect(r.status == 201 and r["spec"]["mode"] == "safe", "201 with the default")


async def check_crd_pruning(t: Check) -> None:
    """Unknown fields of a custom resource are pruned with a Warning, and refused under Strict."""
    r = await t.post(widgets(t), widget(t, size=3, colour="red"))
    t.expect(
        r.status == 201 and "colour" not in r["spec"] and "unknown field" in r.headers.get("Warning", ""),
        "pruned, Warning",
    )
    r = await t.post(widgets(t), widget(t, "strict", size=3, colour="red"), fieldValidation="Strict")
    t.expect(r.status == 400, "Strict: 400")


async def check_crd_invalid_definition(t: Check) -> None:
    """A CRD whose name is not plural.group is 422; without a schema 422."""
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    body = crd(t.server.group, "cogs", "Cog")
    body["metadata"]["name"] = "wrong." + t.server.group
    r = await t.post(crds, body)
    t.expect(r.status == 422, "name: 422")
    body = crd(t.server.group, "cogs", "Cog")
    del body["spec"]["versions"][0]["schema"]
    r = await t.post(crds, body)
    t.expect(r.status == 422, "no schema: 422")
