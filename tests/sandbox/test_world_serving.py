import asyncio

import aiohttp
import pytest
from aiohttp import web

from sandbox.serving import serve


async def _hello(_: web.Request) -> web.Response:
    return web.Response(text="hello")


async def _stream(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    await response.write(b"first\n")
    await asyncio.sleep(60)
    return response


def _app() -> web.Application:
    app = web.Application()
    app.router.add_get("/hello", _hello)
    app.router.add_get("/stream", _stream)
    return app


async def test_given_an_app_when_served_then_it_answers_on_loopback() -> None:
    served = await serve(_app())

    async with aiohttp.ClientSession() as session, session.get(f"{served.url}/hello") as answer:
        text = await answer.text()
    await served.aclose()

    assert (text, served.url.startswith("http://127.0.0.1:")) == ("hello", True)


async def test_given_an_open_stream_when_closed_then_it_does_not_wait_for_it() -> None:
    served = await serve(_app())
    async with aiohttp.ClientSession() as session, session.get(f"{served.url}/stream") as answer:
        await answer.content.readline()

        async with asyncio.timeout(3):
            await served.aclose()

    assert True


async def test_given_a_taken_port_when_served_then_the_error_is_told() -> None:
    served = await serve(_app())

    with pytest.raises(OSError, match="address already in use"):
        await serve(_app(), served.port)
    await served.aclose()
