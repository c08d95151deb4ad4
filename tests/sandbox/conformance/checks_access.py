"""Who asks, and what they may do."""

import json

from tests.sandbox.conformance.asking import JSON, MERGE, Check
from tests.sandbox.conformance.objects import eviction, pod


async def check_auth_no_token(t: Check) -> None:
    """Without a token the request is anonymous: 401, or 403 where anonymous requests are let in."""
    r = await t.get(f"{t.core}/pods", token="")
    t.expect(r.status in (401, 403), "401 or 403")
    r = await t.get("/version", token="")
    t.fact("/version without a token", r.status)


async def check_auth_bad_token(t: Check) -> None:
    """A wrong token is 401 Unauthorized."""
    r = await t.get(f"{t.core}/pods", token="wrong-token")
    t.expect(r.status == 401 and r.reason == "Unauthorized" and r["kind"] == "Status", "401 Unauthorized Status")


async def check_auth_forbidden(t: Check) -> None:
    """A user without rights gets a 403 that names user, verb, resource and namespace."""
    for method, path, body in (
        ("GET", f"{t.core}/secrets/x", None),
        ("GET", f"{t.core}/pods", None),
        ("GET", "/api/v1/nodes", None),
        ("POST", f"{t.core}/pods", pod("x")),
        ("PATCH", f"/api/v1/nodes/{t.server.node}", {"spec": {}}),
        ("DELETE", f"{t.core}/pods/x", None),
        ("POST", f"{t.core}/pods/x/eviction", eviction("x", t.ns)),
        ("GET", f"/apis/{t.server.group}/v1/widgets", None),
        ("GET", "/metrics", None),
    ):
        r = await t.call(method, path, body, token=t.server.other, type=MERGE if method == "PATCH" else JSON)
        t.expect(r.status == 403 and r.reason == "Forbidden", f"{method} {path}: 403 Forbidden")


async def check_auth_forbidden_watch(t: Check) -> None:
    """A forbidden watch is a 403, not a stream."""
    r = await t.get(f"{t.core}/pods", token=t.server.other, watch="true", timeoutSeconds="1")
    t.expect(r.status == 403 and "cannot watch" in r["message"], "403, verb watch")


async def check_auth_discovery_for_everyone(t: Check) -> None:
    """A user without rights may still read discovery and /version."""
    for path in ("/version", "/api", "/apis", "/openapi/v3"):
        r = await t.get(path, token=t.server.other, trim=lambda _: "(not kept)")
        t.expect(r.status == 200, f"{path}: 200")


async def check_auth_self_review(t: Check) -> None:
    """SelfSubjectAccessReview: 201; allowed for the administrator; for the other user allowed is false."""
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {
            "resourceAttributes": {"namespace": t.ns, "verb": "create", "resource": "pods", "subresource": "eviction"}
        },
    }
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    r = await t.post(path, review)
    t.expect(r.status == 201 and r["status"]["allowed"] is True, "administrator: allowed")
    r = await t.post(path, review, token=t.server.other)
    t.expect(r.status == 201 and r["status"]["allowed"] is False, "other user: not allowed")


async def check_auth_subject_review(t: Check) -> None:
    """SubjectAccessReview asks for another user."""
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {"user": "someone", "groups": ["people"], "resourceAttributes": {"verb": "get", "resource": "nodes"}},
    }
    r = await t.post("/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
    t.expect(r.status == 201 and r["status"]["allowed"] is False, "201, not allowed")


async def check_auth_rules_review(t: Check) -> None:
    """SelfSubjectRulesReview lists what the asker may do in a namespace."""
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "spec": {"namespace": t.ns}}
    r = await t.post(
        "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
        review,
        token=t.server.other,
        trim=lambda b: {
            **b,
            "status": {k: sorted(v, key=json.dumps) if isinstance(v, list) else v for k, v in b["status"].items()},
        },
    )
    t.expect(r.status == 201 and r["status"]["resourceRules"], "201 with resourceRules")
