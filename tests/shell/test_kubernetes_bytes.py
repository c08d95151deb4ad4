"""Bytes that are hardly HTTP: whatever comes back, only our own errors leave, and a watch goes on trying."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest

from bot.adapters.kubeconfigs import Kubeconfig, KubeconfigCache
from bot.adapters.kubernetes.connection import Call, Connection, checked
from bot.adapters.kubernetes.listing import list_all
from bot.adapters.kubernetes.pace import Pace
from bot.adapters.kubernetes.reflector import Reflector, Shared
from bot.adapters.kubernetes.settings import Limits
from state.errors import GpuMigrateError, OutcomeUnknown, TransientError
from tests.shell.bad_servers import CAT, BadServer

LIMITS = Limits(read=0.5, write=0.5, page=0.5, pace=0.01, longest_pause=0.05, watch_least=1, watch_most=1)
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

ANSWERS = {
    "nothing": b"",
    "no http": b"SSH-2.0-OpenSSH_9.2\r\n",
    "half a header": b"HTTP/1.1 200 OK\r\nContent-Le",
    "bad status": b"HTTP/1.1 abc OK\r\n\r\n",
    "short body": OK + b"Content-Length: 100\r\n\r\n{}",
    "bad length": OK + b"Content-Length: -5\r\n\r\n{}",
    "bad chunk": OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n",
    "cut chunk": OK + b"Transfer-Encoding: chunked\r\n\r\nff\r\n{}",
    "bad gzip": OK + b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd",
    "unknown encoding": OK + b"Content-Encoding: br\r\nContent-Length: 4\r\n\r\nabcd",
    "long header": OK + b"X: " + b"a" * 100_000 + b"\r\n\r\n",
    "no json": OK + b"Content-Length: 3\r\n\r\n\xff\xfe\x00",
    "a list": OK + b"Content-Length: 2\r\n\r\n[]",
    "deep": OK + b"Content-Length: 100000\r\n\r\n" + b"[" * 100_000,
    "null": OK + b"Content-Length: 4\r\n\r\nnull",
    "empty": OK + b"Content-Length: 0\r\n\r\n",
}


@asynccontextmanager
async def saying(answer: bytes) -> AsyncIterator[Connection]:
    """Connect to a server that answers every request with these bytes and hangs up."""

    async def answer_all(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer_all, "127.0.0.1", 0)
    named = BadServer(url=f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")

    async def fetch() -> Kubeconfig:
        return Kubeconfig(named.kubeconfig(), datetime.now(UTC))

    connection = Connection(KubeconfigCache(fetch), LIMITS)
    try:
        yield connection
    finally:
        await connection.aclose()
        server.close()
        await server.wait_closed()


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
async def test_given_strange_bytes_when_called_then_only_our_errors_leave(answer: bytes) -> None:
    async with saying(answer) as connection:
        with pytest.raises(TransientError):
            await connection.get("/api/v1/nodes/n")
        with pytest.raises(TransientError):
            await list_all(connection, CAT, LIMITS)
        with pytest.raises(OutcomeUnknown):
            checked(await connection.call(Call("PATCH", "/api/v1/nodes/n", body={})), mutating=True)


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
async def test_given_strange_bytes_when_watched_then_the_watch_goes_on_trying(answer: bytes) -> None:
    async with saying(answer) as connection:
        reflector = Reflector(CAT, Shared(connection, LIMITS, Pace(0.01, 4), lambda: None))
        reflector._version = "1"
        reflector._listed_at = asyncio.get_running_loop().time()
        running = asyncio.create_task(reflector.run())
        while reflector.tally.failures < 2:
            assert not running.done(), running.exception()
            await asyncio.sleep(0.01)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

        assert reflector.values() == ()


async def test_given_an_odd_line_within_a_good_watch_when_read_then_only_our_errors_leave() -> None:
    odd = [
        b'{"type":1,"object":2}',
        b'{"type":"ADDED"}',
        b'{"type":"ADDED","object":null}',
        b'{"type":"BOOKMARK"}',
        b"{}",
    ]
    body = b"\n".join([*odd, json.dumps({"type": "ERROR", "object": "what"}).encode(), b""])
    head = OK + f"Content-Length: {len(body)}\r\n\r\n".encode()
    async with saying(head + body) as connection:
        reflector = Reflector(CAT, Shared(connection, LIMITS, Pace(0.01, 4), lambda: None))
        reflector._version = "1"
        reflector._listed_at = asyncio.get_running_loop().time()
        running = asyncio.create_task(reflector.run())
        while reflector.tally.watches < 1 or reflector.synced:
            assert not running.done()
            await asyncio.sleep(0.01)
        running.cancel()
        ended = await asyncio.gather(running, return_exceptions=True)

    assert not isinstance(ended[0], GpuMigrateError)
    assert reflector.tally.skipped >= 3
