"""Discovery, versions and OpenAPI."""

import re
from typing import Any

from tests.sandbox.conformance.asking import Check
from tests.sandbox.conformance.objects import config_map, slim


async def check_discovery_version(t: Check) -> None:
    """/version needs no more than a GET and has the twelve build fields."""
    r = await t.get("/version")
    t.expect(r.status == 200 and r["major"] == "1" and r["gitVersion"].startswith("v1."), "major 1 and gitVersion v1.x")


async def check_discovery_version_slash(t: Check) -> None:
    """/version/ (the Python client asks so) answers as /version."""
    r = await t.get("/version/")
    t.expect(r.status == 200 and "gitVersion" in r.body, "200 with gitVersion")


async def check_discovery_health(t: Check) -> None:
    """/healthz, /livez and /readyz answer the plain text ok."""
    for path in ("/healthz", "/livez", "/readyz"):
        r = await t.get(path, accept="*/*")
        t.expect((r.status, r.body) == (200, "ok"), f"{path} says ok")


async def check_discovery_api(t: Check) -> None:
    """/api without aggregation is an APIVersions object."""
    r = await t.get("/api")
    t.expect(r["kind"] == "APIVersions" and r["versions"] == ["v1"], "APIVersions [v1]")


async def check_discovery_core_resources(t: Check) -> None:
    """/api/v1 lists resources with verbs; pods/eviction carries its own group and version."""
    r = await t.get(
        "/api/v1",
        trim=lambda b: {
            **b,
            "resources": [
                x
                for x in b["resources"]
                if x["name"].split("/")[0] in ("pods", "nodes", "namespaces", "configmaps", "secrets", "events")
            ],
        },
    )
    rows = {x["name"]: x for x in r["resources"]}
    t.expect(r["groupVersion"] == "v1" and r["kind"] == "APIResourceList", "APIResourceList v1")
    t.expect(
        rows["pods/eviction"]["group"] == "policy" and rows["pods/eviction"]["kind"] == "Eviction",
        "pods/eviction is policy Eviction",
    )
    t.expect(
        rows["nodes"]["namespaced"] is False and "no" in rows["nodes"]["shortNames"],
        "nodes: cluster scope, short name no",
    )


async def check_discovery_apis(t: Check) -> None:
    """/apis without aggregation is an APIGroupList with a preferred version per group."""
    r = await t.get(
        "/apis",
        trim=lambda b: {
            **b,
            "groups": [g for g in b["groups"] if g["name"] in ("apps", "batch", "policy", t.server.group)],
        },
    )
    groups = {g["name"]: g for g in r["groups"]}
    t.expect(
        r["kind"] == "APIGroupList"
        and {"apps", "batch", "policy", "coordination.k8s.io", "apiextensions.k8s.io"} <= groups.keys(),
        "APIGroupList with the usual groups",
    )
    t.expect(groups["apps"]["preferredVersion"]["version"] == "v1", "apps prefers v1")


async def check_discovery_one_group(t: Check) -> None:
    """/apis/<group> is an APIGroup, an unknown group a 404."""
    r = await t.get("/apis/policy")
    t.expect(r["kind"] == "APIGroup" and r["name"] == "policy", "APIGroup policy")
    r = await t.get("/apis/none.example.com")
    t.expect(r.status == 404, "unknown group: 404")


async def check_discovery_group_version(t: Check) -> None:
    """/apis/<group>/<version> lists its resources, also those of a CRD."""
    r = await t.get("/apis/policy/v1")
    t.expect(
        {x["name"] for x in r["resources"]} == {"poddisruptionbudgets", "poddisruptionbudgets/status"},
        "policy/v1: PDB and its status",
    )
    r = await t.get(f"/apis/{t.server.group}/v1")
    t.expect(
        [x["name"] for x in r["resources"]] == ["widgets", "widgets/status"],
        "the CRD's group lists widgets and widgets/status",
    )
    t.expect("storageVersionHash" in r["resources"][0], "storageVersionHash is given")


async def check_discovery_aggregated(t: Check) -> None:
    """Aggregated discovery is chosen by the Accept header, on /api and /apis; v2 only."""
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"

    def keep(b: Any) -> Any:
        return {**b, "items": [g for g in b["items"] if g["metadata"].get("name") in ("policy", t.server.group)]}

    r = await t.get("/apis", accept=accept, trim=keep)
    t.expect(
        r["kind"] == "APIGroupDiscoveryList" and r["apiVersion"] == "apidiscovery.k8s.io/v2", "APIGroupDiscoveryList v2"
    )
    t.expect("as=APIGroupDiscoveryList" in r.headers["Content-Type"], "the content type names it")
    r = await t.get("/api", accept=accept, trim=lambda b: {**b, "items": []})
    t.expect([g["versions"][0]["version"] for g in r["items"]] == ["v1"], "/api: one item, v1")
    r = await t.get(
        "/apis",
        accept="application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json",
        trim=slim("kind", "apiVersion"),
    )
    t.expect(r["kind"] == "APIGroupList", "v2beta1 is no longer served: plain list")


async def check_discovery_openapi_v3_index(t: Check) -> None:
    """/openapi/v3 maps API paths to documents by a serverRelativeURL with a hash; a CRD's document comes a moment later."""

    async def crd_document() -> Any:
        return f"apis/{t.server.group}/v1" in (await t.get("/openapi/v3", quiet=True))["paths"]

    t.expect(await t.until(crd_document), "the CRD has a document within 10 s")
    shown = ("api/v1", "apis/apps/v1", f"apis/{t.server.group}/v1")
    r = await t.get(
        "/openapi/v3",
        trim=lambda b: {
            "paths": {
                k: {"serverRelativeURL": re.sub("hash=.*", "hash={hash}", v["serverRelativeURL"])}
                for k, v in b["paths"].items()
                if k in shown
            }
        },
    )
    t.expect({"api/v1", "apis/apps/v1", "apis/policy/v1"} <= r["paths"].keys(), "the usual documents")
    document = await t.get(
        "/openapi/v3/apis/policy/v1",
        trim=lambda b: {"openapi": b["openapi"], "info": b["info"], "paths": sorted(b["paths"])},
    )
    t.expect(document["openapi"].startswith("3.0"), "an OpenAPI 3.0 document")


async def check_discovery_openapi_v2(t: Check) -> None:
    """/openapi/v2 is still served."""
    r = await t.get("/openapi/v2", trim=lambda b: {"swagger": b["swagger"]})
    t.expect(r.status == 200 and r["swagger"] == "2.0", "swagger 2.0")


async def check_discovery_unknown_path(t: Check) -> None:
    """A path that exists nowhere is a plain-text 404; an unknown resource of a known group is plain text too."""
    r = await t.get("/nowhere")
    t.expect(r.status == 404, "404")
    r = await t.get("/api/v1/gizmos")
    t.expect(r.status == 404, "unknown core resource: 404")
    r = await t.get(f"/apis/{t.server.group}/v1/gizmos")
    t.expect(r.status == 404, "unknown resource of a CRD group: 404")


async def check_discovery_method_not_allowed(t: Check) -> None:
    """A verb that a resource lacks is 405 with a Status."""
    r = await t.post(f"{t.core}/configmaps/x", config_map("x"))
    t.expect(r.status == 405 and r.reason == "MethodNotAllowed", "405 MethodNotAllowed")
