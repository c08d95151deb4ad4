"""Deletes, finalizers, grace periods."""

import asyncio

from tests.sandbox.conformance.asking import Check
from tests.sandbox.conformance.objects import config_map, slim


async def check_delete_answers(t: Check) -> None:
    """Delete of a ConfigMap is 200 with a Success Status and details; again it is 404."""
    path = await t.config_map()
    r = await t.delete(path)
    t.expect(
        r.status == 200 and r["kind"] == "Status" and r["status"] == "Success" and r["details"]["uid"],
        "200 Status with uid",
    )
    t.expect((await t.delete(path)).status == 404, "again: 404")


async def check_delete_pod_without_node(t: Check) -> None:
    """A pod that is bound to no node goes at once; the answer is the pod."""
    path = await t.pod(labels={"app": "probe", "skip": "scheduling"})
    r = await t.delete(path)
    t.expect(r.status == 200 and r["kind"] == "Pod", "200 with the Pod")
    t.expect((await t.get(path)).status == 404, "gone")


async def check_delete_pod_on_node(t: Check) -> None:
    """A pod on a node stays with deletionTimestamp = now + grace until grace 0 is asked for."""
    path = await t.pod(node=t.server.node)
    r = await t.delete(path)
    t.expect(
        r.status == 200 and r.meta["deletionGracePeriodSeconds"] == 30 and "deletionTimestamp" in r.meta,
        "deleting, 30 s",
    )
    r = await t.get(path)
    t.expect(r.status == 200 and r.meta["generation"] == 2, "still there, generation 2")
    r = await t.delete(path, {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 5})
    t.expect(r.meta["deletionGracePeriodSeconds"] == 5, "shortened to 5 s")
    r = await t.delete(path, {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 60})
    t.expect(r.meta["deletionGracePeriodSeconds"] == 5, "not lengthened")
    r = await t.delete(path, gracePeriodSeconds=0)
    t.expect(r.status == 200, "grace 0: 200")
    t.expect((await t.get(path)).status == 404, "gone")


async def check_delete_finished_pod(t: Check) -> None:
    """A Succeeded or Failed pod on a node is deleted at once, whatever its grace."""
    path = await t.pod(node=t.server.node)
    await t.patch(path + "/status", {"status": {"phase": "Succeeded"}}, quiet=True)
    r = await t.delete(path)
    t.expect(r.status == 200, "200")
    t.expect((await t.get(path)).status == 404, "gone")


async def check_delete_preconditions(t: Check) -> None:
    """Preconditions: a wrong uid or resourceVersion is 409 Conflict, the right ones 200."""
    path = await t.config_map()
    meta = (await t.get(path, quiet=True)).meta
    r = await t.delete(path, {"preconditions": {"uid": "00000000-0000-0000-0000-000000000000"}})
    t.expect(r.status == 409 and r.reason == "Conflict", "uid: 409")
    r = await t.delete(path, {"preconditions": {"resourceVersion": "1"}})
    t.expect(r.status == 409, "resourceVersion: 409")
    r = await t.delete(path, {"preconditions": {"uid": meta["uid"], "resourceVersion": meta["resourceVersion"]}})
    t.expect(r.status == 200, "right ones: 200")


async def check_delete_finalizers(t: Check) -> None:
    """With finalizers the object stays, being deleted; new ones are refused; removing the last deletes it."""
    path = await t.config_map(finalizers=["example.com/hold"])
    r = await t.delete(path)
    t.expect(
        r.status == 200 and r["kind"] == "ConfigMap" and r.meta["deletionGracePeriodSeconds"] == 0,
        "200 with the object",
    )
    first = r.meta["deletionTimestamp"]
    r = await t.delete(path)
    t.expect(r.status == 200 and r.meta["deletionTimestamp"] == first, "again: same time")
    r = await t.patch(path, {"metadata": {"finalizers": ["example.com/hold", "example.com/more"]}})
    t.expect(r.status == 422, "adding a finalizer: 422")
    r = await t.patch(path, {"data": {"a": "2"}})
    t.expect(r.status == 200, "other changes: 200")
    r = await t.patch(path, {"metadata": {"finalizers": None}})
    t.expect(r.status == 200, "removing it: 200")
    t.expect((await t.get(path)).status == 404, "gone")


