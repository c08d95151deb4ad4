"""What stands before a real API server, tried before the emulator: the journal is the same, bytes are, watches live."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from sandbox.certificates import make_certificates
from sandbox.control_plane.front import Front
from sandbox.faults import Faults
from sandbox.journal import Journal
from sandbox.kubernetes.__main__ import server_context
from sandbox.kubernetes.server import KubernetesServer
from sandbox.serving import Served, serve
from sandbox.tokens import MASTERS, Tokens

CORE = "/api/v1/namespaces/default"
MAPS = f"{CORE}/configmaps"
MERGE = "application/merge-patch+json"


def config_map(**metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


@dataclass(frozen=True, slots=True)
class Scene:
    """A server with a journal of its own, and a front with another."""

    url: str
    http: aiohttp.ClientSession
    front: Front
    server: Served
    faults: Faults
    theirs: Journal
    ours: Journal

    async def ask(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> tuple[int, Any]:
        data = None if body is None else json.dumps(body)
        async with self.http.request(method, self.url + path, data=data, headers={"Content-Type": kind}) as answer:
            return answer.status, json.loads(await answer.text() or "null")


@pytest_asyncio.fixture
async def scene() -> AsyncIterator[Scene]:
    tokens, faults, theirs, ours = Tokens(), Faults(), Journal(), Journal()
    certificates = make_certificates()
    behind = KubernetesServer("one", theirs, Faults(), tokens, "v1.36.2")
    server = await serve(behind.app(), ssl=server_context(certificates))
    front = Front("one", ours, faults, tokens, "v1.35.4+IKS")
    front.stands_before(server.url, ssl.create_default_context(cadata=certificates.authority))
    served = await serve(front.app())
    headers = {"Authorization": f"Bearer {tokens.issue('IAM#somebody', (MASTERS,))}"}
    limit = aiohttp.ClientTimeout(total=10)
    try:
        async with aiohttp.ClientSession(headers=headers, timeout=limit) as http:
            yield Scene(served.url, http, front, server, faults, theirs, ours)
    finally:
        await served.aclose()
        await server.aclose()


async def test_given_writes_of_all_kinds_when_passed_on_then_both_journals_say_the_same(scene: Scene) -> None:
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Cluster",
            "names": {"plural": "things", "kind": "Thing"},
            "versions": [
                {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
            ],
        },
    }
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    thing = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}}
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}}
    review = {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}
    await scene.ask("POST", MAPS, config_map(name="a"))
    await scene.ask("POST", MAPS, config_map(name="a"))
    await scene.ask("POST", MAPS, config_map(generateName="g-"))
    await scene.ask("POST", MAPS, ["no object"])
    await scene.ask("PATCH", f"{MAPS}/a?fieldManager=me", {"data": {"k": "v"}}, MERGE)
    await scene.ask("PUT", f"{MAPS}/nobody", config_map(name="nobody"))
    await scene.ask("DELETE", f"{MAPS}/a?dryRun=All")
    await scene.ask("DELETE", f"{MAPS}/a")
    await scene.ask("DELETE", MAPS)
    await scene.ask("POST", f"{CORE}/secrets", {"metadata": {"name": "s"}, "data": {"k": "c2VjcmV0"}})
    await scene.ask("POST", f"{CORE}/pods", pod)
    await scene.ask("PATCH", f"{CORE}/pods/p/status", {"status": {"phase": "Running"}}, MERGE)
    await scene.ask("POST", f"{CORE}/pods/p/eviction", eviction)
    await scene.ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
    await scene.ask("POST", "/apis/example.com/v1/things", thing)
    await scene.ask("DELETE", "/apis/example.com/v1/things/t")
    await scene.ask("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review)
    await scene.ask("GET", MAPS)

    def told(journal: Journal) -> list[tuple[Any, ...]]:
        return [(e.cluster, e.actor, e.verb, e.target, e.status, e.request) for e in journal.entries()]

    assert told(scene.ours) == told(scene.theirs)
    assert [verb for _, _, verb, *_ in told(scene.ours)][-5:] == [
        *("patch pods/status", "evict pods", "create customresourcedefinitions", "create things", "delete things")
    ]


async def test_given_a_master_update_when_asked_then_ibms_version_is_shown(scene: Scene) -> None:
    before = (await scene.ask("GET", "/version"))[1]
    scene.front.set_version("v1.36.0+IKS")
    after = (await scene.ask("GET", "/version/"))[1]

    assert (before["gitVersion"], before["minor"]) == ("v1.35.4+IKS", "35")
    assert (after["gitVersion"], after["minor"]) == ("v1.36.0+IKS", "36")


async def test_given_an_open_watch_when_outage_then_it_breaks_and_nobody_is_answered_until_over(scene: Scene) -> None:
    async with scene.http.get(f"{scene.url}{MAPS}?watch=true&timeoutSeconds=60") as watch:
        await scene.ask("POST", MAPS, config_map(name="seen"))
        event = json.loads(await watch.content.readline())
        outage = asyncio.ensure_future(scene.front.outage(0.5))
        with pytest.raises(aiohttp.ClientError):
            await watch.content.readline()
    with pytest.raises(aiohttp.ClientError):
        await scene.ask("GET", MAPS)
    await outage

    assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "seen")
    assert (await scene.ask("GET", MAPS))[0] == 200


async def test_given_a_rule_after_the_effect_when_written_then_the_answer_is_lost_and_the_effect_stays(
    scene: Scene,
) -> None:
    scene.faults.add(system="kubernetes", method="POST", when="after", status=504)

    assert (await scene.ask("POST", MAPS, config_map(name="made")))[0] == 504
    assert (await scene.ask("GET", f"{MAPS}/made"))[0] == 200


async def test_given_warnings_and_odd_characters_when_passed_on_then_they_are_unchanged(scene: Scene) -> None:
    body = {**config_map(name="w"), "colour": "red", "size": 1}
    async with scene.http.post(f"{scene.url}{MAPS}?fieldValidation=Warn", json=body) as answer:
        warnings = answer.headers.getall("Warning")
    await scene.ask("PATCH", f"{MAPS}/w", {"metadata": {"labels": {"a/b": "c"}}}, MERGE)
    status, found = await scene.ask("GET", f"{MAPS}?labelSelector=a%2Fb%3Dc%2Ca%2Fb%21%3Dd")

    assert len(warnings) == 2
    assert (status, [item["metadata"]["name"] for item in found["items"]]) == (200, ["w"])


async def test_given_nobody_behind_when_asked_then_the_connection_is_cut(scene: Scene) -> None:
    await scene.server.aclose()

    with pytest.raises(aiohttp.ClientError):
        await scene.ask("GET", MAPS)


async def test_given_an_unknown_token_when_asked_then_the_servers_own_refusal_comes(scene: Scene) -> None:
    async with scene.http.get(scene.url + MAPS, headers={"Authorization": "Bearer nobody"}) as answer:
        assert answer.status == 401
