"""A pretend world, its Valkey and one or more bots as processes of their own, driven from outside as people do.

What happened is read from the world's journal and from the pretend Slack's page; the bot's log is shown when a test fails
and decides nothing. Every wait has a deadline and says what it saw last.
"""

import json
import signal
import socket
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import yaml

from sandbox import bot_process, processes, stage, valkey
from sandbox.endpoints import Endpoints, read
from sandbox.http_client import NoAnswer, call
from sandbox.people import Message, Person
from sandbox.scenario import load

T = TypeVar("T")
Row = dict[str, Any]

POLL = 0.1
BOT = "sandbox"  # name of the one replica most tests have
STARTED_WITHIN = 60.0


def wait_for(condition: Callable[[], T], within: float, what: str, state: Callable[[], object] = str) -> T:
    """The first true answer of `condition`. Fails after `within` real seconds with what `state` says then."""
    deadline = time.monotonic() + within
    while not (answer := condition()):
        assert time.monotonic() < deadline, f"{what}: not within {within:g} s; last seen:\n{state()}"
        time.sleep(POLL)
    return answer


class Stage:
    """Everything of one test under one folder; open it with `staged`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bots: dict[str, processes.Process] = {}
        self._known: list[Row] = []

    @property
    def endpoints(self) -> Endpoints:
        return read(self.folder)

    # bots

    def start_bot(self, replica: str = BOT, fates: Path | None = None, **defaults: Any) -> None:
        """Start a bot and wait until it is ready. `defaults`: settings of all clusters that differ from the sandbox's.

        `fates`: where it is written at which places of a call it kills or stops itself (tests/flows/mortal.py).
        """
        self.launch_bot(replica, fates, **defaults)
        wait_for(lambda: self.ready(replica), STARTED_WITHIN, f"bot {replica} is ready", lambda: self.tail(replica))

    def launch_bot(self, replica: str = BOT, fates: Path | None = None, **defaults: Any) -> None:
        """Start a bot that may be dead again before it is ready."""
        world = self.endpoints
        port = self._port(replica)
        chosen = bot_process.settings(load(world.scenario, world.speed), world, port)
        chosen["replica"] = replica
        chosen["defaults"] |= defaults
        config = self.folder / f"{replica}.yaml"
        config.write_text(yaml.safe_dump(chosen), encoding="utf-8")
        program = ("bot.cli", "serve") if fates is None else ("tests.flows.mortal", str(fates))
        argv = (sys.executable, "-m", *program)
        environment = {**bot_process.PACKAGES, **bot_process.environment(config, world)}
        self.bots[replica] = processes.spawn(argv, self.log(replica), environment)

    def ready(self, replica: str = BOT) -> bool:
        """Whether the bot says that it works. Fails when its process has ended."""
        assert self.bots[replica].alive(), f"bot {replica} has ended:\n{self.tail(replica)}"
        return bool(self._read(replica, "readyz"))

    def number(self, replica: str, name: str) -> float | None:
        """A number of /metrics without labels; None while the bot does not answer."""
        lines = self._read(replica, "metrics").splitlines()
        return next((float(line.split()[1]) for line in lines if line.startswith(f"{name} ")), None)

    def _read(self, replica: str, path: str) -> str:
        """What stands there; "" when the bot does not answer, or not well."""
        try:
            with _opener().open(f"http://127.0.0.1:{self._port(replica)}/{path}", timeout=2.0) as answer:
                text: str = answer.read().decode()
                return text
        except (urllib.error.URLError, OSError):
            return ""

    def kill_bot(self, replica: str = BOT) -> None:
        """As a crash would: SIGKILL, no goodbye."""
        self.bots[replica].kill()

    def stop_bot(self, replica: str = BOT) -> bool:
        """SIGTERM; False when it had to be killed after 10 s."""
        return self.bots[replica].stop()

    def freeze_bot(self, replica: str = BOT) -> None:
        self.bots[replica].send(signal.SIGSTOP)

    def thaw_bot(self, replica: str = BOT) -> None:
        self.bots[replica].send(signal.SIGCONT)

    def log(self, replica: str = BOT) -> Path:
        return self.folder / f"{replica}.log"

    def tail(self, replica: str = BOT) -> str:
        return self.log(replica).read_text(errors="replace")[-3000:] if self.log(replica).exists() else "no log"

    def _port(self, replica: str) -> int:
        """Picked once for each replica, so that a restarted bot is found where it was."""
        kept = self.folder / f"{replica}.port"
        if not kept.exists():
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                kept.write_text(str(probe.getsockname()[1]))
        return int(kept.read_text())

    # the journal of the bot

    def kill_valkey(self) -> None:
        valkey.kill(self.folder / "valkey")

    def start_valkey(self) -> None:
        """On the same directory and address as before."""
        valkey.start(self.folder / "valkey")

    @contextmanager
    def frozen_valkey(self) -> Iterator[None]:
        """It takes connections and answers nothing."""
        running = valkey.find(self.folder / "valkey")
        assert running is not None
        server = processes.find(running.pid)
        server.send(signal.SIGSTOP)
        try:
            yield
        finally:
            server.send(signal.SIGCONT)

    # the world

    def journal(self) -> list[Row]:
        """Every call the world took, oldest first."""
        self._known += call("GET", self.endpoints.journal, query={"since": len(self._known)})
        return list(self._known)

    def fault(self, **rule: Any) -> None:
        """Let a server misbehave (sandbox/faults.py)."""
        call("POST", self.endpoints.faults, rule)

    def faults(self) -> list[Row]:
        rows: list[Row] = call("GET", self.endpoints.faults)
        return rows

    def heal(self) -> None:
        call("DELETE", self.endpoints.faults)

    def knob(self, name: str, value: Any) -> None:
        call("POST", f"{self.endpoints.control}/knobs", {"name": name, "value": value})

    def act(self, name: str, **body: Any) -> None:
        """Somebody else does something at once (sandbox/control.py)."""
        call("POST", f"{self.endpoints.control}/acts/{name}", body)

    def afflict(self, cluster: str, kind: str, **where: Any) -> None:
        """Put a misfortune on nodes, pods or images (sandbox/controllers/afflictions.py)."""
        call("POST", f"{self.endpoints.control}/afflictions", {"cluster": cluster, "kind": kind, **where})

    def cure(self, cluster: str) -> None:
        """Take all misfortunes of a cluster away."""
        call("DELETE", f"{self.endpoints.control}/afflictions", query={"cluster": cluster})

    def switch(self, name: str, value: Any) -> None:
        """Turn one of the pretend Slack's switches (sandbox/slack/page.py)."""
        call("POST", f"{self.endpoints.slack_page}page/switch", {"name": name, "value": value})

    # people

    def person(self, name: str) -> Person:
        return Person(self.endpoints.slack_page, name)

    def say(self, name: str, text: str) -> str:
        """Type a command as somebody; what they alone read at once (what Slack tells them when the bot is away)."""
        try:
            answer = self.person(name).type(text)
        except NoAnswer as slack:
            return str(slack)
        ack = answer.get("ack") or {}
        return str(ack.get("text", "")) + "\n" + json.dumps(ack.get("blocks", []), ensure_ascii=False)

    def whispers(self, name: str) -> list[str]:
        """What only this person read so far."""
        return [message["text"] for message in self.person(name).messages() if message["ephemeral"]]

    def messages(self, name: str = "operator-1") -> list[Message]:
        return self.person(name).messages()

    def close(self) -> None:
        for bot in self.bots.values():
            bot.send(signal.SIGCONT)
            bot.kill()
        stage.down(self.folder)


@contextmanager
def staged(folder: Path, scenario: str, speed: float, *, real: bool = False) -> Iterator[Stage]:
    """Open a stage with a world and its Valkey, no bot yet; whatever happens, all processes are gone afterwards.

    `real`: the clusters run on a real control plane.
    """
    made = Stage(folder)
    try:
        stage.up(folder, scenario, speed, bot=False, real=real)
        yield made
    except AssertionError as failed:
        for replica in made.bots:
            failed.add_note(f"log of {replica}:\n{made.tail(replica)}")
        raise
    finally:
        made.close()


def _opener() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(urllib.request.ProxyHandler({}))  # loopback never goes through a proxy
