"""The status subresource and generation."""

from typing import Any

from tests.sandbox.conformance.asking import Check
from tests.sandbox.conformance.objects import budget, slim, template, widget, widgets


async def check_status_isolation(t: Check) -> None:
    """A write to the object ignores status, a write to /status ignores spec; a node's labels do pass through /status."""
    path = f"/api/v1/nodes/{t.server.node}"

    def keep(b: Any) -> Any:
        return {
            "labels": b["metadata"].get("labels"),
            "annotations": b["metadata"].get("annotations"),
            "unschedulable": b["spec"].get("unschedulable"),
            "capacity": b["status"].get("capacity"),
            "allocatable": b["status"].get("allocatable"),
        }

    r = await t.patch(
        path + "/status",
        {
            "metadata": {"labels": {"through": "status"}, "annotations": {"through": "status"}},
            "spec": {"unschedulable": True},
            "status": {"capacity": {"nvidia.com/gpu": "2"}, "allocatable": {"nvidia.com/gpu": "2"}},
        },
        trim=keep,
    )
    t.expect(
        "unschedulable" not in r["spec"] and r["status"]["capacity"]["nvidia.com/gpu"] == "2",
        "spec ignored through /status",
    )
    t.expect(r.meta["labels"].get("through") == "status", "node labels are written through /status")
    r = await t.patch(path, {"status": {"capacity": {"nvidia.com/gpu": "8"}}}, trim=keep)
    t.expect(r["status"]["capacity"]["nvidia.com/gpu"] == "2", "status ignored through the object")
    await t.patch(path, {"metadata": {"labels": {"through": None}, "annotations": {"through": None}}}, quiet=True)
    await pod_isolation(t)


async def pod_isolation(t: Check) -> None:
    """The same for a pod, whose labels and spec do not pass."""
    pod_path = await t.pod()
    r = await t.patch(pod_path, {"status": {"phase": "Running"}}, trim=slim("status"))
    t.expect(r["status"]["phase"] == "Pending", "pod: status ignored on the object")
    r = await t.patch(
        pod_path + "/status",
        {
            "status": {"phase": "Running"},
            "metadata": {"labels": {"through": "status"}},
            "spec": {"activeDeadlineSeconds": 5},
        },
        trim=lambda b: {
            "labels": b["metadata"].get("labels"),
            "deadline": b["spec"].get("activeDeadlineSeconds"),
            "status": b["status"],
        },
    )
    t.expect(
        r["status"]["phase"] == "Running" and "activeDeadlineSeconds" not in r["spec"], "pod: spec ignored on /status"
    )
    r = await t.get(pod_path + "/status", trim=slim("kind", "status"))
    t.expect(r.status == 200 and r["kind"] == "Pod", "GET /status gives the whole object")


async def check_status_generation(t: Check) -> None:
    """generation moves with spec, not with metadata or status."""
    labels, path = {"app": t.object_name()}, f"/apis/apps/v1/namespaces/{t.ns}/daemonsets"
    await t.post(
        path,
        {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": {"name": t.object_name()},
            "spec": {"selector": {"matchLabels": labels}, "template": template(labels, nodeSelector={"no": "node"})},
        },
        quiet=True,
    )
    path = f"{path}/{t.object_name()}"

    def keep(b: Any) -> Any:
        return {"generation": b["metadata"].get("generation")}

    for body, where, expected in (
        ({"metadata": {"labels": {"x": "1"}}}, "", 1),
        (
            {
                "status": {
                    "desiredNumberScheduled": 1,
                    "currentNumberScheduled": 1,
                    "numberMisscheduled": 0,
                    "numberReady": 1,
                }
            },
            "/status",
            1,
        ),
        ({"spec": {"template": {"spec": {"nodeSelector": {"no": "other"}}}}}, "", 2),
        ({"spec": {"minReadySeconds": 5}}, "", 3),
    ):
        r = await t.patch(path + where, body, trim=keep)
        t.expect(r.meta["generation"] == expected, f"{next(iter(body))}{where}: {expected}")


async def check_status_generation_others(t: Check) -> None:
    """Which built-in objects have a generation at all, and when it moves: pod, node, PDB, Job."""

    def keep(b: Any) -> Any:
        return {"generation": b["metadata"].get("generation")}

    path = await t.pod()
    r = await t.patch(path, {"spec": {"activeDeadlineSeconds": 50}}, trim=keep)
    t.expect(r.meta["generation"] == 2, "pod spec: 2")
    r = await t.get(f"/api/v1/nodes/{t.server.node}", trim=keep)
    t.expect("generation" not in r.meta, "a node has none")
    await t.post(
        f"/apis/policy/v1/namespaces/{t.ns}/poddisruptionbudgets",
        budget(t.object_name(), {"none": "none"}, minAvailable=1),
        quiet=True,
    )
    r = await t.patch(
        f"/apis/policy/v1/namespaces/{t.ns}/poddisruptionbudgets/{t.object_name()}",
        {"spec": {"minAvailable": 2}},
        trim=keep,
    )
    t.expect(r.meta["generation"] == 2, "PDB spec: 2")


async def check_status_custom_resource(t: Check) -> None:
    """Custom resource with a status subresource: isolation, and generation by spec only."""
    path = f"{widgets(t)}/{t.object_name()}"
    r = await t.post(widgets(t), widget(t) | {"status": {"state": "ready"}})
    t.expect(r.status == 201 and "status" not in r.body and r.meta["generation"] == 1, "status dropped on create")
    r = await t.patch(path + "/status", {"status": {"state": "ready"}, "spec": {"size": 9}})
    t.expect(
        r["status"]["state"] == "ready" and r["spec"]["size"] == 3 and r.meta["generation"] == 1,
        "only status through /status",
    )
    r = await t.patch(path, {"status": {"state": "other"}, "spec": {"size": 5}})
    t.expect(
        r["status"]["state"] == "ready" and r["spec"]["size"] == 5 and r.meta["generation"] == 2,
        "only spec through the object",
    )


async def check_status_scale(t: Check) -> None:
    """The scale subresource of a Deployment reads and writes replicas."""
    labels, path = {"app": t.object_name()}, f"/apis/apps/v1/namespaces/{t.ns}/deployments"
    await t.post(
        path,
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": t.object_name()},
            "spec": {
                "replicas": 0,
                "selector": {"matchLabels": labels},
                "template": template(labels, nodeSelector={"no": "node"}),
            },
        },
        quiet=True,
    )
    r = await t.get(f"{path}/{t.object_name()}/scale")
    t.expect(r["kind"] == "Scale" and r["spec"] == {}, "Scale; zero replicas are left out")
    r = await t.patch(f"{path}/{t.object_name()}/scale", {"spec": {"replicas": 1}})
    t.expect(r["spec"]["replicas"] == 1, "scaled")
