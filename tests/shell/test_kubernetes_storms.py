"""Size and storms: thousands of objects leave the loop its turn, and no server is asked more than once a second."""

import asyncio
import time

from aiohttp import web

from bot.adapters.kubernetes.settings import Limits
from tests.shell.bad_servers import (
    Answers,
    BadServer,
    close,
    event,
    failure,
    thing,
    watching,
)

PATIENT = Limits(watch_least=30, watch_most=30)


async def test_given_five_thousand_objects_when_listed_then_the_loop_gets_its_turn_all_along() -> None:
    objects = [thing(f"t{number}", number) for number in range(1, 5001)]
    turns = 0

    async def tick() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    async with watching(BadServer(objects, version=9000)) as at_work:
        ticking = asyncio.create_task(tick())
        await at_work.until(lambda: len(at_work.names()) == 5000, seconds=20)
        ticking.cancel()

        assert at_work.server.count(watches=False) == 10
        assert turns >= 10 * 5


async def test_given_storms_when_they_last_then_no_more_than_a_request_a_second_goes_out() -> None:
    """Five storms side by side, each five seconds; a burst at the beginning is allowed."""
    storms = {
        "eof": BadServer([thing("a", 1)], watch=close),
        "forbidden": BadServer(lists=refusing(403)),
        "throttled": BadServer(lists=refusing(429)),
        "expired": BadServer([thing("a", 1)], watch=expired),
        "chatty": BadServer([thing("a", 1)], watch=chatty),
        "second page": BadServer([thing(f"t{n}", n) for n in range(1, 1001)]),
    }
    storms["second page"].lists = second_page_fails(storms["second page"])
    counts = dict(zip(storms, await asyncio.gather(*(stormy(server) for server in storms.values())), strict=True))

    assert {name: count for name, count in counts.items() if count > 4 + 5 + 1} == {}


async def stormy(server: BadServer) -> int:
    async with watching(server, PATIENT):
        began = time.monotonic()
        while time.monotonic() - began < 5:
            await asyncio.sleep(0.1)
        return server.count()


def second_page_fails(server: BadServer) -> Answers:
    async def answer(request: web.Request) -> web.StreamResponse:
        if "continue" in request.query:
            return web.json_response(failure(500, "InternalError"), status=500)
        return server.page(request)

    return answer


async def expired(_request: web.Request, stream: web.StreamResponse) -> None:
    await stream.write(event("ERROR", failure(410, "Expired")))


async def chatty(request: web.Request, stream: web.StreamResponse) -> None:
    """Say one new thing and hang up."""
    version = int(request.query["resourceVersion"]) + 1
    await stream.write(event("MODIFIED", thing("a", version)))


def refusing(status: int) -> Answers:
    async def answer(_request: web.Request) -> web.StreamResponse:
        return web.json_response(failure(status, "No"), status=status)

    return answer
