"""A small Kubernetes API client, so that everything inside a pretend cluster is a client like any other.

Requests are raw JSON over HTTP, with a timeout each; nothing here knows whether the emulator or a real kube-apiserver
answers. What a controller decides must never enter this module.
"""

import asyncio
import contextlib
import json
import random
from collections import deque
from collections.abc import AsyncGenerator, Iterable
from ssl import SSLContext
from typing import Any

import aiohttp

Json = dict[str, Any]

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"

NO_ANSWER = 0
NONSENSE = (KeyError, TypeError, AttributeError, ValueError)  # what reading a list or event of a lying server raises
REQUEST_SECONDS = 15.0
WATCH_SECONDS = 240
WATCH_GRACE = 15.0  # a server that does not end a watch by itself is cut this much later
LONGEST_LINE = 8 * 1024 * 1024
TOMBSTONES = 2048
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0


class ApiError(Exception):
    """The server said no, or nothing at all.

    Attributes:
        status: HTTP status; NO_ANSWER (0) when there was no connection, no answer in time, or no JSON.
        body: the decoded answer (a Kubernetes Status as a rule), or {"message": text}.
    """

    def __init__(self, status: int, body: Json) -> None:
        super().__init__(f"{status} {body.get('reason', '')} {body.get('message', '')}".strip())
        self.status = status
        self.body = body


