"""What a server says when it will not: named while it lasts, and afterwards the same operation counts once.

Memory, replicas and a frozen server: `test_store_faults`.
"""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import pytest

from state.errors import TransientError
from state.store import RedisStore, open_store
from tests.stored import a_click, begun, change, opened
from tests.valkey import Valkey, running, until

DUMP = "dump"
MUCH_TO_LOAD = "for i = 1, 30000 do redis.call('SET', 'filler:' .. i, i) end"
ENDLESS = "while true do end"


@pytest.fixture(scope="module")
def own_server() -> Iterator[Valkey]:
    with running("--dbfilename", DUMP, tcp=True) as server:
        yield server


@pytest.fixture
def server(own_server: Valkey) -> Iterator[Valkey]:
    """A server that this test may hurt; healed afterwards."""
    own_server.say("FLUSHALL")
    yield own_server
    own_server.say("CONFIG", "SET", "save", "", "maxclients", "1000", "busy-reply-threshold", "5000")


@pytest.fixture
async def store(server: Valkey) -> AsyncIterator[RedisStore]:
    async with opened(server.url) as store:
        yield store


async def _refused(store: RedisStore) -> str:
    """What somebody reads who presses a button now."""
    with pytest.raises(TransientError) as caught:
        await store.runs.submit("run-1", a_click("c1"))
    return str(caught.value.reason)


async def _counts_once(store: RedisStore) -> None:
    """The same button again, and a transition; nothing of the first try was left half done."""
    assert await store.runs.submit("run-1", a_click("c1")) is True
    stored = await store.runs.load("run-1")
    assert stored is not None
    after = await store.runs.apply(change(stored, "after"))

    assert len(await store.runs.inbox("run-1")) == 1
    assert [row["version"] for row in await store.runs.log("run-1")] == list(range(after.version + 1))


async def test_given_snapshots_that_fail_when_written_then_misconf_until_one_succeeds(
    server: Valkey, store: RedisStore
) -> None:
    await begun(store)
    (server.folder / DUMP).mkdir()
    server.say("CONFIG", "SET", "save", "3600 1")
    server.say("BGSAVE")
    until(lambda: "rdb_last_bgsave_status:err" in server.ask("INFO", "persistence"), "no snapshot failed")

    assert await _refused(store) == "store-refused[detail=MISCONF]"
    assert await store.runs.inbox("run-1") == ()

    (server.folder / DUMP).rmdir()
    server.say("BGSAVE")
    until(lambda: "rdb_last_bgsave_status:ok" in server.ask("INFO", "persistence"), "no snapshot succeeded")

    await _counts_once(store)


async def test_given_a_full_disk_when_written_then_it_says_so_and_all_that_was_acked_is_kept() -> None:
    await asyncio.gather(_full_disk_behind(), _full_disk_at_once())


async def _full_disk_behind() -> None:
    """Written once a second: refused until there is room."""
    with running("--appendfsync", "everysec") as server:
        async with opened(server.url) as store:
            await begun(store)
            server.let_files_grow(2000)
            await store.ownership.renew()  # answered before anybody tried to write it

            assert await _refused(store) == "store-refused[detail=MISCONF]"

            server.let_files_grow()
            await _counts_once(store)


async def _full_disk_at_once() -> None:
    """Written before each answer: the server ends."""
    with running() as server:
        async with opened(server.url) as store:
            stored = await begun(store)
            for number in range(5):
                stored = await store.runs.apply(change(stored, f"t{number}"))
            server.let_files_grow(2000)

            assert await _refused(store) == "store-unreachable[detail=ConnectionRefusedError]"

            server.kill()
            server.start()
            assert await store.runs.load("run-1") == stored
            await _counts_once(store)


async def test_given_a_server_that_loads_when_opened_or_written_then_loading_and_afterwards_all_is_there() -> None:
    with running() as server:
        async with opened(server.url) as store:
            await begun(store)
            server.say("EVAL", MUCH_TO_LOAD, "0")
            server.kill()
            server.launch("--key-load-delay", "200")
            opening = asyncio.create_task(open_store(server.url, replica="bot-b"))

            assert await _refused(store) == "store-refused[detail=LOADING]"
            with pytest.raises(TransientError) as caught:
                await opening
            assert str(caught.value.reason) == "store-refused[detail=LOADING]"

            server.kill()
            server.launch()  # as fast as it can now: the store waits for the rest by itself
            await _counts_once(store)


