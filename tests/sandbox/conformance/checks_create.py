"""Creating objects: names, bodies, field validation."""

import re

from tests.sandbox.conformance.asking import Check
from tests.sandbox.conformance.objects import config_map, pod


async def check_create_server_fields(t: Check) -> None:
    """Create answers 201 with the whole object: uid, resourceVersion, creationTimestamp, managedFields."""
    r = await t.post(f"{t.core}/configmaps", config_map(t.object_name(), labels={"k": "v"}))
    t.expect(
        r.status == 201 and {"uid", "resourceVersion", "creationTimestamp", "managedFields"} <= r.meta.keys(),
        "201 and the server's fields",
    )
    t.expect("generation" not in r.meta, "a ConfigMap has no generation")


async def check_create_pod_defaults(t: Check) -> None:
    """A created pod carries its defaults, generation 1, phase Pending and a qosClass."""
    r = await t.post(f"{t.core}/pods", pod(t.object_name()))
    t.expect(
        r.status == 201 and r["status"]["phase"] == "Pending" and r["status"]["qosClass"] == "BestEffort",
        "Pending, BestEffort",
    )
    t.expect(
        r["spec"]["restartPolicy"] == "Always"
        and r["spec"]["terminationGracePeriodSeconds"] == 30
        and r.meta["generation"] == 1,
        "defaults and generation 1",
    )


async def check_create_already_exists(t: Check) -> None:
    """A second create of the same name is 409 AlreadyExists."""
    await t.config_map()
    r = await t.post(f"{t.core}/configmaps", config_map(t.object_name()))
    t.expect(
        r.status == 409 and r.reason == "AlreadyExists" and r["details"]["name"] == t.object_name(), "409 AlreadyExists"
    )


async def check_create_generate_name(t: Check) -> None:
    """generateName is completed by five characters; name wins when both are given."""
    r = await t.post(
        f"{t.core}/configmaps", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "gen-"}}
    )
    t.expect(
        r.status == 201 and re.fullmatch(r"gen-[bcdfghjklmnpqrstvwxz2456789]{5}", r.meta["name"]),
        "gen- and five characters",
    )
    r = await t.post(
        f"{t.core}/configmaps",
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "gen-", "name": t.object_name()}},
    )
    t.expect(r.meta["name"] == t.object_name(), "name wins")


async def check_create_without_name(t: Check) -> None:
    """Neither name nor generateName is 422 with the cause metadata.name."""
    r = await t.post(f"{t.core}/configmaps", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}})
    t.expect(r.status == 422 and r["details"]["causes"][0]["field"] == "metadata.name", "422, metadata.name")


async def check_create_invalid_pod(t: Check) -> None:
    """An invalid pod is 422 Invalid with one cause per fault."""
    body = pod("Bad_Name")
    body["spec"] = {
        "containers": [{"name": "x"}, {"name": "x", "image": "i", "resources": {"requests": {"nvidia.com/gpu": "1"}}}],
        "restartPolicy": "Sometimes",
    }
    r = await t.post(f"{t.core}/pods", body)
    t.expect(r.status == 422 and r.reason == "Invalid" and len(r["details"]["causes"]) >= 3, "422 with causes")


async def check_create_invalid_gpu_resources(t: Check) -> None:
    """Extended resources must be whole and limits must equal requests."""
    body = pod(t.object_name())
    body["spec"]["containers"][0]["resources"] = {
        "requests": {"nvidia.com/gpu": "1"},
        "limits": {"nvidia.com/gpu": "2"},
    }
    r = await t.post(f"{t.core}/pods", body)
    t.expect(r.status == 422, "request 1, limit 2: 422")
    body["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "500m"}}
    r = await t.post(f"{t.core}/pods", body)
    t.expect(r.status == 422, "half a GPU: 422")


async def check_create_invalid_label(t: Check) -> None:
    """Bad label keys and values are 422 with their field."""
    r = await t.post(f"{t.core}/configmaps", config_map(t.object_name(), labels={"a/b/c": "x", "ok": "not ok"}))
    t.expect(
        r.status == 422 and {c["field"] for c in r["details"]["causes"]} == {"metadata.labels"},
        "422 on metadata.labels",
    )


async def check_create_namespace_missing(t: Check) -> None:
    """A create in a namespace that does not exist is 404 on the namespace."""
    r = await t.post("/api/v1/namespaces/no-such-namespace/configmaps", config_map("x"))
    t.expect(r.status == 404 and r["details"]["kind"] == "namespaces", "404 namespaces")


async def check_create_namespace_mismatch(t: Check) -> None:
    """A namespace in the body that differs from the path is 400."""
    r = await t.post(f"{t.core}/configmaps", config_map(t.object_name(), namespace="other"))
    t.expect(r.status == 400 and r.reason == "BadRequest", "400")


async def check_create_wrong_kind(t: Check) -> None:
    """A body of another kind or version is 400; without kind and apiVersion it is taken as what the path says."""
    r = await t.post(f"{t.core}/configmaps", {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}})
    t.expect(r.status == 400, "other kind: 400")
    r = await t.post(f"{t.core}/configmaps", {"apiVersion": "apps/v1", "kind": "ConfigMap", "metadata": {"name": "x"}})
    t.expect(r.status == 400, "other group: 400")
    r = await t.post(f"{t.core}/configmaps", {"metadata": {"name": t.object_name()}})
    t.expect(r.status == 201, "without kind: 201")


async def check_create_broken_json(t: Check) -> None:
    """Broken JSON and an unknown content type: 400 and 415."""
    r = await t.post(f"{t.core}/configmaps", "{broken")
    t.expect(r.status == 400, "400")
    r = await t.post(f"{t.core}/configmaps", "x", type="text/plain")
    t.expect(r.status == 415 and r.reason == "UnsupportedMediaType", "415")
    r = await t.post(
        f"{t.core}/configmaps",
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": t.object_name(), "labels": {"a": 1}}},
    )
    t.expect(r.status == 400, "number for a string: 400")


async def check_create_yaml(t: Check) -> None:
    """YAML bodies are accepted."""
    r = await t.post(
        f"{t.core}/configmaps",
        f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {t.object_name()}}}\ndata: {{a: b}}\n",
        type="application/yaml",
    )
    t.expect(r.status == 201, "201")
