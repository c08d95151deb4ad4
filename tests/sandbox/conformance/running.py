"""Collects the checks, runs them against one server, and gives their normalised results."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from sandbox.faults import Faults
from sandbox.journal import Journal
from sandbox.kubernetes.server import KubernetesServer
from sandbox.serving import serve
from sandbox.tokens import MASTERS, Tokens
from tests.sandbox.conformance import (
    checks_access,
    checks_apply,
    checks_crd,
    checks_create,
    checks_delete,
    checks_discovery,
    checks_eviction,
    checks_kinds,
    checks_list,
    checks_nodes,
    checks_patch,
    checks_put,
    checks_select,
    checks_status,
    checks_watch,
    checks_watch_versions,
)
from tests.sandbox.conformance.asking import Check, Server
from tests.sandbox.conformance.comparing import Normaliser
from tests.sandbox.conformance.objects import crd, pod, widgets

MODULES = (
    *(checks_discovery, checks_access, checks_create, checks_kinds, checks_list, checks_select, checks_put),
    *(checks_patch, checks_nodes, checks_apply, checks_status, checks_delete, checks_eviction),
    *(checks_watch, checks_watch_versions, checks_crd),
)
LONGEST = 120.0  # seconds one check may take

Function = Callable[[Check], Awaitable[None]]


def all_checks() -> dict[str, Function]:
    """The checks by name, `prepare` first."""
    found: dict[str, Function] = {"prepare": prepare}
    for module in MODULES:
        for name, function in vars(module).items():
            if name.startswith("check_") and inspect.iscoroutinefunction(function):
                found[name.removeprefix("check_")] = function
    return found


async def prepare(t: Check) -> None:
    """The namespace, the node and the custom resource that all checks use."""
    await t.post("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": t.ns}})
    meta = {"name": t.server.node, "labels": {"kubernetes.io/hostname": t.server.node}}
    await t.post("/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": meta})
    await t.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd(t.server.group))

    async def served() -> bool:
        return (await t.get(widgets(t), quiet=True)).status == 200

    async def pods_accepted() -> bool:
        return (await t.post(f"{t.core}/pods", pod("first"), quiet=True, dryRun="All")).status == 201

    t.expect(await t.until(served), "the custom resource is served within 10 s")
    t.expect(
        await t.until(pods_accepted), "pods can be made within 10 s (where accounts are demanded: once one exists)"
    )


async def run_check(server: Server, name: str, function: Function) -> dict[str, Any]:
    """The normalised result of one check. Raises TimeoutError when it takes too long."""
    t = Check(server, name)
    async with asyncio.timeout(LONGEST):
        await function(t)
    passed = None if t.skipped else all(row["met"] for row in t.expectations)
    doc = (function.__doc__ or "").strip()
    result: dict[str, Any] = {"check": name, "doc": doc, "pass": passed, "expectations": t.expectations}
    if t.skipped:
        result["skipped"] = t.skipped
    if t.facts:
        result["facts"] = t.facts
    normalised: dict[str, Any] = Normaliser(server)(result | {"exchanges": t.exchanges})
    return normalised


@asynccontextmanager
async def client() -> AsyncIterator[aiohttp.ClientSession]:
    """A session that reads long lines and trusts any certificate: the servers asked are our own."""
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(ssl=False, limit=20),
        timeout=aiohttp.ClientTimeout(total=60),
        max_line_size=65536,
        max_field_size=65536,
        read_bufsize=2**22,
    ) as http:
        yield http


@asynccontextmanager
async def pretend_server() -> AsyncIterator[Server]:
    """The sandbox's server, on a port of its own."""
    tokens = Tokens()
    admin, other = tokens.issue("system:admin", (MASTERS,)), tokens.issue("migration-bot")
    pretend = KubernetesServer("pretend", Journal(), Faults(), tokens, "v1.36.2")
    served = await serve(pretend.app())

    async def compact() -> bool:
        pretend.cluster.store.compact()
        return True

    try:
        async with client() as http:
            yield Server(http, served.url, admin, other, compact=compact)
    finally:
        await served.aclose()


async def run_alone(name: str) -> dict[str, Any]:
    """One check against a pretend server of its own, prepared before."""
    checks = all_checks()
    async with pretend_server() as server:
        first = await run_check(server, "prepare", checks["prepare"])
        return first if name == "prepare" else await run_check(server, name, checks[name])
