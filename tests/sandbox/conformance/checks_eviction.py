"""Evictions under budgets, and binding."""

import asyncio
from typing import Any

from tests.sandbox.conformance.asking import Answer, Check
from tests.sandbox.conformance.objects import budget, eviction, pod, slim


async def settle_budget(t: Check, name: str, counts: tuple[int, int, int], expected: int | None = None) -> None:
    """Write a PDB status as the disruption controller would; with a real controller wait until it agrees.

    `counts`: healthy, desired, allowed.
    """
    path = f"/apis/policy/v1/namespaces/{t.ns}/poddisruptionbudgets/{name}"
    healthy, desired, allowed = counts

    async def settled() -> Any:
        status = (await t.get(path, quiet=True)).body.get("status", {})
        return (
            status.get("observedGeneration") == 1
            and status.get("disruptionsAllowed") == allowed
            and status.get("currentHealthy") == healthy
        )

    await asyncio.sleep(0.3)
    if not await t.until(settled, 0.2 if not t.server.controllers else 15):
        status = {
            "observedGeneration": 1,
            "currentHealthy": healthy,
            "desiredHealthy": desired,
            "disruptionsAllowed": allowed,
            "expectedPods": expected or healthy,
        }
        await t.patch(path + "/status", {"status": status}, quiet=True)


async def evict(t: Check, path: str, **options: Any) -> Answer:
    query = {"dryRun": options.pop("dryRun")} if "dryRun" in options else {}
    return await t.post(f"{path}/eviction", eviction(path.rpartition("/")[2], t.ns, **options), **query)


async def check_eviction_plain(t: Check) -> None:
    """Without a PDB eviction is 201 with a Success Status; the pod has DisruptionTarget and is being deleted."""
    path = await t.ready_pod(grace=30)
    r = await evict(t, path)
    t.expect(r.status == 201 and r["kind"] == "Status" and r["status"] == "Success", "201 Success")
    r = await t.get(path, trim=slim("metadata", "status"))
    conditions = {c["type"]: c for c in r["status"]["conditions"]}
    t.expect(
        "deletionTimestamp" in r.meta and conditions["DisruptionTarget"]["reason"] == "EvictionByEvictionAPI",
        "deleting, DisruptionTarget",
    )
    r = await evict(t, path)
    t.expect(r.status == 201, "again while it is being deleted: 201")
    await t.delete(path, gracePeriodSeconds=0, quiet=True)


async def check_eviction_missing_pod(t: Check) -> None:
    """Evicting a missing pod is 404 pods."""
    r = await evict(t, f"{t.core}/pods/none")
    t.expect(r.status == 404 and r["details"]["kind"] == "pods", "404 pods")


async def check_eviction_blocked(t: Check) -> None:
    """A PDB without allowance: 429 TooManyRequests, no Retry-After, cause DisruptionBudget; the pod stays."""
    labels = {"app": t.object_name()}
    path = await t.ready_pod(labels=labels)
    await t.post(
        f"/apis/policy/v1/namespaces/{t.ns}/poddisruptionbudgets",
        budget(t.object_name(), labels, minAvailable=1),
        quiet=True,
    )
    await settle_budget(t, t.object_name(), (1, 1, 0))
    r = await evict(t, path)
    t.expect(
        r.status == 429 and r.reason == "TooManyRequests" and r["details"]["causes"][0]["reason"] == "DisruptionBudget",
        "429 DisruptionBudget",
    )
    t.expect("Retry-After" not in r.headers, "no Retry-After")
    r = await evict(t, path, dryRun="All")
    t.expect(r.status == 429, "dry run: 429 too")
    r = await t.get(path, trim=slim("status"))
    t.expect("deletionTimestamp" not in r.meta, "the pod stays")


async def check_eviction_budget_not_processed(t: Check) -> None:
    """A PDB whose status is older than its spec blocks with 429 too, with other words and Retry-After 10."""
    labels = {"app": t.object_name()}
    path = await t.ready_pod(labels=labels)
    await t.post(
        f"/apis/policy/v1/namespaces/{t.ns}/poddisruptionbudgets",
        budget(t.object_name(), labels, minAvailable=0),
        quiet=True,
    )
    r = await evict(t, path)
    t.expect(
        r.status == 201
        if t.server.controllers and r.status == 201
        else (r.status, r.headers.get("Retry-After")) == (429, "10"),
        "429, Retry-After 10 (201 where a controller was faster)",
    )


async def check_eviction_allowed_spends_budget(t: Check) -> None:
    """An allowed eviction lowers disruptionsAllowed and notes the pod in disruptedPods at once."""
    labels = {"app": t.object_name()}
    for suffix in ("a", "b"):
        path = await t.ready_pod(suffix, labels=labels, grace=30)
    await t.post(
        f"/apis/policy/v1/namespaces/{t.ns}/poddisruptionbudgets",
        budget(t.object_name(), labels, minAvailable=1),
        quiet=True,
    )
    await settle_budget(t, t.object_name(), (2, 1, 1), 2)
    t.expect((await evict(t, path, dryRun="All")).status == 201, "dry run: 201")
    r = await evict(t, path)
    t.expect(r.status == 201, "201")
    r = await t.get(f"/apis/policy/v1/namespaces/{t.ns}/poddisruptionbudgets/{t.object_name()}", trim=slim("status"))
    t.expect(r["status"]["disruptionsAllowed"] == 0, "allowance spent")
    r = await evict(t, path.removesuffix("-b") + "-a")
    t.expect(r.status == 429, "the other is blocked now")


