"""The same journal behind Sentinel, over TLS, and with replicas."""

import ssl
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.certificates import make_certificates
from state.errors import ConfigError, TransientError
from state.reasons import Code
from state.store import open_store
from tests.lossy_proxy import lossy
from tests.store_life import insist, whole_life
from tests.stored import an_intent, begun, change, opened
from tests.valkey import Valkey, running
from tests.valkey_sentinel import guarded, replicated, tell
from tests.valkey_users import introduce


async def test_given_a_port_when_opened_then_a_run_lives_its_life() -> None:
    with running(tcp=True) as server:
        await whole_life(f"redis://127.0.0.1:{server.port}/3")


async def test_given_tls_when_the_authority_is_known_then_a_run_lives_its_life_else_it_is_refused(
    valkey: Valkey, tmp_path: Path
) -> None:
    made = make_certificates()
    (tmp_path / "server.pem").write_text(made.server + made.key)
    (tmp_path / "authority.pem").write_text(made.authority)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tmp_path / "server.pem")
    async with lossy(str(valkey.socket_path), context) as (_, url):
        introduce(valkey)
        ours = url.replace("//", "//bot:p%40ss@")
        store = await open_store(ours, replica="bot-a", ca_bundle=str(tmp_path / "authority.pem"))
        stored = await begun(store)
        assert await store.fleet.listen(0.01) == ()
        await store.aclose()
        valkey.say("ACL", "DELUSER", "bot")

        with pytest.raises(TransientError) as caught:
            await open_store(url, replica="bot-a")

    assert stored.version == 0
    assert str(caught.value.reason) == "store-unreachable[detail=SSLCertVerificationError]"


async def test_given_a_wrong_password_when_opened_then_rights_are_named_and_no_secret() -> None:
    with running() as server:
        server.say("CONFIG", "SET", "requirepass", "right")
        with pytest.raises(TransientError) as caught:
            await open_store(f"unix://:very-wrong@{server.socket_path}", replica="bot-a")

    assert caught.value.reason.code is Code.STORE_REFUSED
    assert "rights" in str(caught.value)
    assert "very-wrong" not in repr(caught.value) + repr(caught.value.__cause__)


async def test_given_an_unreadable_url_when_opened_then_configuration_is_blamed() -> None:
    with pytest.raises(ConfigError):
        await open_store("memory://", replica="bot-a")


async def test_given_a_replica_when_an_intent_is_stored_then_it_is_held_there_before_anything_is_called() -> None:
    with replicated() as (primary, replica):
        async with opened(f"redis://127.0.0.1:{primary.port}", wait_replicas=1) as store:
            stored = await begun(store)
            after = await store.runs.apply(change(stored, "t1", replace(stored.run, intent=an_intent("op-1"))))

            assert after.version == 1
            assert replica.say("HSTRLEN", "{gpu-migrate}:run:run-1", "intent") == ":4"


async def test_given_no_replica_in_reach_when_an_intent_is_stored_then_no_call_may_follow_until_one_is() -> None:
    with replicated() as (primary, replica):
        async with opened(f"redis://127.0.0.1:{primary.port}", wait_replicas=1) as store:
            stored = await begun(store)
            replica.freeze()
            quiet = await store.runs.apply(change(stored, "t1"))
            opening = change(quiet, "t2", replace(quiet.run, intent=an_intent("op-1")))

            with pytest.raises(TransientError, match="0 of 1 replicas hold the intent"):
                await store.runs.apply(opening)
            replica.thaw()
            after = await store.runs.apply(opening)

            assert after.version == 2
            assert len(await store.runs.log("run-1")) == 3


async def test_given_sentinel_when_the_primary_dies_then_the_journal_goes_on_at_the_replica(tmp_path: Path) -> None:
    with ExitStack() as stack:
        primary, replica = stack.enter_context(replicated())
        guard = stack.enter_context(guarded(tmp_path, primary))
        assert tell(guard, "ACL SETUSER watch on >pw +sentinel|masters +ping") == b"+OK\r\n"
        assert tell(guard, "ACL SETUSER default off") == b"+OK\r\n"
        url = f"redis+sentinel://127.0.0.1:{guard}/main/0?sentinel_username=watch&sentinel_password="
        with pytest.raises(TransientError, match="rights"):
            await open_store(url + "wrong", replica="bot-a")
        async with opened(url + "pw", wait_replicas=1) as store:
            stored = await begun(store)
            opening = change(stored, "t1", replace(stored.run, intent=an_intent("op-1")))
            stored = await store.runs.apply(opening)
            primary.kill()

            wanted = change(stored, "t2")
            after = await insist(lambda: store.runs.apply(wanted))

            assert after.version == 2
            assert [row["version"] for row in await store.runs.log("run-1")] == [0, 1, 2]
        assert replica.say("ROLE") == "*3"
