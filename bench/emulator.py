"""Print how fast the sandbox's Kubernetes API server is: `python -m bench.emulator [PODS]`.

The server runs in a process of its own; figures are those of one client process beside it.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp

TOKEN = "bench"
SEQUENTIAL = 600  # requests per kind
WATCHERS = 20
EVENTS = 200
PAGE = 500
TARGETS = "targets: start <= 1 s, >= 300 requests/s, 5 000 pods listed in <= 0.6 s"

Json = dict[str, Any]


def pod(number: int) -> Json:
    """A pod about as large as a real one's useful part."""
    labels = {"app": f"app-{number % 50}", "pod-template-hash": "7c5ddbdf54"}
    container = {
        "name": "main",
        "image": "registry.example.com/team/app:1.2.3",
        "env": [{"name": f"SETTING_{n}", "value": "x" * 20} for n in range(10)],
        "resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m", "memory": "512Mi"}},
    }
    spec = {"nodeName": f"10.0.0.{number % 40}", "containers": [container]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"pod-{number:05}", "labels": labels}, "spec": spec}


async def start() -> tuple[subprocess.Popen[str], str, float]:
    """Start the server; returns process, address and seconds until it answers."""
    began = time.perf_counter()
    words = [sys.executable, "-m", "sandbox.kubernetes", "--token", TOKEN]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)  # noqa: ASYNC220
    assert process.stdout is not None
    url = (await asyncio.to_thread(process.stdout.readline)).strip()
    return process, url, time.perf_counter() - began


async def rate(times: int, ask: Callable[[int], Awaitable[None]]) -> float:
    """Requests per second, one after another."""
    began = time.perf_counter()
    for number in range(times):
        await ask(number)
    return times / (time.perf_counter() - began)


class Bench:
    """One client session and the calls that are measured."""

    def __init__(self, http: aiohttp.ClientSession, url: str) -> None:
        self._http, self._url = http, url
        self._pods = f"{url}/api/v1/namespaces/default/pods"
        self._maps = f"{url}/api/v1/namespaces/default/configmaps"

    async def _ask(self, method: str, url: str, body: Any = None, kind: str = "application/json") -> bytes:
        data = None if body is None else json.dumps(body)
        headers = {} if body is None else {"Content-Type": kind}
        async with self._http.request(method, url, data=data, headers=headers) as answer:
            return await answer.read()

    async def plain(self, _: int) -> None:
        """An answer that needs no work: what client and HTTP server manage here and now."""
        await self._ask("GET", f"{self._url}/healthz")

    async def create(self, number: int) -> None:
        await self._ask("POST", self._maps, {"metadata": {"name": f"map-{number}"}, "data": {"a": "1"}})

    async def read(self, number: int) -> None:
        await self._ask("GET", f"{self._maps}/map-{number}")

    async def patch(self, number: int) -> None:
        kind = "application/merge-patch+json"
        await self._ask("PATCH", f"{self._maps}/map-{number}", {"data": {"a": "2"}}, kind)

    async def apply(self, number: int) -> None:
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"map-{number}"}, "data": {"b": "1"}}
        url = f"{self._maps}/map-{number}?fieldManager=bench&force=true"
        await self._ask("PATCH", url, body, "application/apply-patch+yaml")

    async def create_pod(self, number: int) -> None:
        await self._ask("POST", self._pods, pod(number))

    async def list_whole(self) -> tuple[float, int, int]:
        """Seconds, pods and bytes of one list."""
        began = time.perf_counter()
        body = await self._ask("GET", self._pods)
        found = json.loads(body)
        return time.perf_counter() - began, len(found["items"]), len(body)

    async def list_paged(self) -> tuple[float, int]:
        """Seconds and pods of a list in pages."""
        began, token, count = time.perf_counter(), "", 0
        while True:
            page = json.loads(await self._ask("GET", f"{self._pods}?limit={PAGE}&continue={token}"))
            count += len(page["items"])
            token = page["metadata"].get("continue", "")
            if not token:
                return time.perf_counter() - began, count

    async def list_of_node(self) -> float:
        began = time.perf_counter()
        await self._ask("GET", f"{self._url}/api/v1/pods?fieldSelector=spec.nodeName%3D10.0.0.7")
        return time.perf_counter() - began

    async def fan_out(self) -> float:
        """Events per second that arrive at all watchers together while one writer writes."""
        version = json.loads(await self._ask("GET", f"{self._maps}?limit=1"))["metadata"]["resourceVersion"]
        watches = [asyncio.create_task(self._count(version)) for _ in range(WATCHERS)]
        began = time.perf_counter()
        for number in range(EVENTS):
            await self._ask("POST", self._maps, {"metadata": {"name": f"event-{number}"}, "data": {"a": "1"}})
        await asyncio.gather(*watches)
        return WATCHERS * EVENTS / (time.perf_counter() - began)

    async def _count(self, version: str) -> None:
        params = {"watch": "true", "resourceVersion": version}
        async with self._http.get(self._maps, params=params) as answer:
            for _ in range(EVENTS):
                await answer.content.readline()


async def measure(pods: int) -> None:
    """Run everything and print one line per figure."""
    process, url, started = await start()
    print(f"start until it listens: {started:.2f} s")
    headers, timeout = {"Authorization": f"Bearer {TOKEN}"}, aiohttp.ClientTimeout(total=120)
    try:
        connector = aiohttp.TCPConnector(limit=WATCHERS + 5)
        async with aiohttp.ClientSession(headers=headers, timeout=timeout, connector=connector) as http:
            bench = Bench(http, url)
            kinds = (bench.plain, bench.create, bench.read, bench.patch, bench.apply)
            for name, ask in zip(("no work (/healthz)", "create", "read", "patch", "apply"), kinds, strict=True):
                print(f"{name}, one after another: {await rate(SEQUENTIAL, ask):.0f} requests/s")
            print(f"watch fan-out to {WATCHERS}: {await bench.fan_out():.0f} events/s")
            print(f"create a pod, one after another: {await rate(pods, bench.create_pod):.0f} requests/s")
            seconds, count, size = await bench.list_whole()
            print(f"first list of {count} pods ({size / 1e6:.1f} MB): {seconds:.2f} s with parsing")
            seconds, count, _ = await bench.list_whole()
            print(f"second list of {count} pods: {seconds:.2f} s with parsing")
            seconds, count = await bench.list_paged()
            print(f"list of {count} pods in pages of {PAGE}: {seconds:.2f} s with parsing")
            print(f"pods of one node by field selector: {1000 * await bench.list_of_node():.0f} ms")
    finally:
        process.terminate()
        process.wait(10)
    print(TARGETS)


if __name__ == "__main__":
    asyncio.run(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 5000))
