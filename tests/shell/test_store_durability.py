"""What a server promises to keep, asked of real ones; replicas hold an intent as soon as there are any."""

from dataclasses import replace

import pytest

from state.errors import TransientError
from state.reasons import Code
from state.store.durability import risks
from tests.stored import an_intent, begun, change, opened
from tests.valkey import running
from tests.valkey_sentinel import replicated


async def test_given_a_server_as_it_should_be_when_asked_then_nothing_is_at_risk() -> None:
    with running() as server:
        async with opened(server.url) as store:
            found = await store.durability()

    assert found.risks == ()
    assert found.replicas == 0
    assert found.version >= "7"


@pytest.mark.parametrize(
    ("options", "codes"),
    [
        (("--appendfsync", "everysec"), [Code.STORE_FORGETS]),
        (("--appendonly", "no"), [Code.STORE_FORGETS]),
        (("--maxmemory-policy", "allkeys-lru", "--appendonly", "no"), [Code.STORE_EVICTS, Code.STORE_FORGETS]),
        (("--maxmemory-policy", "volatile-ttl"), []),
    ],
    ids=["everysec", "no log", "evicts", "evicts what expires anyway"],
)
async def test_given_a_careless_server_when_asked_then_each_risk_is_named(
    options: tuple[str, ...], codes: list[Code]
) -> None:
    with running(*options) as server:
        async with opened(server.url) as store:
            found = await store.durability()

    assert [risk.code for risk in found.risks] == codes


async def test_given_a_user_who_may_not_ask_when_asked_then_nothing_is_blamed() -> None:
    with running() as server:
        server.say("ACL", "SETUSER", "bot", "on", ">pw", "~{gpu-migrate}:*", "+@all", "-info", "-config")
        async with opened(f"unix://bot:pw@{server.socket_path}") as store:
            found = await store.durability()
            stored = await begun(store)
            after = await store.runs.apply(change(stored, "t1", replace(stored.run, intent=an_intent("op-1"))))

    assert (found.version, found.replicas, found.risks) == ("", 0, ())
    assert after.version == 1


def test_given_an_old_server_when_judged_then_its_version_is_named() -> None:
    assert [risk.code for risk in risks({"redis_version": "6.0.16"}, "always")] == [Code.STORE_OLD]
    assert risks({"redis_version": "6.2.0"}, "always") == ()
    assert risks({"redis_version": "255.255.255", "aof_enabled": 1}, "") == ()


async def test_given_a_replica_that_nobody_configured_when_an_intent_is_stored_then_it_has_to_hold_it() -> None:
    with replicated() as (primary, replica):
        async with opened(f"redis://127.0.0.1:{primary.port}") as store:
            stored = await begun(store)
            stored = await store.runs.apply(change(stored, "t1", replace(stored.run, intent=an_intent("op-1"))))
            stored = await store.runs.apply(change(stored, "t2"))
            replica.kill()

            with pytest.raises(TransientError, match="0 of 1 replicas hold the intent"):
                await store.runs.apply(change(stored, "t3", replace(stored.run, intent=an_intent("op-2"))))


async def test_given_no_wish_for_replicas_when_an_intent_is_stored_then_none_has_to_hold_it() -> None:
    with replicated() as (primary, replica):
        async with opened(f"redis://127.0.0.1:{primary.port}", wait_replicas=0) as store:
            stored = await begun(store)
            replica.freeze()
            after = await store.runs.apply(change(stored, "t1", replace(stored.run, intent=an_intent("op-1"))))

            assert after.version == 1
