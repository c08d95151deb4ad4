"""Clients that check certificates strictly must trust a sandbox's servers, and nobody else's."""

import ssl
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from sandbox.certificates import Certificates, make_certificates
from sandbox.serving import Served, serve


async def _hello(_: web.Request) -> web.Response:
    return web.Response(text="hello")


async def _serve(made: Certificates, folder: Path) -> Served:
    (folder / "server.pem").write_text(made.server + made.key)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "server.pem")
    app = web.Application()
    app.router.add_get("/", _hello)
    return await serve(app, ssl=context)


def _trusting(made: Certificates) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=made.authority)
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    return context


async def test_given_the_authority_when_a_strict_client_connects_then_it_trusts(tmp_path: Path) -> None:
    made = make_certificates()
    served = await _serve(made, tmp_path)

    async with aiohttp.ClientSession() as session, session.get(served.url, ssl=_trusting(made)) as answer:
        text = await answer.text()
    await served.aclose()

    assert (text, served.url.startswith("https://127.0.0.1:")) == ("hello", True)


async def test_given_another_authority_when_a_client_connects_then_it_refuses(tmp_path: Path) -> None:
    served = await _serve(make_certificates(), tmp_path)

    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.ClientConnectorCertificateError):
            await session.get(served.url, ssl=_trusting(make_certificates()))
    await served.aclose()
