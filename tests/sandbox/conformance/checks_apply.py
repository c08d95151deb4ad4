"""Server-side apply."""

from typing import Any

from tests.sandbox.conformance.asking import APPLY, Check
from tests.sandbox.conformance.objects import slim, widgets


def apply_config_map(t: Check, **data: Any) -> Any:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": t.object_name()}, "data": data}


async def check_apply_create(t: Check) -> None:
    """Apply on a missing object creates it (201) and records its manager; again it is 200."""
    path = f"{t.core}/configmaps/{t.object_name()}"
    r = await t.patch(path, apply_config_map(t, a="1"), APPLY, fieldManager="one")
    fields = r.meta["managedFields"]
    t.expect(
        r.status == 201 and fields[0]["manager"] == "one" and fields[0]["operation"] == "Apply", "201, manager one"
    )
    t.expect(fields[0]["fieldsV1"] == {"f:data": {"f:a": {}}} and fields[0]["fieldsType"] == "FieldsV1", "fieldsV1")
    again = await t.patch(path, apply_config_map(t, a="1"), APPLY, fieldManager="one")
    t.expect(again.status == 200 and again.meta["resourceVersion"] == r.meta["resourceVersion"], "200, unchanged")


async def check_apply_removes_what_is_left_out(t: Check) -> None:
    """A field the manager applied before and leaves out now is deleted."""
    path = f"{t.core}/configmaps/{t.object_name()}"
    await t.patch(path, apply_config_map(t, a="1", b="2"), APPLY, fieldManager="one", quiet=True)
    r = await t.patch(path, apply_config_map(t, a="1"), APPLY, fieldManager="one")
    t.expect(r["data"] == {"a": "1"}, "b is gone")


async def check_apply_conflict(t: Check) -> None:
    """Another manager's value is a 409 with a cause per field; force takes it; equal values are shared."""
    path = f"{t.core}/configmaps/{t.object_name()}"
    await t.patch(path, apply_config_map(t, a="1"), APPLY, fieldManager="one", quiet=True)
    r = await t.patch(path, apply_config_map(t, a="2"), APPLY, fieldManager="two")
    t.expect(
        r.status == 409
        and r["details"]["causes"][0]["reason"] == "FieldManagerConflict"
        and r["details"]["causes"][0]["field"] == ".data.a",
        "409 FieldManagerConflict .data.a",
    )
    r = await t.patch(path, apply_config_map(t, a="1"), APPLY, fieldManager="two")
    t.expect(r.status == 200 and len(r.meta["managedFields"]) == 2, "same value: shared")
    r = await t.patch(path, apply_config_map(t, a="3"), APPLY, fieldManager="two", force="true")
    t.expect(r.status == 200 and [f["manager"] for f in r.meta["managedFields"]] == ["two"], "force: only two is left")


async def check_apply_after_update(t: Check) -> None:
    """A field written by a plain update conflicts with apply, naming the updater from fieldManager or User-Agent."""
    path = await t.config_map()
    await t.patch(path, {"data": {"b": "2"}}, fieldManager="hand", quiet=True)
    r = await t.patch(path, apply_config_map(t, a="8", b="9"), APPLY, fieldManager="one")
    t.expect(r.status == 409 and len(r["details"]["causes"]) == 2, "409, two causes")


async def check_apply_needs_field_manager(t: Check) -> None:
    """Apply without fieldManager is 422, force on another patch 422, a name mismatch or no kind 400."""
    path = f"{t.core}/configmaps/{t.object_name()}"
    r = await t.patch(path, apply_config_map(t, a="1"), APPLY)
    t.expect(r.status == 422, "no fieldManager: 422")
    r = await t.patch(await t.config_map("x"), {"data": {}}, force="true")
    t.expect(r.status == 422, "force on a merge patch: 422")
    r = await t.patch(f"{t.core}/configmaps/other", apply_config_map(t, a="1"), APPLY, fieldManager="one")
    t.expect(r.status == 400, "another name: 400")
    r = await t.patch(path, {"data": {"a": "1"}}, APPLY, fieldManager="one")
    t.expect(r.status == 400, "no kind: 400")


