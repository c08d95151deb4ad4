"""Kubeconfigs: what is understood, what is refused, and how long one serves."""

import asyncio
import base64
import json
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.kubeconfigs import Kubeconfig, KubeconfigCache, token_end
from bot.adapters.kubernetes.access import read_access, tls
from state.errors import PermanentError, TransientError
from state.reasons import Code, reason
from tests.shell.bad_servers import DATA

Json = dict[str, Any]
PEM = (DATA / "loopback-a.pem").read_bytes()
PEM_DATA = base64.b64encode(PEM).decode()
NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)


def config(cluster: Json | None = None, user: Json | None = None) -> bytes:
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": {"server": "https://c1.example.com:31234/", **(cluster or {})}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
            "users": [{"name": "u", "user": user if user is not None else {"token": "t-1"}}],
        }
    ).encode()


def test_given_a_token_when_read_then_it_and_the_server_are_known() -> None:
    access = read_access(
        config({"certificate-authority-data": PEM_DATA, "tls-server-name": "n", "proxy-url": "http://p:1"})
    )

    assert (access.server, access.token, access.authority) == ("https://c1.example.com:31234", "t-1", PEM)
    assert (access.server_name, access.proxy) == ("n", "http://p:1")
    assert "t-1" not in repr(access)


def test_given_the_form_of_iks_for_users_when_read_then_the_id_token_is_the_token() -> None:
    user = {"auth-provider": {"name": "oidc", "config": {"id-token": "id-1", "refresh-token": "r"}}}

    assert read_access(config(user=user)).token == "id-1"


def test_given_a_client_certificate_when_read_then_it_can_be_loaded(tmp_path: Path) -> None:
    file = tmp_path / "key.pem"
    file.write_bytes(PEM)
    access = read_access(config(user={"client-certificate-data": PEM_DATA, "client-key": str(file)}))

    assert isinstance(tls(access), ssl.SSLContext)
    assert (access.certificate, access.key) == (PEM, PEM)


@pytest.mark.parametrize("server", ["http://127.0.0.1:8080", "http://localhost:1", "http://[::1]:2"])
def test_given_plain_http_on_loopback_when_read_then_it_is_allowed(server: str) -> None:
    access = read_access(config({"server": server, "insecure-skip-tls-verify": True}))

    assert tls(access) is None


@pytest.mark.parametrize(
    ("raw", "word"),
    [
        (b"\x00\x01", "YAML"),
        (b"- a\n- b\n", "mapping"),
        (b"{}", "contexts"),
        (config({"server": ""}), "server"),
        (config({"server": "ftp://x"}), "server"),
        (config({"server": "https://[bad"}), "server"),
        (config({"server": "https://x:port"}), "server"),
        (b"[" * 5000, "YAML"),
        (config({"server": "http://10.1.2.3:80"}), "loopback"),
        (config({"server": "http://127.0.0.1.example.com"}), "loopback"),
        (config({"insecure-skip-tls-verify": True}), "insecure"),
        (config(user={"exec": {"command": "sh"}}), "exec"),
        (config(user={"token": "a\r\nX-Evil: 1"}), "token"),
        (config({"certificate-authority": "ca.pem"}), "relative"),
        (config({"certificate-authority": "/no/such/file"}), "cannot be read"),
        (config({"certificate-authority-data": "a"}), "base64"),
        (config().replace(b'"current-context": "x"', b'"current-context": "y"'), "contexts"),
    ],
)
def test_given_an_unusable_kubeconfig_when_read_then_what_is_wrong_is_named(raw: bytes, word: str) -> None:
    with pytest.raises(PermanentError) as caught:
        read_access(raw)

    assert caught.value.reason.code is Code.API_UNREACHABLE
    assert word in caught.value.reason.text("detail")
    assert "t-1" not in str(caught.value)


def test_given_a_broken_authority_when_the_context_is_made_then_it_is_refused() -> None:
    access = read_access(config({"certificate-authority-data": base64.b64encode(b"no pem").decode()}))

    with pytest.raises(PermanentError):
        tls(access)


def jwt(**claims: object) -> str:
    def part(value: Json) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    return f"{part({'alg': 'RS256'})}.{part(claims)}.c2ln"