async def check_delete_propagation(t: Check) -> None:
    """propagationPolicy: Foreground and Orphan set finalizers, Background deletes, others are refused."""
    for policy, finalizer in (("Foreground", "foregroundDeletion"), ("Orphan", "orphan")):
        path = await t.config_map(policy.lower(), finalizers=["example.com/hold"])
        r = await t.delete(path, {"propagationPolicy": policy})
        t.expect(r.status == 200 and finalizer in r.meta["finalizers"], f"{policy}: finalizer {finalizer}")
        await t.patch(path, {"metadata": {"finalizers": None}}, quiet=True)
    path = await t.config_map("background")
    r = await t.delete(path, propagationPolicy="Background")
    t.expect(r.status == 200 and r["status"] == "Success", "Background: Success")
    path = await t.config_map("other")
    r = await t.delete(path, {"propagationPolicy": "Sideways"})
    t.expect(r.status == 422, "another: 422")
    r = await t.delete(path, {"propagationPolicy": "Orphan", "orphanDependents": True})
    t.expect(r.status == 422, "both forms: 422")


async def check_delete_dry_run(t: Check) -> None:
    """dryRun=All on a delete answers 200 and deletes nothing."""
    path = await t.config_map()
    r = await t.delete(path, dryRun="All")
    t.expect(r.status == 200, "200")
    t.expect((await t.get(path)).status == 200, "still there")


async def check_delete_collection(t: Check) -> None:
    """deletecollection by selector answers the list of what it deleted."""
    for suffix in ("a", "b"):
        await t.config_map(suffix, labels={"set": t.object_name()})
    await t.config_map("c", labels={"set": "other"})
    r = await t.delete(f"{t.core}/configmaps", labelSelector=f"set={t.object_name()}")
    t.expect(r.status == 200 and r["kind"] == "ConfigMapList" and len(r["items"]) == 2, "200, ConfigMapList of two")
    t.expect((await t.get(f"{t.core}/configmaps", labelSelector=f"set={t.object_name()}"))["items"] == [], "gone")
    t.expect((await t.get(f"{t.core}/configmaps/{t.object_name('c')}", quiet=True)).status == 200, "the other stays")


async def check_delete_namespace(t: Check) -> None:
    """A namespace goes to Terminating; creates in it are 403 with the cause NamespaceTerminating."""
    name = f"gone-{t.server.run}"
    await t.post(
        "/api/v1/namespaces",
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "finalizers": ["example.com/hold"]}},
        quiet=True,
    )
    r = await t.delete(f"/api/v1/namespaces/{name}")
    t.expect(r.status == 200 and r["kind"] == "Namespace" and r["status"]["phase"] == "Terminating", "Terminating")
    await asyncio.sleep(0.3)
    r = await t.post(f"/api/v1/namespaces/{name}/configmaps", config_map("x"))
    t.expect(
        r.status == 403 and r["details"]["causes"][0]["reason"] == "NamespaceTerminating", "403 NamespaceTerminating"
    )
    await t.patch(f"/api/v1/namespaces/{name}", {"metadata": {"finalizers": None}}, quiet=True)


async def check_delete_bad_grace(t: Check) -> None:
    """A negative grace period counts as 1; a word is 400."""
    path = await t.pod(node=t.server.node)
    r = await t.delete(path, gracePeriodSeconds="soon")
    t.expect(r.status == 400, "400")
    r = await t.delete(path, {"gracePeriodSeconds": -5}, trim=slim("metadata"))
    t.expect(r.status == 200 and r.meta["deletionGracePeriodSeconds"] == 1, "-5 counts as 1")
    await t.delete(path, gracePeriodSeconds=0, quiet=True)
