"""Tokens: one renewal for all who wait, in time, and never a key in what is said."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from bot.adapters.iks.connections import Network
from bot.adapters.iks.iam import Grant, IamTokens, api_key, compute_resource, trusted_profile
from state.errors import PermanentError, TransientError
from state.reasons import Code
from tests.shell.scripted_server import HTML, Reply, Script, scripted

KEY = "very-secret-api-key"
PATH = "/identity/token"


def key() -> str:
    return KEY


def token(name: str, life: int | None = 3600) -> Reply:
    return Reply(body={"access_token": name, "token_type": "Bearer", "expires_in": life})


@asynccontextmanager
async def tokens(
    *replies: Reply, grant: Callable[[], Grant] = lambda: api_key(key)
) -> AsyncIterator[tuple[IamTokens, Script]]:
    async with scripted() as script:
        script.say(PATH, *replies)
        async with Network().session() as session:
            yield IamTokens(session, script.url, grant()), script


async def test_given_many_callers_when_a_token_is_needed_then_iam_is_asked_once() -> None:
    async with tokens(token("t1")) as (source, script):
        got = await asyncio.gather(*(source.token() for _ in range(20)))

    assert set(got) == {"t1"}
    assert len(script.asked) == 1
    assert "grant_type=urn%3Aibm%3Aparams%3Aoauth%3Agrant-type%3Aapikey" in script.asked[0].body


async def test_given_a_refused_token_when_forgotten_twice_then_it_is_renewed_once() -> None:
    async with tokens(token("t1"), token("t2"), token("t3")) as (source, script):
        first = await source.token()
        source.forget(first)
        second = await source.token()
        source.forget(first)
        third = await source.token()

    assert (first, second, third) == ("t1", "t2", "t2")
    assert len(script.asked) == 2


async def test_given_most_of_a_life_is_over_when_renewal_fails_then_the_old_token_still_serves() -> None:
    async with tokens(token("t1", 2), Reply(503)) as (source, script):
        await source.token()
        await asyncio.sleep(1.7)  # past 80 % of two seconds, before their end
        again = await source.token()
        await asyncio.sleep(0.5)
        with pytest.raises(TransientError):
            await source.token()

    assert again == "t1"
    assert len(script.asked) == 3


@pytest.mark.parametrize("life", [None, "soon", -5, {"seconds": 5}], ids=str)
async def test_given_an_odd_life_when_told_then_the_token_is_used_anyway(life: object) -> None:
    async with tokens(Reply(body={"access_token": "t1", "expires_in": life})) as (source, script):
        assert await source.token() == await source.token() == "t1"
        assert len(script.asked) <= 2


@pytest.mark.parametrize("status", [400, 401, 403, 404])
async def test_given_iam_refuses_when_asked_then_it_is_our_login_and_the_key_is_not_shown(status: int) -> None:
    body = {"errorCode": "BXNIM0415E", "errorMessage": f"Provided API key {KEY} could not be found."}
    async with tokens(Reply(status, body)) as (source, _):
        with pytest.raises(PermanentError) as caught:
            await source.token()

    assert caught.value.reason.code is Code.IKS_LOGIN
    assert caught.value.reason.text("code") == "BXNIM0415E"
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(500, {"errorCode": "BXNIM0001E"}),
        HTML,
        Reply(200, "<html>login</html>", "text/html"),
        Reply(200, "[]"),
        Reply(200, {"access_token": ""}),
        Reply(302, headers={"Location": "http://127.0.0.1:1/"}),
        Reply(drop=True),
    ],
    ids=["500", "html", "portal", "list", "empty", "redirect", "dropped"],
)
async def test_given_no_sensible_answer_when_asked_then_it_may_pass(reply: Reply) -> None:
    async with tokens(reply) as (source, _):
        with pytest.raises(TransientError) as caught:
            await source.token()

    assert caught.value.reason.code is Code.IKS_UNREACHABLE


async def test_given_429_when_asked_then_the_wait_is_the_one_told() -> None:
    async with tokens(Reply(429, headers={"Retry-After": "17"})) as (source, _):
        with pytest.raises(TransientError) as caught:
            await source.token()

    assert caught.value.delay == timedelta(seconds=17)


async def test_given_a_trusted_profile_when_logged_in_then_the_keys_token_is_exchanged() -> None:
    def grant() -> Grant:
        return trusted_profile(api_key(key), "Profile-1")

    async with tokens(token("own"), token("profile"), grant=grant) as (source, script):
        got = await source.token()

    assert got == "profile"
    assert "access_token=own" in script.asked[1].body
    assert "profile_id=Profile-1" in script.asked[1].body


async def test_given_a_pod_identity_when_logged_in_then_its_token_is_sent() -> None:
    def grant() -> Grant:
        return compute_resource(lambda: "projected", "Profile-2")

    async with tokens(token("t"), grant=grant) as (source, script):
        await source.token()

    assert "cr_token=projected" in script.asked[0].body


async def test_given_all_callers_gave_up_when_the_renewal_fails_then_nothing_is_left_to_complain() -> None:
    async with tokens(Reply(500, delay=0.1), token("t2")) as (source, _):
        caller = asyncio.create_task(source.token())
        await asyncio.sleep(0.02)
        caller.cancel()
        await asyncio.gather(caller, return_exceptions=True)
        with pytest.raises(TransientError):
            await source.token()

        assert await source.token() == "t2"


async def test_given_the_keys_file_is_gone_when_a_token_is_needed_then_it_is_our_login() -> None:
    def gone() -> str:
        raise FileNotFoundError("/run/secrets/key")

    async with tokens(token("t1"), grant=lambda: api_key(gone)) as (source, script):
        with pytest.raises(PermanentError) as caught:
            await source.token()

    assert caught.value.reason.code is Code.IKS_LOGIN
    assert script.asked == []
