"""Strategic patches: which lists have keys, and nodes."""

from typing import Any

from tests.sandbox.conformance.asking import JSON_PATCH, MERGE, STRATEGIC, Check
from tests.sandbox.conformance.objects import slim, template


def taints(b: Any) -> Any:
    """Taints that no controller sets, comparable."""
    return sorted((x["key"], x.get("value"), x["effect"]) for x in own_taints(b)["spec"]["taints"])


def own_taints(b: Any) -> Any:
    found = [x for x in b["spec"].get("taints", []) if not x["key"].startswith("node.kubernetes.io/")]
    return {"spec": {"taints": found}}


async def check_patch_strategic_taints(t: Check) -> None:
    """Node taints are an atomic list: strategic and merge patch both replace it whole; $patch is no directive there."""
    path = f"/api/v1/nodes/{t.server.node}"

    await t.patch(
        path, {"spec": {"taints": [{"key": "a", "value": "1", "effect": "NoSchedule"}]}}, STRATEGIC, trim=own_taints
    )
    for kind in (STRATEGIC, MERGE):
        r = await t.patch(
            path, {"spec": {"taints": [{"key": kind[12:17], "effect": "PreferNoSchedule"}]}}, kind, trim=own_taints
        )
        t.expect(taints(r.body) == [(kind[12:17], None, "PreferNoSchedule")], f"{kind}: only the new one")
    r = await t.patch(path, {"spec": {"taints": [{"$patch": "delete", "key": "merge"}]}}, STRATEGIC, trim=own_taints)
    t.expect(r.status == 422, "$patch delete: 422")
    r = await t.patch(
        path,
        {
            "spec": {
                "taints": [{"key": "a", "effect": "NoSchedule"}, {"key": "a", "effect": "NoSchedule", "value": "2"}]
            }
        },
        MERGE,
        trim=own_taints,
    )
    t.expect(r.status == 422, "same key and effect twice: 422")
    r = await t.patch(
        path,
        [{"op": "add", "path": "/spec/taints/-", "value": {"key": "z", "effect": "PreferNoSchedule"}}],
        JSON_PATCH,
        trim=own_taints,
    )
    t.expect(r.status == 200 and ("z", None, "PreferNoSchedule") in taints(r.body), "JSON patch appends")
    r = await t.patch(path, {"spec": {"taints": None}}, trim=own_taints)
    t.expect(taints(r.body) == [], "null deletes all")


async def check_patch_strategic_conditions(t: Check) -> None:
    """Conditions merge by type through /status with strategic merge."""
    path = f"/api/v1/nodes/{t.server.node}/status"
    await t.patch(
        path,
        {"status": {"conditions": [{"type": "First", "status": "True", "reason": "A"}]}},
        STRATEGIC,
        trim=slim("status"),
    )
    r = await t.patch(
        path,
        {"status": {"conditions": [{"type": "Second", "status": "False"}, {"type": "First", "status": "False"}]}},
        STRATEGIC,
        trim=slim("status"),
    )
    found = {c["type"]: c for c in r["status"]["conditions"]}
    t.expect(
        found["First"]["status"] == "False" and found["First"].get("reason") == "A" and "Second" in found,
        "merged by type, other fields kept",
    )


async def check_patch_strategic_containers(t: Check) -> None:
    """Containers, env, volumes and tolerations of a Deployment: merged by name, or replaced."""
    path = f"/apis/apps/v1/namespaces/{t.ns}/deployments"
    labels = {"app": t.object_name()}
    body = template(
        labels,
        containers=[
            {"name": "a", "image": "a:1", "env": [{"name": "X", "value": "1"}], "args": ["1", "2"]},
            {"name": "b", "image": "b:1"},
        ],
        tolerations=[{"key": "k", "operator": "Exists"}],
    )
    await t.post(
        path,
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": t.object_name()},
            "spec": {"replicas": 0, "selector": {"matchLabels": labels}, "template": body},
        },
        quiet=True,
    )
    patch = {
        "spec": {
            "template": {
                "spec": {
                    "containers": [{"name": "a", "image": "a:2", "env": [{"name": "Y", "value": "2"}], "args": ["3"]}],
                    "tolerations": [{"key": "z", "operator": "Exists"}],
                }
            }
        }
    }
    r = await t.patch(f"{path}/{t.object_name()}", patch, STRATEGIC, trim=slim("kind", "spec"))
    spec = r["spec"]["template"]["spec"]
    first = next(c for c in spec["containers"] if c["name"] == "a")
    t.expect(len(spec["containers"]) == 2 and first["image"] == "a:2", "containers by name")
    t.expect({e["name"] for e in first["env"]} == {"X", "Y"} and first["args"] == ["3"], "env by name, args replaced")
    t.expect([x["key"] for x in spec["tolerations"]] == ["z"], "tolerations replaced")
    t.expect(r.meta["generation"] == 2, "generation 2")


async def check_patch_node_labels(t: Check) -> None:
    """Labels and unschedulable on a node; cordon by merge and strategic patch adds no taint without a controller."""
    path = f"/api/v1/nodes/{t.server.node}"

    def keep(b: Any) -> Any:
        return {"labels": b["metadata"].get("labels"), "unschedulable": b["spec"].get("unschedulable")}

    r = await t.patch(path, {"metadata": {"labels": {"nvidia.com/gpu.deploy.driver": "true"}}}, trim=keep)
    t.expect(r.meta["labels"]["nvidia.com/gpu.deploy.driver"] == "true", "label set")
    r = await t.patch(path, {"spec": {"unschedulable": True}}, STRATEGIC, trim=keep)
    t.expect(r["spec"]["unschedulable"] is True, "cordoned")
    r = await t.patch(path, {"spec": {"unschedulable": None}}, STRATEGIC, trim=keep)
    t.expect("unschedulable" not in r["spec"], "uncordoned: the field is absent")
    r = await t.patch(path, {"spec": {"unschedulable": False}}, trim=keep)
    t.expect("unschedulable" not in r["spec"], "false is not stored")
    r = await t.patch(path, {"metadata": {"labels": {"nvidia.com/gpu.deploy.driver": None}}}, trim=keep)
    t.expect("nvidia.com/gpu.deploy.driver" not in r.meta["labels"], "label removed")