async def check_apply_strict(t: Check) -> None:
    """Apply of an unknown field is a 500 that names it, with every fieldValidation."""
    for validation in ("Strict", "Warn", "Ignore"):
        r = await t.patch(
            f"{t.core}/configmaps/{t.object_name()}",
            apply_config_map(t, a="1") | {"colour": "red"},
            APPLY,
            fieldManager="one",
            fieldValidation=validation,
        )
        t.expect(r.status == 500 and "field not declared in schema" in r["message"], f"{validation}: 500")


async def check_apply_custom_resource(t: Check) -> None:
    """Apply works on custom resources, YAML bodies too."""
    body = f"apiVersion: {t.server.group}/v1\nkind: Widget\nmetadata:\n  name: {t.object_name()}\nspec:\n  size: 2\n"
    r = await t.patch(f"{widgets(t)}/{t.object_name()}", body, APPLY, fieldManager="one")
    t.expect(r.status == 201 and r["spec"] == {"size": 2, "mode": "safe"}, "201 with defaults")


async def check_apply_lists_by_key(t: Check) -> None:
    """Node taints are atomic for apply too: a second manager conflicts; labels are owned one by one."""
    path = f"/api/v1/nodes/{t.server.node}"

    def keep(b: Any) -> Any:
        return {
            "taints": [x for x in b["spec"].get("taints", []) if not x["key"].startswith("node.kubernetes.io/")],
            "managers": sorted(f["manager"] for f in b["metadata"]["managedFields"] if f["operation"] == "Apply"),
        }

    def node(*taints: Any, **labels: Any) -> Any:
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": t.server.node, "labels": labels},
            "spec": {"taints": list(taints)} if taints else {},
        }

    await t.patch(
        path, node({"key": "one", "effect": "PreferNoSchedule"}), APPLY, fieldManager="one", force="true", trim=keep
    )
    r = await t.patch(path, node({"key": "two", "effect": "PreferNoSchedule"}), APPLY, fieldManager="two", trim=keep)
    t.expect(r.status == 409, "the second manager's taints: 409")
    await t.patch(path, node(), APPLY, fieldManager="one", force="true", trim=keep)
    await t.patch(path, node(), APPLY, fieldManager="two", force="true", trim=keep)
    await t.patch(path, {"spec": {"taints": None}}, quiet=True)
    r = await t.patch(path, node(probe="1"), APPLY, fieldManager="one", trim=lambda b: b["metadata"].get("labels"))
    t.expect(r.status == 200 and r.meta["labels"]["probe"] == "1", "a label by apply")
    r = await t.patch(path, node(), APPLY, fieldManager="one", trim=lambda b: b["metadata"].get("labels"))
    t.expect("probe" not in r.meta["labels"], "left out: removed")


async def check_apply_deployment(t: Check) -> None:
    """Apply of a Deployment: defaults come back, generation moves only with spec, managedFields has key lists."""
    labels, path = {"app": t.object_name()}, f"/apis/apps/v1/namespaces/{t.ns}/deployments/{t.object_name()}"
    body: Any = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": t.object_name()},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "c", "image": "i:1", "ports": [{"containerPort": 80}]}]},
            },
        },
    }
    r = await t.patch(path, body, APPLY, fieldManager="helm", fieldValidation="Strict", force="false")
    t.expect(r.status == 201 and r.meta["generation"] == 1, "201, generation 1")
    body["metadata"]["labels"] = {"x": "y"}
    r = await t.patch(path, body, APPLY, fieldManager="helm", trim=slim("metadata"))
    t.expect(r.status == 200 and r.meta["generation"] == 1, "labels only: generation 1")
