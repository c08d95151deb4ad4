"""How the checks ask a server and remember what it said. No check and no comparison stands here."""

import asyncio
import json
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from tests.sandbox.conformance.objects import config_map, pod

JSON = "application/json"
JSON_PATCH = "application/json-patch+json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
KEPT_HEADERS = ("Content-Type", "Retry-After", "Warning", "WWW-Authenticate", "Allow")


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer: status, headers, parsed body."""

    status: int
    headers: dict[str, str]
    body: Any

    def __getitem__(self, key: str) -> Any:
        return self.body[key]

    @property
    def meta(self) -> Any:
        return self.body.get("metadata", {}) if isinstance(self.body, dict) else {}

    @property
    def reason(self) -> Any:
        return self.body.get("reason") if isinstance(self.body, dict) else None

    @property
    def names(self) -> list[str]:
        return [item["metadata"]["name"] for item in self.body["items"]]


@dataclass(slots=True)
class Server:
    """Where to ask. `compact`: makes history older than now expire, None where that cannot be done."""

    http: aiohttp.ClientSession
    base: str
    token: str
    other: str
    controllers: bool = False
    compact: Callable[[], Awaitable[bool]] | None = None
    run: str = field(default_factory=lambda: uuid.uuid4().hex[:6])

    @property
    def namespace(self) -> str:
        return f"probe-{self.run}"

    @property
    def node(self) -> str:
        return f"node-{self.run}"

    @property
    def group(self) -> str:
        return f"{self.run}.example.com"


class Check:
    """What one check asked, got and expected."""

    def __init__(self, server: Server, name: str) -> None:
        self.server, self.name = server, name
        self.exchanges: list[dict[str, Any]] = []
        self.expectations: list[dict[str, Any]] = []
        self.facts: dict[str, Any] = {}
        self.skipped: str | None = None

    def expect(self, condition: object, what: str) -> None:
        self.expectations.append({"what": what, "met": bool(condition)})

    def fact(self, name: str, value: object) -> None:
        """Keep a value that is not in an exchange (a duration, a count)."""
        self.facts[name] = value

    def skip(self, why: str) -> None:
        self.skipped = why

    async def call(self, method: str, path: str, body: Any = None, **options: Any) -> Answer:
        """One request. Options: type, accept, token, quiet (not recorded), trim(body) -> what is recorded; else query."""
        content, accept, token, quiet, trim = (
            options.pop(name, default)
            for name, default in (("type", JSON), ("accept", JSON), ("token", None), ("quiet", False), ("trim", None))
        )
        query = {key.rstrip("_"): str(value) for key, value in options.items()}
        token = self.server.token if token is None else token
        headers = {"Accept": accept, "User-Agent": "probe"} | ({"Authorization": f"Bearer {token}"} if token else {})
        data = None
        if body is not None:
            headers["Content-Type"] = content
            data = body if isinstance(body, str) else json.dumps(body)
        url = self.server.base + path
        async with self.server.http.request(method, url, params=query, data=data, headers=headers) as r:
            got = {key: ", ".join(r.headers.getall(key)) for key in r.headers}
            answer = Answer(r.status, got, parse(await r.read()))
        if not quiet:
            asked = {"method": method, "path": path, "query": query, "accept": accept}
            if body is not None:
                asked |= {"content_type": content, "body": body}
            if token != self.server.token:
                asked["token"] = {"": "none", self.server.other: "unprivileged"}.get(token, "wrong")
            self._keep(asked, answer, trim)
        return answer

    def _keep(self, asked: dict[str, Any], answer: Answer, trim: Callable[[Any], Any] | None) -> None:
        kept = {key: answer.headers[key] for key in KEPT_HEADERS if key in answer.headers}
        shown = trim(answer.body) if trim and answer.status < 300 else answer.body
        self.exchanges.append({"request": asked, "response": {"status": answer.status, "headers": kept, "body": shown}})

    async def get(self, path: str, **options: Any) -> Answer:
        return await self.call("GET", path, **options)

    async def post(self, path: str, body: Any, **options: Any) -> Answer:
        return await self.call("POST", path, body, **options)

    async def put(self, path: str, body: Any, **options: Any) -> Answer:
        return await self.call("PUT", path, body, **options)

    async def patch(self, path: str, body: Any, kind: str = MERGE, **options: Any) -> Answer:
        return await self.call("PATCH", path, body, type=kind, **options)

    async def delete(self, path: str, body: Any = None, **options: Any) -> Answer:
        return await self.call("DELETE", path, body, **options)

    async def watch(self, path: str, **options: Any) -> tuple[list[Any], str]:
        """Watch for `seconds` or until `until(events)`; returns (events, how it ended).

        Ends: "closed by server", "stopped" (by `until`), "still open", "http <status>". `on_start` is awaited as soon
        as the answer's headers are there.
        """
        until, on_start, trim = (options.pop(name, None) for name in ("until", "on_start", "trim"))
        seconds = options.pop("seconds", 6.0)
        query = {"watch": "true"} | {key.rstrip("_"): str(value) for key, value in options.items()}
        headers = {"Accept": JSON, "User-Agent": "probe", "Authorization": f"Bearer {self.server.token}"}
        started = time.monotonic()
        async with self.server.http.get(self.server.base + path, params=query, headers=headers) as r:
            status, kept = r.status, {"Content-Type": r.headers.get("Content-Type")}
            if status != 200:
                events, end = [parse(await r.read())], f"http {status}"
            else:
                writer = asyncio.create_task(on_start()) if on_start else None
                events, end = await _followed(r, seconds, until)
                if writer:
                    await writer
        response = {"status": status, "headers": kept, "end": end, "seconds": round(time.monotonic() - started)}
        shown = [trim(event) for event in events] if trim else events
        asked = {"method": "GET", "path": path, "query": query, "accept": JSON}
        self.exchanges.append({"request": asked, "response": {**response, "events": shown}})
        return events, end

    async def until(self, ask: Callable[[], Awaitable[Any]], seconds: float = 10.0, every: float = 0.05) -> Any:
        """Repeat `ask()` until it is truthy; returns it, or None after `seconds`."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if found := await ask():
                return found
            await asyncio.sleep(every)
        return None

    # short-cuts used by many checks

    @property
    def ns(self) -> str:
        return self.server.namespace

    @property
    def core(self) -> str:
        return f"/api/v1/namespaces/{self.ns}"

    def object_name(self, suffix: str = "") -> str:
        """A name of its own for this check."""
        return "-".join(x for x in (self.name.replace("_", "-")[:45].strip("-"), suffix) if x)

    async def config_map(self, suffix: str = "", data: Any = None, *, quiet: bool = True, **meta: Any) -> str:
        name = self.object_name(suffix)
        await self.post(f"{self.core}/configmaps", config_map(name, data, **meta), quiet=quiet)
        return f"{self.core}/configmaps/{name}"

    async def pod(self, suffix: str = "", *, node: Any = None, grace: Any = None, labels: Any = None) -> str:
        name = self.object_name(suffix)
        await self.post(f"{self.core}/pods", pod(name, node, grace, labels), quiet=True)
        return f"{self.core}/pods/{name}"

    async def ready_pod(self, suffix: str = "", *, labels: Any = None, ready: str = "True", grace: int = 0) -> str:
        """A pod bound to the checks' node, Running and Ready through /status, as a kubelet would do."""
        path = await self.pod(suffix, node=self.server.node, labels=labels, grace=grace)
        conditions = [{"type": kind, "status": ready} for kind in ("Ready", "ContainersReady")]
        await self.patch(f"{path}/status", {"status": {"phase": "Running", "conditions": conditions}}, quiet=True)
        return path


async def _followed(
    response: aiohttp.ClientResponse, seconds: float, until: Callable[[list[Any]], object] | None
) -> tuple[list[Any], str]:
    events: list[Any] = []
    try:
        async with asyncio.timeout(seconds):
            async for line in response.content:
                if line.strip():
                    events.append(json.loads(line))
                if until and until(events):
                    return events, "stopped"
    except TimeoutError:
        return events, "still open"
    return events, "closed by server"


def parse(data: bytes) -> Any:
    """JSON, else text, else a word for what is neither."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return "(binary)"
    try:
        return json.loads(text)
    except ValueError:
        return text
