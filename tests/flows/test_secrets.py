"""Secrets stay where they belong: planted ones are in no argv, log, Redis value, message, number or file left behind."""

import json
import re
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from tests.flows.crew import Crew
from tests.flows.examples import SPEED
from tests.flows.stage import BOT, Stage, staged

PASSWORD = "planted-redis-password-4711"
TOKEN = re.compile(rb"eyJ[\w-]{16,}\.[\w-]+")  # a JSON web token: IAM's, and those of kubeconfigs
AROUND = (
    b"id-token",
    b"refresh-token",
    b"Bearer ",
    b"client-key-data",
)  # beside one in a kubeconfig or header
SAMPLE = 0.01


class Arguments:
    """Command lines of every process that was seen meanwhile; a helm lives for a second only."""

    def __init__(self) -> None:
        self.seen: set[bytes] = set()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    @contextmanager
    def watched(self) -> Iterator[None]:
        self._thread.start()
        try:
            yield
        finally:
            self._stop.set()
            self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(SAMPLE):
            for process in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    self.seen.add(process.read_bytes())
                except OSError:
                    continue  # it has ended


@contextmanager
def guarded(stage: Stage) -> Iterator[Redis]:
    """Give the world's Valkey a password, known to who reads endpoints.json."""
    file = stage.folder / "endpoints.json"
    found = json.loads(file.read_text())
    before = found["redis"]
    store = Redis.from_url(before)
    store.config_set("requirepass", PASSWORD)
    store.auth(PASSWORD)
    file.write_text(json.dumps({**found, "redis": before.replace("://", f"://:{PASSWORD}@", 1)}))
    try:
        yield store
    finally:
        store.config_set("requirepass", "")
        file.write_text(json.dumps(found))
        store.close()


def values(store: Redis) -> Iterator[bytes]:
    """Everything in Redis, as text."""
    read: dict[Any, Callable[[Any], Any]] = {
        b"hash": store.hgetall,
        b"stream": store.xrange,
        b"string": store.get,
        b"set": store.smembers,
        b"zset": lambda key: store.zrange(key, 0, -1),
    }
    for key in store.scan_iter(count=1000):
        yield key + b" " + repr(read[store.type(key)](key)).encode()


def numbers(stage: Stage) -> bytes:
    port = (stage.folder / f"{BOT}.port").read_text()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        content: bytes = answer.read()
    return content


def test_given_planted_secrets_when_a_run_has_called_everything_then_they_are_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left, arguments = tmp_path / "left", Arguments()
    left.mkdir()
    with staged(tmp_path / "world", "guide-example-1", SPEED) as stage, guarded(stage) as store:
        monkeypatch.setenv("TMPDIR", str(left))
        with arguments.watched():
            stage.start_bot()
            crew = Crew(stage, "gpu-single")
            crew.command("start")
            crew.play(lambda: len(crew.answered) >= 2)  # the plan, then the control plane: helm has run
            told = json.dumps([stage.messages(), stage.whispers("operator-1")]).encode()
            found = {"redis": b"\n".join(values(store)), "messages": told, "metrics": numbers(stage)}
            stage.stop_bot()
        planted = [PASSWORD, *stage.endpoints.credentials.values()]
        found["log"] = stage.log().read_bytes()
    found["argv"] = b"\n".join(arguments.seen)
    found["files"] = b"\n".join(file.read_bytes() for file in left.rglob("*") if file.is_file())

    assert b"helm" in found["argv"]
    assert all(found[place] for place in ("redis", "messages", "metrics", "log"))
    assert len(planted) >= 4
    for place, content in found.items():
        assert [secret for secret in planted if secret.encode() in content] == [], place
        assert TOKEN.findall(content) == [], place
        assert [mark for mark in AROUND if mark in content] == [], place
