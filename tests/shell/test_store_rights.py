"""The user that the handbook describes may do all that the store does, and nothing else."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from state.errors import TransientError
from state.keys import REHEARSAL
from state.store import open_reader, open_store
from state.store.script import script
from tests.store_life import whole_life
from tests.valkey import Valkey, running
from tests.valkey_sentinel import replicated
from tests.valkey_users import introduce

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "state" / "store" / "scripts"
FORBIDDEN = (
    "FLUSHALL", "FLUSHDB", "CONFIG GET requirepass", "CONFIG SET maxmemory 1", "KEYS *", "SCAN 0", "SHUTDOWN", "SAVE",
    "SCRIPT FLUSH", "SCRIPT KILL", "FUNCTION FLUSH", "ACL LIST", "CLIENT KILL TYPE normal", "DEBUG SLEEP 1", "MONITOR",
    "REPLICAOF 127.0.0.1 1", "CLUSTER RESET", "SWAPDB 0 1", "SORT {gpu-migrate}:runs", "RENAME {gpu-migrate}:runs x",
    "GET other", "SET other 1", "DEL other", "PUBLISH other x", "MIGRATE 127.0.0.1 1 {gpu-migrate}:runs 0 1",
)  # fmt: skip


def _rehearsed() -> set[str]:
    steps, _, _ = (SCRIPTS / "rehearsal.lua").read_text(encoding="utf-8").partition("for _, step")
    return {"TIME", *re.findall(r"\{'([A-Z]+)'", steps)}


@pytest.fixture(scope="module")
def server() -> Iterator[Valkey]:
    with running() as server:
        yield server


async def test_given_the_user_of_the_handbook_when_used_then_a_run_lives_its_life(server: Valkey) -> None:
    introduce(server)

    await whole_life(f"unix://bot:p%40ss@{server.socket_path}?db=3")


async def test_given_replicas_when_the_user_of_the_handbook_is_used_then_its_intents_are_held_there() -> None:
    with replicated() as (primary, _):
        introduce(primary)

        await whole_life(f"redis://bot:p%40ss@127.0.0.1:{primary.port}", wait_replicas=1)


@pytest.mark.parametrize("command", FORBIDDEN)
def test_given_the_user_of_the_handbook_when_it_asks_for_more_then_it_may_not(server: Valkey, command: str) -> None:
    introduce(server, cluster=True)

    assert "no permissions" in server.ask("ACL", "DRYRUN", "bot", *command.split())


async def test_given_a_right_less_when_opened_then_it_says_so_at_once_and_nothing_is_half_written(
    server: Valkey,
) -> None:
    for command in sorted(_rehearsed() | {"EVALSHA", "SCRIPT"}):
        server.say("FLUSHALL")
        introduce(server, f"-{command.lower()}")
        with pytest.raises(TransientError) as caught:
            await open_store(f"unix://bot:p%40ss@{server.socket_path}", replica="bot-a")

        assert str(caught.value.reason) == "store-refused[detail=rights]", command
        assert server.say("EXISTS", "{gpu-migrate}:replicas", "{gpu-migrate}:epochs") == ":0"


async def test_given_a_right_less_when_examined_then_it_says_so_before_anybody_starts(server: Valkey) -> None:
    introduce(server, "-xadd")
    reader = await open_reader(f"unix://bot:p%40ss@{server.socket_path}")
    with pytest.raises(TransientError, match="rights"):
        await reader.rehearse()
    introduce(server)
    await reader.rehearse()
    await reader.aclose()

    assert server.say("EXISTS", REHEARSAL) == ":0"


def test_given_a_full_server_when_rehearsed_then_it_is_refused_at_once() -> None:
    with running("--maxmemory", "1") as full:
        assert full.say("EVAL", script("rehearsal").text, "1", REHEARSAL).startswith("-OOM")


def test_given_the_scripts_when_read_then_the_rehearsal_does_all_that_they_do() -> None:
    rehearsed = _rehearsed()
    for path in SCRIPTS.glob("*.lua"):
        assert set(re.findall(r"redis\.call\('([A-Z]+)'", path.read_text(encoding="utf-8"))) <= rehearsed, path.name
