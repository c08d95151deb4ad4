"""Patches of all kinds but apply."""

from tests.sandbox.conformance.asking import JSON, JSON_PATCH, MERGE, STRATEGIC, Check
from tests.sandbox.conformance.objects import slim, widget, widgets


async def check_patch_json(t: Check) -> None:
    """JSON patch: add, replace, remove, and escaped paths; the answer is 200 with the new object."""
    path = await t.config_map(labels={"a": "1"})
    r = await t.patch(
        path,
        [
            {"op": "add", "path": "/metadata/labels/example.com~1b", "value": "2"},
            {"op": "replace", "path": "/data/a", "value": "9"},
            {"op": "remove", "path": "/metadata/labels/a"},
        ],
        JSON_PATCH,
    )
    t.expect(r.status == 200 and r.meta["labels"] == {"example.com/b": "2"} and r["data"] == {"a": "9"}, "applied")


async def check_patch_json_errors(t: Check) -> None:
    """A failing test op and a missing path are 422; a broken patch is 400; nothing changes."""
    path = await t.config_map()
    r = await t.patch(
        path,
        [{"op": "test", "path": "/data/a", "value": "no"}, {"op": "replace", "path": "/data/a", "value": "9"}],
        JSON_PATCH,
    )
    t.expect(r.status == 422 and r.reason == "Invalid", "test: 422")
    r = await t.patch(path, [{"op": "remove", "path": "/data/none"}], JSON_PATCH)
    t.expect(r.status == 422, "missing path: 422")
    r = await t.patch(path, {"op": "remove"}, JSON_PATCH)
    t.expect(r.status == 400, "no array: 400")
    r = await t.patch(path, [{"op": "swap", "path": "/data/a"}], JSON_PATCH)
    t.expect(r.status == 422, "unknown op: 422")
    t.expect((await t.get(path, quiet=True))["data"] == {"a": "1"}, "unchanged")


async def check_patch_json_test_resource_version(t: Check) -> None:
    """A test op on metadata.resourceVersion is a compare-and-swap; a stale one is 422, not 409."""
    path = await t.config_map()
    old = (await t.get(path, quiet=True)).meta["resourceVersion"]
    r = await t.patch(
        path,
        [
            {"op": "test", "path": "/metadata/resourceVersion", "value": old},
            {"op": "replace", "path": "/data/a", "value": "2"},
        ],
        JSON_PATCH,
        trim=slim("data"),
    )
    t.expect(r.status == 200, "current: 200")
    r = await t.patch(
        path,
        [
            {"op": "test", "path": "/metadata/resourceVersion", "value": old},
            {"op": "replace", "path": "/data/a", "value": "3"},
        ],
        JSON_PATCH,
    )
    t.expect(r.status == 422, "stale: 422")


async def check_patch_merge(t: Check) -> None:
    """Merge patch: null deletes, lists are replaced, resourceVersion is a precondition (409)."""
    path = await t.config_map(data={"a": "1", "b": "2"}, labels={"x": "1"})
    old = (await t.get(path, quiet=True)).meta["resourceVersion"]
    r = await t.patch(path, {"data": {"a": None, "c": "3"}, "metadata": {"labels": None}})
    t.expect(r.status == 200 and r["data"] == {"b": "2", "c": "3"} and "labels" not in r.meta, "null deletes")
    r = await t.patch(path, {"metadata": {"resourceVersion": old}, "data": {"d": "4"}})
    t.expect(r.status == 409 and r.reason == "Conflict", "stale resourceVersion: 409")
    r = await t.patch(path, {"metadata": {"uid": "00000000-0000-0000-0000-000000000000"}})
    t.expect(r.status == 422, "other uid: 422 (a PUT: 409)")
    r = await t.patch(path, {"metadata": {"name": "other"}})
    t.expect(r.status == 400, "other name: 400")


async def check_patch_no_change(t: Check) -> None:
    """A patch that changes nothing keeps the resourceVersion and sends no event."""
    path = await t.config_map(labels={"x": "1"})
    before = (await t.get(path, quiet=True)).meta["resourceVersion"]
    r = await t.patch(path, {"metadata": {"labels": {"x": "1", "none": None}}})
    t.expect(r.status == 200 and r.meta["resourceVersion"] == before, "same resourceVersion")


async def check_patch_missing(t: Check) -> None:
    """A patch on a missing object is 404 for merge, JSON and strategic."""
    for kind, body in ((MERGE, {}), (STRATEGIC, {}), (JSON_PATCH, [])):
        r = await t.patch(f"{t.core}/configmaps/none", body, kind)
        t.expect(r.status == 404, f"{kind}: 404")


async def check_patch_wrong_type(t: Check) -> None:
    """Unknown patch content types are 415, with the list of supported ones."""
    path = await t.config_map()
    for kind in (JSON, "text/plain", "application/yaml"):
        r = await t.patch(path, {"data": {"a": "2"}}, kind)
        t.expect(r.status == 415 and r.reason == "UnsupportedMediaType", f"{kind}: 415")


async def check_patch_strategic_custom_resource(t: Check) -> None:
    """Custom resources refuse strategic merge with 415."""
    await t.post(widgets(t), widget(t), quiet=True)
    r = await t.patch(f"{widgets(t)}/{t.object_name()}", {"spec": {"size": 4}}, STRATEGIC)
    t.expect(r.status == 415, "415")
    r = await t.patch(f"{widgets(t)}/{t.object_name()}", {"spec": {"size": 4}})
    t.expect(r.status == 200 and r["spec"]["size"] == 4, "merge patch works")


async def check_patch_dry_run(t: Check) -> None:
    """dryRun=All on a patch answers the would-be object and stores nothing."""
    path = await t.config_map()
    r = await t.patch(path, {"data": {"a": "2"}}, dryRun="All")
    t.expect(r.status == 200 and r["data"] == {"a": "2"}, "answer shows the change")
    t.expect((await t.get(path, quiet=True))["data"] == {"a": "1"}, "not stored")


async def check_patch_field_validation(t: Check) -> None:
    """fieldValidation=Strict refuses unknown fields in a patch with 422 (in a create: 400)."""
    path = await t.config_map()
    r = await t.patch(path, {"colour": "red"}, fieldValidation="Strict")
    t.expect(r.status == 422, "422")
    r = await t.patch(path, {"colour": "red"})
    t.expect(r.status == 200 and "Warning" in r.headers, "default: Warning")
