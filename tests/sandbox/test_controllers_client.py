"""The API client and its local copies against servers that are slow, forgetful, down or lying."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from sandbox.controllers.run import run_controllers
from sandbox.kubernetes_client import NO_ANSWER, Api, ApiError, Mirror
from sandbox.scenario import load
from sandbox.serving import serve

Json = dict[str, Any]
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

PATH = "/api/v1/things"
DEADLINE = 30.0


def _thing(name: str, version: int, uid: str = "") -> Json:
    return {"kind": "Thing", "metadata": {"name": name, "uid": uid or name, "resourceVersion": str(version)}}


def _list(version: int, *items: Json) -> web.Response:
    meta = {"resourceVersion": str(version)}
    return web.json_response({"kind": "ThingList", "apiVersion": "v1", "metadata": meta, "items": items})


async def _stream(request: web.Request, *events: tuple[str, Json], hold: bool = False) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    for kind, item in events:
        await response.write(json.dumps({"type": kind, "object": item}).encode() + b"\n")
    if hold:
        await asyncio.sleep(DEADLINE * 3)
    return response


@contextlib.asynccontextmanager
async def _following(handler: Handler) -> AsyncIterator[tuple[Mirror, "asyncio.Task[None]"]]:
    """A mirror of things on a server that answers by `handler`."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    served = await serve(app)
    api = Api(served.url, "t")
    mirror = Mirror(api, PATH)
    task = asyncio.create_task(mirror.run())
    try:
        yield mirror, task
    finally:
        task.cancel()
        await asyncio.wait([task])
        await api.aclose()
        await served.aclose()


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(DEADLINE):
        while not holds():
            await asyncio.sleep(0.02)


def _names(mirror: Mirror) -> list[str]:
    return [one["metadata"]["name"] for one in mirror.objects()]


async def test_given_a_list_and_events_when_followed_then_the_copy_is_the_sum() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        if "watch" not in request.query:
            return _list(5, _thing("a", 1), _thing("b", 2))
        assert request.query["resourceVersion"] == "5"
        events = (("ADDED", _thing("c", 6)), ("DELETED", _thing("a", 7)), ("BOOKMARK", _thing("", 9)))
        return await _stream(request, *events, hold=True)

    async with _following(handler) as (mirror, _):
        await _until(lambda: _names(mirror) == ["b", "c"])

        found = mirror.get("b")
        assert found is not None
        assert found["kind"] == "Thing"


async def test_given_an_expired_version_when_the_watch_says_so_then_the_list_is_read_again() -> None:
    lists = 0

    async def handler(request: web.Request) -> web.StreamResponse:
        nonlocal lists
        if "watch" not in request.query:
            lists += 1
            return _list(lists, _thing(f"list-{lists}", lists))
        if lists == 1:
            return await _stream(request, ("ERROR", {"code": 410, "reason": "Expired"}))
        return await _stream(request, hold=True)

    async with _following(handler) as (mirror, _):
        await _until(lambda: _names(mirror) == ["list-2"])

        assert lists == 2


async def test_given_watches_that_end_at_once_when_followed_then_the_last_version_goes_on_without_spinning() -> None:
    asked: list[str] = []

    async def handler(request: web.Request) -> web.StreamResponse:
        if "watch" not in request.query:
            return _list(1)
        asked.append(request.query["resourceVersion"])
        return await _stream(request, ("MODIFIED", _thing("a", len(asked) + 1)))

    async with _following(handler):
        await asyncio.sleep(1.0)

    assert asked[:2] == ["1", "2"]
    assert len(asked) <= 6


@pytest.mark.parametrize("status", [0, 403, 429, 500])
async def test_given_a_server_that_fails_when_it_recovers_then_the_copy_fills(status: int) -> None:
    tries = 0

    async def handler(request: web.Request) -> web.StreamResponse:
        nonlocal tries
        tries += 1
        if tries < 3:
            if status == 0 and request.transport is not None:
                request.transport.abort()
            return web.Response(status=status or 500, text="<html>busy</html>")
        return _list(1, _thing("a", 1)) if "watch" not in request.query else await _stream(request, hold=True)

    async with _following(handler) as (mirror, _):
        await _until(lambda: _names(mirror) == ["a"])


async def test_given_a_resource_that_does_not_exist_when_it_comes_then_it_was_empty_until_then() -> None:
    exists = False

    async def handler(request: web.Request) -> web.StreamResponse:
        if not exists:
            return web.Response(status=404, text="404 page not found")
        return _list(1, _thing("a", 1)) if "watch" not in request.query else await _stream(request, hold=True)

    async with _following(handler) as (mirror, _):
        async with asyncio.timeout(DEADLINE):
            await mirror.synced.wait()
        before = _names(mirror)
        exists = True
        await _until(lambda: _names(mirror) == ["a"])

        assert before == []


async def test_given_a_refused_token_when_followed_then_the_mirror_gives_up() -> None:
    async def handler(_: web.Request) -> web.StreamResponse:
        return web.json_response({"code": 401}, status=401)

    async with _following(handler) as (_, task):
        async with asyncio.timeout(DEADLINE):
            await asyncio.wait([task])

        error = task.exception()
        assert isinstance(error, ApiError)
        assert error.status == 401


async def test_given_own_writes_when_noted_then_older_news_and_the_dead_do_not_come_back() -> None:
    mirror = Mirror(Api("http://127.0.0.1:1", "t"), PATH)

    mirror.note(_thing("a", 5))
    mirror.note(_thing("a", 4))
    noted = mirror.get("a")
    mirror.forget(_thing("a", 5))
    mirror.note(_thing("a", 6))
    gone = mirror.get("a")
    mirror.note(_thing("a", 7, uid="second"))

    assert noted is not None
    assert noted["metadata"]["resourceVersion"] == "5"
    assert gone is None
    assert _names(mirror) == ["a"]


async def test_given_no_server_when_called_then_the_error_says_there_was_no_answer() -> None:
    api = Api("http://127.0.0.1:1", "t")

    with pytest.raises(ApiError) as caught:
        await api.get(PATH)
    await api.aclose()

    assert caught.value.status == NO_ANSWER


async def test_given_an_unknown_part_when_controllers_start_then_the_known_ones_are_named() -> None:
    scenario = load("guide-example-1")

    with pytest.raises(ValueError, match="scheduler"):
        await run_controllers("http://127.0.0.1:1", lambda *_: "t", scenario, {"planner"})