async def test_given_a_long_script_of_somebody_else_when_written_then_busy_until_it_is_gone(
    server: Valkey, store: RedisStore
) -> None:
    await begun(store)
    server.say("CONFIG", "SET", "busy-reply-threshold", "20")
    with _busy(server):
        assert await _refused(store) == "store-refused[detail=BUSY]"

    await _counts_once(store)


async def test_given_a_long_pause_of_the_server_when_written_then_unreachable_and_afterwards_once(
    server: Valkey, store: RedisStore
) -> None:
    await begun(store)
    server.say("CLIENT", "PAUSE", "60000", "WRITE")

    assert await _refused(store) == "store-unreachable[detail=TimeoutError]"

    server.say("CLIENT", "UNPAUSE")
    await _counts_once(store)


async def test_given_no_room_for_another_client_when_written_then_it_says_so_and_comes_back_by_itself(
    server: Valkey, store: RedisStore
) -> None:
    await begun(store)
    with _only_client(server) as line:
        assert await _refused(store) in (
            "store-refused[detail=max number of clients reached]",
            "store-unreachable[detail=ConnectionResetError]",  # the server hung up before its words were read
        )
        line.sendall(b"CONFIG SET maxclients 1000\r\n")
        line.recv(100)

    await _counts_once(store)


async def test_given_a_password_changed_under_us_when_connected_anew_then_rights_until_it_is_right_again() -> None:
    with running() as server:
        rights = ("~{gpu-migrate}:*", "+@all")
        server.say("ACL", "SETUSER", "bot", "on", ">first", *rights)
        async with opened(f"unix://bot:first@{server.socket_path}") as store:
            await begun(store)
            server.say("ACL", "SETUSER", "bot", "resetpass", ">second")
            server.say("CLIENT", "KILL", "TYPE", "normal")

            assert await _refused(store) == "store-refused[detail=rights]"

            server.say("ACL", "SETUSER", "bot", ">first")  # both count: how a password is changed without a gap
            await _counts_once(store)


async def test_given_a_write_torn_off_by_a_power_cut_when_started_again_then_it_was_never_there() -> None:
    with running() as server:
        async with opened(server.url) as store:
            stored = await begun(store)
            stored = await store.runs.apply(change(stored, "t1"))
            (tail,) = (server.folder / "appendonlydir").glob("*.incr.aof")
            before = tail.stat().st_size
            await store.runs.apply(change(stored, "torn"))
            torn = tail.read_bytes()[: before + (tail.stat().st_size - before) // 2]
            store.runs.accept_rewound("run-1")  # nobody had been told of it
            server.kill()
            tail.write_bytes(torn)
            server.start()

            assert await store.runs.load("run-1") == stored
            assert len(await store.runs.log("run-1")) == 2
            assert (await store.runs.apply(change(stored, "torn"))).version == 2
            await _counts_once(store)


@contextmanager
def _busy(server: Valkey) -> Iterator[None]:
    """Somebody's script runs on and on, until the block is over."""
    asking = threading.Thread(target=server.say, args=("EVAL", ENDLESS, "0"))
    asking.start()
    try:
        until(lambda: server.say("PING").startswith("-BUSY"), "it is not busy")
        yield
    finally:
        server.say("SCRIPT", "KILL")
        asking.join()


@contextmanager
def _only_client(server: Valkey) -> Iterator[socket.socket]:
    """A connection that takes the last place; all others are thrown out."""
    with socket.create_connection(("127.0.0.1", server.port)) as line:
        line.settimeout(5)
        line.sendall(b"CLIENT KILL TYPE normal SKIPME yes\r\nCONFIG SET maxclients 1\r\n")
        while not line.recv(100).endswith(b"+OK\r\n"):
            pass
        yield line
