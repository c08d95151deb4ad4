"""The sandbox's Valkey: durable, adopted by a second starter, gone when told."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from sandbox import valkey


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    data = tmp_path / "valkey"
    yield data
    valkey.stop(data)


def _client(url: str) -> redis.Redis:
    return redis.Redis.from_url(url)


def test_given_nothing_when_started_then_it_is_durable_and_never_evicts(folder: Path) -> None:
    running = valkey.start(folder)

    with _client(running.url) as client:
        settings = client.config_get("append*", "maxmemory-policy", "dir")

    assert {key: settings[key] for key in ("appendonly", "appendfsync", "maxmemory-policy", "dir")} == {
        "appendonly": "yes",
        "appendfsync": "always",
        "maxmemory-policy": "noeviction",
        "dir": str(folder),
    }


def test_given_a_running_server_when_started_again_then_it_is_adopted(folder: Path) -> None:
    first = valkey.start(folder)

    second = valkey.start(folder)

    assert second == first


def test_given_a_killed_server_when_started_again_then_nothing_is_lost(folder: Path) -> None:
    first = valkey.start(folder)
    with _client(first.url) as client:
        client.set("run", "alive")

    valkey.kill(folder)
    gone = valkey.find(folder)
    second = valkey.start(folder)
    with _client(second.url) as client:
        kept = client.get("run")

    assert (gone, kept, second.pid == first.pid) == (None, b"alive", False)


def test_given_a_server_when_erased_then_the_next_one_knows_nothing(folder: Path) -> None:
    with _client(valkey.start(folder).url) as client:
        client.set("run", "alive")

    valkey.erase(folder)
    with _client(valkey.start(folder).url) as client:
        kept = client.get("run")

    assert kept is None


def test_given_a_long_path_when_started_then_a_port_is_used(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 30)
    running = valkey.start(folder)
    with _client(running.url) as client:
        answer = client.ping()

    stopped = (valkey.stop(folder), valkey.stop(folder))
    again = valkey.start(folder)
    valkey.stop(folder)

    assert (running.url.startswith("redis://127.0.0.1:"), bool(answer), stopped) == (True, True, (True, False))
    assert again.url == running.url


def test_given_a_broken_folder_when_started_then_the_log_is_told(folder: Path) -> None:
    (folder / "appendonlydir").mkdir(parents=True)
    (folder / "appendonlydir" / "appendonly.aof.manifest").write_text("nonsense\n")

    with pytest.raises(valkey.ValkeyError, match="does not start"):
        valkey.start(folder)