async def check_eviction_two_budgets(t: Check) -> None:
    """Two PDBs on one pod are a 500 that says so."""
    labels = {"app": t.object_name()}
    path = await t.ready_pod(labels=labels)
    for suffix in ("a", "b"):
        await t.post(
            f"/apis/policy/v1/namespaces/{t.ns}/poddisruptionbudgets",
            budget(t.object_name(suffix), labels, minAvailable=0),
            quiet=True,
        )
    r = await evict(t, path)
    t.expect(r.status == 500 and "more than one PodDisruptionBudget" in r["message"], "500")


async def check_eviction_preconditions(t: Check) -> None:
    """Eviction with a wrong uid precondition is 409, with the right one 201."""
    path = await t.ready_pod()
    uid = (await t.get(path, quiet=True)).meta["uid"]
    r = await evict(t, path, preconditions={"uid": "00000000-0000-0000-0000-000000000000"})
    t.expect(r.status == 409 and r.reason == "Conflict", "409")
    r = await evict(t, path, preconditions={"uid": uid})
    t.expect(r.status == 201, "201")


async def check_eviction_pending_and_finished(t: Check) -> None:
    """Pods that are Pending or finished are evicted past any PDB."""
    labels = {"app": t.object_name()}
    await t.post(
        f"/apis/policy/v1/namespaces/{t.ns}/poddisruptionbudgets",
        budget(t.object_name(), labels, minAvailable=9),
        quiet=True,
    )
    for suffix, phase in (("pending", None), ("succeeded", "Succeeded"), ("failed", "Failed")):
        path = await t.pod(suffix, node=t.server.node, labels=labels, grace=0)
        if phase:
            await t.patch(path + "/status", {"status": {"phase": phase}}, quiet=True)
        t.expect((await evict(t, path)).status == 201, f"{suffix}: 201")


async def check_eviction_unhealthy_policy(t: Check) -> None:
    """An unready pod under a blocking PDB: unset and IfHealthyBudget 429, AlwaysAllow 201."""
    for suffix, policy in (
        ("unset", {}),
        ("healthy", {"unhealthyPodEvictionPolicy": "IfHealthyBudget"}),
        ("always", {"unhealthyPodEvictionPolicy": "AlwaysAllow"}),
    ):
        labels = {"app": t.object_name(suffix)}
        path = await t.ready_pod(suffix, labels=labels, ready="False")
        await t.post(
            f"/apis/policy/v1/namespaces/{t.ns}/poddisruptionbudgets",
            budget(t.object_name(suffix), labels, minAvailable=1, **policy),
            quiet=True,
        )
        await settle_budget(t, t.object_name(suffix), (0, 1, 0), 1)
        r = await evict(t, path)
        t.expect(r.status == (201 if suffix == "always" else 429), f"{suffix}: {r.status}")


async def check_eviction_bad_bodies(t: Check) -> None:
    """A name in the body that differs from the path is 400, so is an empty body; policy/v1beta1 still works."""
    path = await t.ready_pod()
    r = await t.post(f"{path}/eviction", eviction("another", t.ns))
    t.expect(r.status == 400, "another name: 400")
    r = await t.post(f"{path}/eviction", eviction(t.object_name(), t.ns) | {"apiVersion": "policy/v1beta1"})
    t.expect(r.status == 201, "policy/v1beta1 is still taken")
    r = await t.post(f"{path}/eviction", {})
    t.expect(r.status == 400, "empty object: 400")


async def check_binding(t: Check) -> None:
    """pods/binding sets nodeName and PodScheduled once (201); again it is 409; a missing pod is 404."""
    body = pod(t.object_name())
    body["spec"]["schedulerName"] = "nobody"
    path = f"{t.core}/pods/{t.object_name()}"
    await t.post(f"{t.core}/pods", body, quiet=True)
    binding = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": t.object_name()},
        "target": {"apiVersion": "v1", "kind": "Node", "name": t.server.node},
    }
    r = await t.post(path + "/binding", binding)
    t.expect(r.status == 201 and r["status"] == "Success", "201 Success")
    r = await t.get(path, trim=slim("status"))
    t.expect(
        r["spec"]["nodeName"] == t.server.node and r["status"]["conditions"][0]["type"] == "PodScheduled",
        "bound, PodScheduled",
    )
    r = await t.post(path + "/binding", binding)
    t.expect(r.status == 409 and r.reason == "Conflict", "again: 409")
    r = await t.post(f"{t.core}/pods/none/binding", binding | {"metadata": {"name": "none"}})
    t.expect(r.status == 404, "missing pod: 404")


async def check_pod_scheduling_gates(t: Check) -> None:
    """A pod with schedulingGates has PodScheduled=False/SchedulingGated at once and cannot be bound."""
    body = pod(t.object_name())
    body["spec"]["schedulingGates"] = [{"name": "example.com/wait"}]
    r = await t.post(f"{t.core}/pods", body)
    t.expect(r["status"]["conditions"][0]["reason"] == "SchedulingGated", "SchedulingGated")
    binding = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": t.object_name()},
        "target": {"kind": "Node", "name": t.server.node},
    }
    r = await t.post(f"{t.core}/pods/{t.object_name()}/binding", binding)
    t.expect(r.status == 409, "binding: 409")


async def check_pod_logs_without_kubelet(t: Check) -> None:
    """pods/log of a pod that no kubelet runs."""
    r = await t.get(f"{await t.pod()}/log", accept="*/*")
    t.expect(r.status in (204, 400), "unbound pod: 204")
    r = await t.get(f"{t.core}/pods/none/log", accept="*/*")
    t.expect(r.status == 404, "missing pod: 404")