@pytest.mark.parametrize(
    ("token", "end"),
    [
        (jwt(exp=1796130000), datetime.fromtimestamp(1796130000, UTC)),
        (jwt(exp="soon"), None),
        (jwt(sub="x"), None),
        (jwt(exp=10**30), None),
        ("opaque", None),
    ],
)
def test_given_a_token_when_its_end_is_asked_then_it_is_read_or_unknown(token: str, end: datetime | None) -> None:
    assert token_end(config(user={"token": token})) == end


class Source:
    """Gives kubeconfigs of a certain life, numbered; fails while `broken`."""

    def __init__(self, life: timedelta | None = None) -> None:
        self.given = 0
        self.life = life
        self.broken = False
        self.seconds = 0.0

    async def __call__(self) -> Kubeconfig:
        await asyncio.sleep(self.seconds)
        if self.broken:
            raise TransientError(reason(Code.IKS_UNREACHABLE, status=0, detail="away"))
        self.given += 1
        return Kubeconfig(str(self.given).encode(), NOW, None if self.life is None else NOW + self.life)


def later(cache: KubeconfigCache, seconds: float) -> None:
    """Let time pass for this cache."""
    cache._since -= seconds
    cache._tried_at -= seconds


async def test_given_many_callers_when_none_is_there_then_one_fetch_serves_all() -> None:
    source = Source()
    cache = KubeconfigCache(source)
    found = await asyncio.gather(*(cache.current() for _ in range(10)))

    assert {config.raw for config in found} == {b"1"}


async def test_given_a_life_when_four_fifths_are_over_then_it_is_renewed_behind_the_callers_back() -> None:
    cache = KubeconfigCache(Source(timedelta(seconds=100)))
    first = await cache.current()
    later(cache, 79)
    still = await cache.current()
    later(cache, 2)
    served = await cache.current()
    await asyncio.sleep(0.01)
    then = await cache.current()

    assert [config.raw for config in (first, still, served, then)] == [b"1", b"1", b"1", b"2"]


async def test_given_a_source_that_fails_when_the_old_one_lives_then_it_serves_on_until_its_end() -> None:
    source = Source(timedelta(seconds=100))
    cache = KubeconfigCache(source)
    await cache.current()
    source.broken = True
    later(cache, 90)
    await cache.current()
    await asyncio.sleep(0.01)
    still = await cache.current()
    later(cache, 20)

    assert still.raw == b"1"
    with pytest.raises(TransientError):
        await cache.current()


async def test_given_a_doubted_one_when_used_then_another_is_fetched_and_the_old_one_serves_meanwhile() -> None:
    cache = KubeconfigCache(Source())
    await cache.current()
    later(cache, 11)
    cache.doubt()
    served = await cache.current()
    await asyncio.sleep(0.01)

    assert (served.raw, (await cache.current()).raw) == (b"1", b"2")


async def test_given_a_caller_that_gives_up_when_the_source_is_slow_then_the_next_one_finds_the_result() -> None:
    source = Source()
    source.seconds = 0.1
    cache = KubeconfigCache(source)
    for _ in range(3):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(cache.current(), 0.02)

    assert (await cache.current()).raw == b"1"
    assert source.given == 1


async def test_given_a_refused_one_when_many_ask_then_it_is_replaced_once() -> None:
    source = Source(timedelta(seconds=100))
    cache = KubeconfigCache(source)
    refused = await cache.current()
    later(cache, 60)
    found = await asyncio.gather(*(cache.renewed(refused) for _ in range(10)))

    assert {config.raw for config in found} == {b"2"}


async def test_given_one_fetched_just_now_when_refused_then_the_source_is_left_in_peace() -> None:
    cache = KubeconfigCache(Source())
    refused = await cache.current()

    assert await cache.renewed(refused) is refused


async def test_given_it_is_forgotten_when_on_its_way_then_it_is_fetched_again() -> None:
    source = Source()
    source.seconds = 0.02
    cache = KubeconfigCache(source)
    fetching = asyncio.create_task(cache.current())
    await asyncio.sleep(0.01)
    cache.forget()

    assert (await fetching).raw == b"2"


def test_given_a_kubeconfig_when_shown_then_its_content_is_not() -> None:
    assert "secret" not in repr(Kubeconfig(b"secret", NOW))