class Api:
    """One user's connection to one API server."""

    def __init__(self, url: str, token: str, ssl: SSLContext | None = None, *, agent: str = "sandbox") -> None:
        self.url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}", "User-Agent": agent, "Accept": "application/json"}
        self._ssl: SSLContext | bool = ssl if ssl is not None else True
        self._session: aiohttp.ClientSession | None = None

    async def get(self, path: str) -> Json:
        return await self._call("GET", path)

    async def post(self, path: str, body: Json) -> Json:
        return await self._call("POST", path, body)

    async def put(self, path: str, body: Json) -> Json:
        return await self._call("PUT", path, body)

    async def patch(self, path: str, body: Any, content_type: str = MERGE_PATCH) -> Json:
        return await self._call("PATCH", path, body, content_type)

    async def delete(self, path: str, body: Json | None = None) -> Json:
        return await self._call("DELETE", path, body)

    async def watch(self, path: str, resource_version: str = "") -> AsyncGenerator[tuple[str, Json]]:
        """Events of one watch, until the server ends it; BOOKMARK and ERROR events are passed on as they come.

        Raises ApiError when the watch is refused or the connection breaks.
        """
        query = f"watch=true&allowWatchBookmarks=true&timeoutSeconds={WATCH_SECONDS}"
        if resource_version:
            query += f"&resourceVersion={resource_version}"
        url = f"{self.url}{path}{'&' if '?' in path else '?'}{query}"
        limit = aiohttp.ClientTimeout(total=WATCH_SECONDS + WATCH_GRACE, sock_connect=REQUEST_SECONDS)
        try:
            async with self._open().get(url, timeout=limit, ssl=self._ssl) as answer:
                if answer.status >= 400:
                    raise ApiError(answer.status, _decoded(await answer.text()))
                async for line in answer.content:
                    if line.strip():
                        event = json.loads(line)
                        yield event["type"], event["object"]
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError, KeyError) as broken:
            raise ApiError(NO_ANSWER, {"message": f"watch {path}: {broken!r}"}) from broken

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def _call(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> Json:
        data = None if body is None else json.dumps(body)
        headers = {} if body is None else {"Content-Type": content_type}
        limit = aiohttp.ClientTimeout(total=REQUEST_SECONDS)
        session = self._open()
        try:
            async with session.request(
                method, self.url + path, data=data, headers=headers, timeout=limit, ssl=self._ssl
            ) as answer:
                decoded = _decoded(await answer.text())
        except (aiohttp.ClientError, TimeoutError, OSError) as broken:
            raise ApiError(NO_ANSWER, {"message": f"{method} {path}: {broken!r}"}) from broken
        if answer.status >= 400:
            raise ApiError(answer.status, decoded)
        return decoded

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = aiohttp.TCPConnector(limit=0)
            self._session = aiohttp.ClientSession(connector=connector, headers=self._headers, read_bufsize=LONGEST_LINE)
        return self._session


class Mirror:
    """A local copy of one resource, kept by list and watch.

    Own writes are put in with `note`, so that a controller never decides on a state older than its last order.
    A missing resource (a definition that is not installed yet) reads as empty and is looked for again.
    """

    def __init__(self, api: Api, path: str) -> None:
        self.path = path
        self.synced = asyncio.Event()
        self._api = api
        self._objects: dict[str, Json] = {}
        self._gone: deque[str] = deque(maxlen=TOMBSTONES)
        self._listeners: list[asyncio.Event] = []

    def wakes(self, listener: asyncio.Event) -> None:
        """Set `listener` at every change from now on."""
        if listener not in self._listeners:
            self._listeners.append(listener)

    def objects(self) -> tuple[Json, ...]:
        """All objects, in order of namespace and name. They are the copy itself: look, don't change."""
        return tuple(self._objects[key] for key in sorted(self._objects))

    def get(self, name: str, namespace: str = "") -> Json | None:
        return self._objects.get(f"{namespace}/{name}")

    def note(self, item: Json) -> None:
        """Take over an object that the server just returned, unless something newer is known."""
        known = self._objects.get(_key(item))
        if item["metadata"].get("uid") in self._gone:
            return
        if known is None or _version(item) > _version(known):
            self._objects[_key(item)] = item
            self._ring()

    def forget(self, item: Json) -> None:
        """Drop an object that is known to be gone."""
        if item["metadata"].get("uid"):
            self._gone.append(item["metadata"]["uid"])
        known = self._objects.get(_key(item))
        if known is not None and known["metadata"].get("uid") == item["metadata"].get("uid"):
            del self._objects[_key(item)]
            self._ring()

    async def run(self) -> None:
        """Follow the resource until cancelled.

        Raises ApiError 401 only: the token is no longer good, and waiting will not help. An answer that makes no
        sense counts as none.
        """
        pause = FIRST_PAUSE
        while True:
            try:
                version = await self._list()
                pause = FIRST_PAUSE
                while version:
                    version = await self._follow(version)
                    await asyncio.sleep(FIRST_PAUSE)  # an endless row of empty watches must not spin
            except ApiError as refused:
                if refused.status == 401:
                    raise
                if refused.status == 404:
                    self._replace(())
                    pause = min(pause, 1.0)
            except NONSENSE:
                pause = max(pause, 1.0)
            await asyncio.sleep(pause * random.uniform(0.8, 1.2))
            pause = min(pause * 2, LONGEST_PAUSE)

    async def _list(self) -> str:
        answer = await self._api.get(self.path)
        kind = {"apiVersion": answer.get("apiVersion", ""), "kind": answer.get("kind", "").removesuffix("List")}
        self._replace({**kind, **item} for item in answer.get("items") or ())
        return str(answer["metadata"]["resourceVersion"])

    async def _follow(self, version: str) -> str:
        """One watch from `version`; the version to go on from, or "" when a new list is needed."""
        events = self._api.watch(self.path, version)
        async with contextlib.aclosing(events):
            async for kind, item in events:
                match kind:
                    case "ADDED" | "MODIFIED":
                        self.note(item)
                    case "DELETED":
                        self.forget(item)
                    case "ERROR":
                        return ""
                version = str(item["metadata"]["resourceVersion"])
        return version

    def _replace(self, items: Iterable[Json]) -> None:
        fresh = {_key(item): item for item in items}
        changed = fresh != self._objects
        self._objects = fresh
        if changed or not self.synced.is_set():
            self.synced.set()
            self._ring()

    def _ring(self) -> None:
        for listener in self._listeners:
            listener.set()


def _key(item: Json) -> str:
    return f"{item['metadata'].get('namespace', '')}/{item['metadata']['name']}"


def _version(item: Json) -> int:
    text = str(item["metadata"].get("resourceVersion", "0"))
    return int(text) if text.isdigit() else 0


def _decoded(text: str) -> Json:
    try:
        body = json.loads(text) if text else {}
    except ValueError:
        return {"message": text[:500]}
    return body if isinstance(body, dict) else {"message": text[:500]}
