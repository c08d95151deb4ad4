"""Creating objects of particular kinds: their defaults and rules."""

import json
from typing import Any

from tests.sandbox.conformance.asking import Check
from tests.sandbox.conformance.objects import config_map, pod, slim, template


async def check_create_field_validation(t: Check) -> None:
    """Unknown and doubled fields: Strict 400, Warn (the default) 201 with Warning headers, Ignore silent."""

    def body(suffix: str) -> str:
        return json.dumps(config_map(t.object_name(suffix)) | {"colour": "red"})[:-1] + ', "data": {"a": "2"}}'

    r = await t.post(f"{t.core}/configmaps", body("strict"), fieldValidation="Strict")
    t.expect(r.status == 400 and "unknown field" in r["message"], "Strict: 400")
    r = await t.post(f"{t.core}/configmaps", body("warn"), fieldValidation="Warn")
    t.expect(r.status == 201 and "unknown field" in r.headers.get("Warning", ""), "Warn: 201 with a Warning header")
    r = await t.post(f"{t.core}/configmaps", body("default"))
    t.expect(r.status == 201 and "Warning" in r.headers, "default is Warn")
    r = await t.post(f"{t.core}/configmaps", body("ignore"), fieldValidation="Ignore")
    t.expect(r.status == 201 and "Warning" not in r.headers and "colour" not in r.body, "Ignore: 201, field dropped")
    r = await t.post(f"{t.core}/configmaps", body("other"), fieldValidation="Sometimes")
    t.expect(r.status == 422, "another value: 422")


async def check_create_dry_run(t: Check) -> None:
    """dryRun=All answers 201 with uid but without a resourceVersion, and stores nothing."""
    r = await t.post(f"{t.core}/configmaps", config_map(t.object_name()), dryRun="All")
    t.expect(r.status == 201 and r.meta.get("uid"), "201")
    t.expect("resourceVersion" not in r.meta, "no resourceVersion")
    t.expect((await t.get(f"{t.core}/configmaps/{t.object_name()}")).status == 404, "nothing stored")
    r = await t.post(f"{t.core}/configmaps", config_map(t.object_name()), dryRun="Some")
    t.expect(r.status == 422, "another value: 422")


async def check_create_with_resource_version(t: Check) -> None:
    """A resourceVersion in a new object is a 500; a uid and status given by the client are replaced."""
    r = await t.post(f"{t.core}/configmaps", config_map(t.object_name(), resourceVersion="5"))
    t.expect(r.status == 500 and "should not be set" in r["message"], "500")
    body = pod(t.object_name("status")) | {"status": {"phase": "Running"}}
    body["metadata"]["uid"] = "00000000-0000-0000-0000-000000000000"
    r = await t.post(f"{t.core}/pods", body)
    t.expect(
        r.status == 201 and r["status"]["phase"] == "Pending" and not r.meta["uid"].startswith("00000000"),
        "status reset, uid replaced",
    )


async def check_create_secret_string_data(t: Check) -> None:
    """stringData of a Secret becomes base64 data and is not returned; type defaults to Opaque."""
    r = await t.post(
        f"{t.core}/secrets",
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": t.object_name()}, "stringData": {"k": "v"}},
    )
    t.expect(
        r.status == 201 and r["data"] == {"k": "dg=="} and "stringData" not in r.body and r["type"] == "Opaque",
        "data, Opaque",
    )
    r = await t.post(
        f"{t.core}/secrets",
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": t.object_name("bad")},
            "data": {"k": "not base64!"},
        },
    )
    t.expect(r.status == 400, "bad base64: 400")


async def check_create_workloads(t: Check) -> None:
    """Deployment, DaemonSet, StatefulSet, Job and PDB get their defaults and generation 1."""
    labels = {"app": t.object_name()}
    workload = {"selector": {"matchLabels": labels}, "template": template(labels, nodeSelector={"no": "such-node"})}
    for group, kind, plural, spec in (
        ("apps", "Deployment", "deployments", {"replicas": 0} | workload),
        ("apps", "DaemonSet", "daemonsets", workload),
        ("apps", "StatefulSet", "statefulsets", {"replicas": 0, "serviceName": "x"} | workload),
        ("batch", "Job", "jobs", {"suspend": True, "template": template(labels, restartPolicy="Never")}),
        (
            "policy",
            "PodDisruptionBudget",
            "poddisruptionbudgets",
            {"selector": {"matchLabels": labels}, "maxUnavailable": 1},
        ),
    ):
        r = await t.post(
            f"/apis/{group}/v1/namespaces/{t.ns}/{plural}",
            {"apiVersion": f"{group}/v1", "kind": kind, "metadata": {"name": t.object_name()}, "spec": spec},
        )
        t.expect(r.status == 201 and r.meta["generation"] == 1, f"{kind}: 201, generation 1")


