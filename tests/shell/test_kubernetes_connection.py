"""Every way in which a call can fail becomes one of our errors, and the right one."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from aiohttp import web

from bot.adapters.kubernetes.connection import Call, Connection, checked, segment
from bot.adapters.kubernetes.listing import list_all
from bot.adapters.kubernetes.settings import Limits
from state.errors import OutcomeUnknown, PermanentError, TransientError
from state.reasons import Code
from tests.shell.bad_servers import CAT, THINGS, Answers, BadServer, connected, cut, failure, serving, thing

QUICK = Limits(read=0.3, write=0.3, page=0.3, connect=0.3)


@pytest.fixture
async def server() -> AsyncIterator[BadServer]:
    async with serving(BadServer()) as made:
        yield made


@pytest.fixture
async def connection(server: BadServer) -> AsyncIterator[Connection]:
    async with connected(server, QUICK) as made:
        yield made


async def hang(_request: web.Request) -> web.StreamResponse:
    await asyncio.Event().wait()
    raise AssertionError


async def drop(request: web.Request) -> web.StreamResponse:
    await cut(request)
    return web.Response()


async def page_of_html(_request: web.Request) -> web.StreamResponse:
    return web.Response(status=502, text="<!DOCTYPE html><h1>Bad gateway 10.1.2.3</h1>", content_type="text/html")


async def captive(_request: web.Request) -> web.StreamResponse:
    return web.Response(text="<html>please log in</html>", content_type="text/html")


async def failure_in_200(_request: web.Request) -> web.StreamResponse:
    return web.json_response(failure(503, "ServiceUnavailable"))


def status(code: int, **headers: str) -> Answers:
    async def answer(_request: web.Request) -> web.StreamResponse:
        return web.json_response(failure(code, "No"), status=code, headers=headers)

    return answer


TROUBLE = {
    "hangs": hang,
    "cut": drop,
    "html 502": page_of_html,
    "captive portal": captive,
    "failure in 200": failure_in_200,
    "503": status(503),
}


@pytest.mark.parametrize("answers", TROUBLE.values(), ids=TROUBLE)
async def test_given_trouble_when_reading_then_it_is_transient(
    server: BadServer, connection: Connection, answers: Answers
) -> None:
    server.other = answers

    with pytest.raises(TransientError) as caught:
        await connection.get("/api/v1/nodes/n")

    assert caught.value.reason.code is Code.API_UNREACHABLE
    assert "10.1.2.3" not in str(caught.value.reason)
    assert "html" not in str(caught.value.reason)


@pytest.mark.parametrize("answers", TROUBLE.values(), ids=TROUBLE)
async def test_given_trouble_when_changing_something_then_the_outcome_is_unknown(
    server: BadServer, connection: Connection, answers: Answers
) -> None:
    server.other = answers

    with pytest.raises(OutcomeUnknown):
        checked(await connection.call(Call("PATCH", "/api/v1/nodes/n", body={})), mutating=True)


@pytest.mark.parametrize("method", ["GET", "PATCH"])
async def test_given_nobody_listening_when_called_then_nothing_can_have_happened(
    server: BadServer, connection: Connection, method: str
) -> None:
    await server.stop()

    with pytest.raises(TransientError) as caught:
        await connection.call(Call(method, "/api/v1/nodes/n"))

    assert caught.value.reason.code is Code.API_UNREACHABLE


@pytest.mark.parametrize(
    ("code", "error", "meaning"),
    [
        (400, PermanentError, Code.API_REFUSED),
        (401, TransientError, Code.API_LOGIN),
        (403, PermanentError, Code.API_REFUSED),
        (409, TransientError, Code.API_REFUSED),
        (422, PermanentError, Code.API_REFUSED),
        (429, TransientError, Code.API_UNREACHABLE),
        (302, PermanentError, Code.API_REFUSED),
    ],
)
async def test_given_a_refusal_when_changing_something_then_it_is_known_that_nothing_happened(
    server: BadServer, connection: Connection, code: int, error: type[Exception], meaning: Code
) -> None:
    server.other = status(code)

    with pytest.raises(error) as caught:
        checked(await connection.call(Call("PATCH", "/api/v1/nodes/n", body={})), mutating=True)

    assert isinstance(caught.value, PermanentError | TransientError)
    assert caught.value.reason.code is meaning
    assert caught.value.reason.facts["status"] == code


@pytest.mark.parametrize(("header", "seconds"), [("7", 7), ("99999", 60), ("soon", 5), ("-1", 5)])
async def test_given_throttling_when_told_how_long_then_that_is_the_wait_within_reason(
    server: BadServer, connection: Connection, header: str, seconds: int
) -> None:
    server.other = status(429, **{"Retry-After": header})

    with pytest.raises(TransientError) as caught:
        await connection.get("/api/v1/nodes/n")

    assert caught.value.delay.total_seconds() == seconds


async def test_given_nothing_there_when_read_then_it_is_none(connection: Connection) -> None:
    assert await connection.get("/api/v1/nodes/n") is None


async def test_given_an_endless_list_when_read_then_it_is_given_up(server: BadServer, connection: Connection) -> None:
    async def same_page(_request: web.Request) -> web.StreamResponse:
        return web.json_response({"metadata": {"continue": "again"}, "items": [thing("a", 1)]})

    server.lists = same_page

    with pytest.raises(TransientError):
        await list_all(connection, CAT, QUICK)

    assert server.count() == 2


async def test_given_a_list_that_expires_between_pages_when_read_then_it_begins_anew(
    server: BadServer, connection: Connection
) -> None:
    server.objects = [thing(f"t{number}", number) for number in range(1, 1001)]

    async def expires_once(request: web.Request) -> web.StreamResponse:
        if server.count() == 2:
            return web.json_response(failure(410, "Expired"), status=410)
        return server.page(request)

    server.lists = expires_once
    listing = await list_all(connection, CAT, QUICK)

    assert len(listing.records) == 1000
    assert server.count() == 4


async def test_given_an_answer_without_items_when_listed_then_it_is_no_empty_cluster(
    server: BadServer, connection: Connection
) -> None:
    async def nothing(_request: web.Request) -> web.StreamResponse:
        return web.json_response({"kind": "PodList", "metadata": {"resourceVersion": "1"}})

    server.lists = nothing

    with pytest.raises(TransientError):
        await list_all(connection, CAT, QUICK)


async def test_given_an_answer_too_large_when_read_then_it_is_not_taken_in(server: BadServer) -> None:
    async def large(_request: web.Request) -> web.StreamResponse:
        return web.Response(body=b" " * 200_000 + b"{}", content_type="application/json")

    server.other = large
    async with connected(server, replace(QUICK, largest_answer=100_000)) as small:
        with pytest.raises(TransientError):
            await small.get("/version")


async def test_given_many_calls_when_all_are_refused_then_they_do_not_storm_the_source(server: BadServer) -> None:
    server.other = status(401)
    async with connected(server, QUICK) as connection:
        answers = await asyncio.gather(*(connection.call(Call("GET", "/version")) for _ in range(20)))

    assert {answer.status for answer in answers} == {401}
    assert server.count() <= 40


async def test_given_another_certificate_than_promised_when_called_then_it_is_transient_and_nothing_left() -> None:
    server = BadServer(certificate="loopback-a.pem")
    async with serving(server), connected(server, QUICK) as connection:
        good = await connection.get(f"{THINGS}")
        await server.stop()
        server.certificate = "loopback-b.pem"
        await server.start()
        server.certificate = "loopback-a.pem"  # the kubeconfig goes on to promise the old one
        with pytest.raises(TransientError) as caught:
            await connection.call(Call("PATCH", "/api/v1/nodes/n", body={}))

    assert good is not None
    assert "certificate" in caught.value.reason.text("detail")


async def test_given_renewed_access_when_called_again_then_calls_in_flight_are_not_cut(server: BadServer) -> None:
    waits = asyncio.Event()

    async def slow(_request: web.Request) -> web.StreamResponse:
        await waits.wait()
        return web.json_response({"gitVersion": "v1.36.0"})

    server.other = slow
    async with connected(server, replace(QUICK, read=5)) as connection:
        call = asyncio.create_task(connection.get("/version"))
        while not server.seen:
            await asyncio.sleep(0.005)
        connection.renew()
        await asyncio.sleep(0)
        waits.set()

        assert await call == {"gitVersion": "v1.36.0"}
        assert await connection.get("/version") == {"gitVersion": "v1.36.0"}


def test_given_names_when_put_into_a_path_then_they_stay_one_segment() -> None:
    assert [segment(name) for name in ("10.240.0.64", "a/b?c", "..", "%")] == [
        "10.240.0.64",
        "a%2Fb%3Fc",
        "%2E%2E",
        "%25",
    ]
