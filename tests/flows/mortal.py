"""The production bot, with an end written down for it: `python -m tests.flows.mortal FATES.json`.

It serves as `gpu-migrate serve` does, from the same environment. At the places that the file names it kills itself (SIGKILL)
or stops itself (SIGSTOP), each once, whichever process of the file's comes by first: what was done is on the disk before it
is done, so that a restarted process lives on. Nothing else about the bot is changed.
"""

import asyncio
import fcntl
import json
import os
import signal
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from bot.cli_logging import log_json
from bot.config import SERVE, load_settings
from bot.points import Place, Points
from bot.serve import serve


@dataclass(frozen=True, slots=True)
class Fate:
    """What happens at a place. `subject`: beginning of the order's natural key, or of the step's key."""

    place: Place
    subject: str
    signal: str = "SIGKILL"

    def meets(self, place: Place, subject: str) -> bool:
        return place is self.place and subject.startswith(self.subject)


@dataclass(frozen=True, slots=True)
class Met:
    """A fate that came true, and whom it met."""

    fate: Fate
    replica: str
    pid: int


class Fates:
    """The file, and beside it the list of what came true. Shared by processes, surviving all of them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._list = path.with_suffix(".met")

    def write(self, fates: Iterable[Fate]) -> None:
        """Replaces what was wanted before; what came true stays."""
        fresh = self.path.with_suffix(".new")
        fresh.write_text(json.dumps([asdict(fate) for fate in fates]))
        fresh.replace(self.path)

    def wanted(self) -> tuple[Fate, ...]:
        return tuple(_fate(row) for row in json.loads(self.path.read_text()))

    def met(self) -> tuple[Met, ...]:
        """Oldest first."""
        if not self._list.exists():
            return ()
        return tuple(_met(line) for line in self._list.read_text().splitlines())

    def claim(self, found: Met) -> bool:
        """Note that it comes true now, for good; False when it did before."""
        with self._list.open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if any(before.fate == found.fate for before in self.met()):
                return False
            file.write(json.dumps(asdict(found)) + "\n")
            file.flush()
            os.fsync(file.fileno())
            return True


class Mortal(Points):
    """Meets its fates."""

    def __init__(self, fates: Fates, replica: str) -> None:
        self._fates = fates
        self._replica = replica

    async def reach(self, place: Place, subject: str) -> None:
        for fate in self._fates.wanted():
            if fate.meets(place, subject) and self._fates.claim(Met(fate, self._replica, os.getpid())):
                os.kill(os.getpid(), signal.Signals[fate.signal])


def _fate(row: dict[str, str]) -> Fate:
    return Fate(Place(row["place"]), row["subject"], row["signal"])


def _met(line: str) -> Met:
    row = json.loads(line)
    return Met(_fate(row["fate"]), row["replica"], row["pid"])


def main() -> None:
    """Serve until told to stop, or until a fate is met."""
    settings = load_settings(SERVE)
    log_json(settings.log_level)
    asyncio.run(serve(settings, Mortal(Fates(Path(sys.argv[1])), settings.replica)))


if __name__ == "__main__":
    main()