async def check_create_selector_mismatch(t: Check) -> None:
    """A Deployment whose selector does not fit its template is 422."""
    spec = {"selector": {"matchLabels": {"a": "1"}}, "template": template({"a": "2"})}
    r = await t.post(
        f"/apis/apps/v1/namespaces/{t.ns}/deployments",
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": t.object_name()}, "spec": spec},
    )
    t.expect(r.status == 422 and r["details"]["causes"][0]["field"] == "spec.template.metadata.labels", "422")


async def check_create_node(t: Check) -> None:
    """A new node gets the taint not-ready from admission, and no generation."""
    r = await t.post(
        "/api/v1/nodes",
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"other-{t.server.run}"},
            "spec": {"providerID": "ibm://x"},
        },
    )
    t.expect(
        r.status == 201 and [x["key"] for x in r["spec"]["taints"]] == ["node.kubernetes.io/not-ready"],
        "201 with the not-ready taint",
    )
    await t.delete(f"/api/v1/nodes/other-{t.server.run}")


async def check_create_lease(t: Check) -> None:
    """renewTime of a Lease has exactly six digits of fraction; without them the body is refused."""
    body: Any = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": t.object_name()},
        "spec": {"holderIdentity": "a", "leaseDurationSeconds": 15, "renewTime": "2030-01-02T03:04:05.123456Z"},
    }
    r = await t.post(f"/apis/coordination.k8s.io/v1/namespaces/{t.ns}/leases", body)
    t.expect(r.status == 201 and r["spec"]["renewTime"].endswith(".123456Z"), "microseconds kept")
    body["spec"]["renewTime"] = "2030-01-02T03:04:05Z"
    body["metadata"]["name"] += "-seconds"
    r = await t.post(f"/apis/coordination.k8s.io/v1/namespaces/{t.ns}/leases", body)
    t.expect(r.status == 400, "a renewTime without fraction: 400")


async def check_create_events_both_groups(t: Check) -> None:
    """A core event is seen in events.k8s.io as note/regarding, and the reverse."""
    body: Any = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": t.object_name("core")},
        "involvedObject": {"kind": "Pod", "name": "p", "namespace": t.ns},
        "reason": "Tested",
        "message": "hello",
        "type": "Normal",
        "source": {"component": "probe"},
        "firstTimestamp": "2030-01-02T03:04:05Z",
        "lastTimestamp": "2030-01-02T03:04:05Z",
        "count": 1,
    }
    t.expect((await t.post(f"{t.core}/events", body)).status == 201, "201")
    r = await t.get(f"/apis/events.k8s.io/v1/namespaces/{t.ns}/events/{t.object_name('core')}")
    t.expect(
        r["note"] == "hello" and r["regarding"]["name"] == "p" and r["deprecatedSource"]["component"] == "probe",
        "note, regarding, deprecatedSource",
    )
    await new_event(t)
    r = await t.get(
        f"{t.core}/events", fieldSelector="involvedObject.name=p,reason=Tested", trim=slim("kind", "metadata")
    )
    t.expect(len(r["items"]) == 2, "both are found by involvedObject.name")


async def new_event(t: Check) -> None:
    """An event written in the new group and read in the old."""
    body = {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": t.object_name("new")},
        "regarding": {"kind": "Pod", "name": "p", "namespace": t.ns},
        "reason": "Tested",
        "note": "hello",
        "type": "Warning",
        "action": "Probing",
        "reportingController": "example.com/probe",
        "reportingInstance": "probe-0",
        "eventTime": "2030-01-02T03:04:05.000001Z",
    }
    t.expect((await t.post(f"/apis/events.k8s.io/v1/namespaces/{t.ns}/events", body)).status == 201, "201")
    r = await t.get(f"{t.core}/events/{t.object_name('new')}")
    t.expect(
        r["message"] == "hello" and r["involvedObject"]["name"] == "p" and r["source"] == {},
        "message, involvedObject, empty source",
    )
