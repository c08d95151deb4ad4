"""What a kubeconfig says about TLS and proxies is done on the wire."""

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.adapters.kubeconfigs import Kubeconfig, KubeconfigCache
from bot.adapters.kubernetes.connection import Connection
from bot.adapters.kubernetes.settings import Limits
from state.errors import TransientError
from tests.shell.bad_servers import DATA, THINGS, BadServer, serving

CERTIFICATE = "loopback-a.pem"
LIMITS = Limits(read=3, connect=3)
Json = dict[str, Any]


@asynccontextmanager
async def connected(raw: bytes, proxy: str = "") -> AsyncIterator[Connection]:
    async def fetch() -> Kubeconfig:
        return Kubeconfig(raw, datetime.now(UTC))

    connection = Connection(KubeconfigCache(fetch), LIMITS, proxy)
    try:
        yield connection
    finally:
        await connection.aclose()


def changed(server: BadServer, cluster: Json | None = None, user: Json | None = None) -> bytes:
    """Write the server's kubeconfig with more in it."""
    config = json.loads(server.kubeconfig())
    config["clusters"][0]["cluster"].update(cluster or {})
    config["users"][0]["user"].update(user or {})
    return json.dumps(config).encode()


async def test_given_a_client_certificate_when_the_server_asks_for_one_then_it_is_shown() -> None:
    file = str(DATA / CERTIFICATE)
    async with serving(BadServer(certificate=CERTIFICATE, client_certificate=CERTIFICATE)) as server:
        async with connected(changed(server, user={"client-certificate": file, "client-key": file})) as connection:
            assert await connection.get(THINGS) is not None
        async with connected(server.kubeconfig()) as without:
            with pytest.raises(TransientError):
                await without.get(THINGS)


@pytest.mark.parametrize(("name", "accepted"), [("api.example.com", True), ("other.example.com", False)])
async def test_given_a_tls_server_name_when_connecting_then_that_name_is_checked(name: str, accepted: bool) -> None:
    async with (
        serving(BadServer(certificate=CERTIFICATE)) as server,
        connected(changed(server, {"tls-server-name": name})) as connection,
    ):
        if accepted:
            assert await connection.get(THINGS) is not None
        else:
            with pytest.raises(TransientError):
                await connection.get(THINGS)


async def test_given_an_authority_that_did_not_sign_when_connecting_then_no_token_is_sent() -> None:
    async with serving(BadServer(certificate=CERTIFICATE)) as server:
        config = changed(server, {"certificate-authority": str(DATA / "loopback-b.pem")})
        async with connected(config) as connection:
            with pytest.raises(TransientError) as caught:
                await connection.get(THINGS)

        assert "certificate" in caught.value.reason.text("detail")
        assert server.tokens == []


@pytest.mark.parametrize("where", ["kubeconfig", "settings"])
async def test_given_a_proxy_when_connecting_then_the_way_leads_through_it(where: str) -> None:
    asked: list[str] = []
    async with serving(BadServer(certificate=CERTIFICATE)) as server, proxying(asked) as proxy:
        raw = changed(server, {"proxy-url": proxy}) if where == "kubeconfig" else server.kubeconfig()
        async with connected(raw, "" if where == "kubeconfig" else proxy) as connection:
            assert await connection.get(THINGS) is not None

    assert asked == [f"CONNECT {server.url.removeprefix('https://')} HTTP/1.1"]


@asynccontextmanager
async def proxying(asked: list[str]) -> AsyncIterator[str]:
    """Run an HTTP proxy that connects to whatever it is asked for."""

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, ssl.SSLError):
            while chunk := await reader.read(65536):
                writer.write(chunk)
                await writer.drain()
        writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        asked.append(head.splitlines()[0])
        host, _, port = head.split()[1].partition(":")
        far_reader, far_writer = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(pump(reader, far_writer), pump(far_reader, writer))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        await server.wait_closed()
