"""Processes that outlive whoever started them: the world, the bot, Valkey.

A process is known by its pid and the moment of its birth, so that nobody ever ends a stranger that was given the same
pid later. What the programs are is no business of this module.
"""

import contextlib
import json
import os
import signal
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

POLL = 0.01


@dataclass(frozen=True, slots=True)
class Process:
    """One process. `born`: kernel ticks since boot, "" where /proc does not tell."""

    pid: int
    born: str = ""

    def alive(self) -> bool:
        """Whether it still runs; a dead child of ours is taken off the list."""
        with contextlib.suppress(ChildProcessError):
            if os.waitpid(self.pid, os.WNOHANG)[0] == self.pid:
                return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return False
        return _born(self.pid) == self.born

    def stop(self, patience: float = 10.0) -> bool:
        """Ask it to end (SIGTERM), kill it after `patience` seconds; False when it had to be killed."""
        self.send(signal.SIGTERM)
        if self.ends(patience):
            return True
        self.kill()
        return False

    def kill(self) -> None:
        """End it as a crash would (SIGKILL)."""
        self.send(signal.SIGKILL)
        self.ends(5.0)

    def send(self, number: signal.Signals) -> None:
        if self.alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def ends(self, patience: float) -> bool:
        """Wait until it is gone; False when `patience` seconds were not enough."""
        deadline = time.monotonic() + patience
        while self.alive():
            if time.monotonic() > deadline:
                return False
            time.sleep(POLL)
        return True


def spawn(argv: tuple[str, ...], log: Path, extra: Mapping[str, str] | None = None) -> Process:
    """Start a program in a process group of its own; what it prints goes to the end of `log`.

    Raises OSError when the program cannot be started.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    actions = (
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(log), flags, 0o600),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    )
    environment = {**os.environ, **(extra or {})}
    pid = os.posix_spawn(argv[0], argv, environment, file_actions=actions, setpgroup=0)
    return Process(pid, _born(pid))


def this_process() -> Process:
    return Process(os.getpid(), _born(os.getpid()))


def find(pid: int) -> Process:
    """Take up a process that runs now."""
    return Process(pid, _born(pid))


def save(process: Process, path: Path) -> None:
    """Remember a process for a later command."""
    path.write_text(json.dumps(asdict(process)), encoding="utf-8")


def saved(path: Path) -> Process | None:
    """Find the process that was remembered, if it still runs."""
    try:
        process = Process(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return process if process.alive() else None


def end_below(folder: Path, patience: float = 10.0) -> None:
    """End every process that was saved as *.pid in `folder` or below, all at once; harmless where none runs.

    `patience`: seconds that they get together before they are killed.
    """
    found = [process for path in sorted(folder.rglob("*.pid")) if (process := saved(path))]
    deadline = time.monotonic() + patience
    for process in found:
        process.send(signal.SIGTERM)
    for process in found:
        if not process.ends(max(0.0, deadline - time.monotonic())):
            process.kill()


def _born(pid: int) -> str:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    state, *fields = text.rpartition(")")[2].split()
    return "" if state == "Z" else fields[18]
