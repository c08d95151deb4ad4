"""How soon runs go on when their bot dies or is told to go: `python bench/resume.py [KILLS]`.

Real processes: a world with several clusters, Valkey with every write on disk, one or two bots at the speed of life.
What counts as resumed is told in tests/flows/resuming.py: a transition stored under a new fence, and a look at the
cluster, whichever comes later. The lines *stored* and *looked* show the two by themselves.

A start is mostly imports, so a bare import of the program is timed in between, and a bare round trip to Redis: on a
busy machine all of them grow together. Nobody waits for a container here; from the kill to the start of the next process
it takes a few milliseconds. Between two kills there is a pause: IKS grants one key 200 requests in ten seconds, and bots
that start more often than in life are told to come back later.
"""

import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent.parent))

import subprocess

from redis import Redis

from tests.flows.resuming import Fleet, Heads, Resumed, many_clusters
from tests.flows.stage import Stage, staged, wait_for

KILLS = int(sys.argv[1]) if len(sys.argv) > 1 else 25
RUNS = 6
CHANGES = max(
    6, KILLS // 10
)  # of the leader, by death; and as many by SIGTERM. Two replicas may share the runs by then
ONE, TWO = "one", "two"
LEASE, RENEWED = 12.0, 3.0  # seconds: how long a dead owner counts as alive, and how old that may be when it dies
READY = 30.0
PAUSE = (2.0, 4.0)  # seconds between two kills, by chance


class Bench:
    """One world; the bots die and come back in it."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.fleet = Fleet(stage, RUNS)
        self.imports: list[float] = []
        self.round_trips: list[float] = []
        self.same: list[Resumed] = []
        self._chance = random.Random(1)

    def same_replica(self) -> None:
        """Kill the only bot, start it again under its name."""
        started = []
        for _ in range(KILLS):
            before, ended = self._settled(ONE), self._killed(ONE)
            self.fleet.click(before)
            began = time.time()
            self.stage.launch_bot(ONE)
            resumed = self.fleet.resumed(before, ended)
            self.same += resumed
            started += [one.seconds - (began - ended) for one in resumed]
        title(f"Same replica after kill -9: {KILLS} kills × {RUNS} runs, seconds")
        spread("resumed, from the kill", [one.seconds for one in self.same], "p99", 5.0)
        spread("resumed, from the process's start", started, "p99", 5.0)
        self._parts(self.same)

    def leader_change(self) -> None:
        """Kill the owner while another replica runs; it comes back as the one that waits."""
        found = []
        for turn in range(CHANGES):
            owner, heir = (ONE, TWO) if turn % 2 == 0 else (TWO, ONE)
            self.stage.start_bot(heir)
            before, ended = self._settled(owner), self._killed(owner)
            self.fleet.click(before)
            found += self.fleet.resumed(before, ended)
            self._owned_by(heir)
        lease = f"a lease of {LEASE:g} s is up to {RENEWED:g} s old"
        title(f"Leader change after kill -9: {CHANGES} kills, seconds ({lease})")
        spread("resumed, from the kill", [one.seconds for one in found], "max", 15.0)
        self._parts(found)

    def handed_over(self) -> None:
        """SIGTERM to the owner while another replica runs."""
        found, exits = [], []
        for turn in range(CHANGES):
            owner = next(iter(self.fleet.owners()))
            heir = TWO if owner == ONE else ONE
            self.stage.start_bot(heir)
            before, told = self._settled(owner), time.time()
            assert self.stage.stop_bot(owner), f"turn {turn}: {owner} had to be killed"
            exits.append(time.time() - told)
            self.fleet.click(before)
            found += self.fleet.resumed(before, told)
            self._owned_by(heir)
        title(f"Hand-over on SIGTERM: {CHANGES} times, seconds")
        spread("exit", exits, "max", 10.0)
        spread("resumed by the heir, from SIGTERM", [one.seconds for one in found])
        self._parts(found)

    def references(self) -> None:
        title("Beside them: what no bot can be quicker than")
        spread('python -c "import bot.serve", s', self.imports)
        spread("round trip to Redis, ms", [1000 * each for each in self.round_trips])
        times = median(one.seconds for one in self.same) / median(self.imports)
        print(f"same replica resumed, in bare imports {times:6.2f} ×", flush=True)

    def _settled(self, replica: str) -> Heads:
        """A moment that nobody chose, when all are ready: its runs. Meanwhile the references are timed."""
        for name, bot in self.stage.bots.items():
            if bot.alive():
                wait_for(lambda name=name: self.stage.ready(name), READY, f"{name} is ready")  # type: ignore[misc]
        self.imports.append(timed(_import))
        with Redis.from_url(self.stage.endpoints.redis) as client:
            client.ping()
            self.round_trips += [timed(client.ping) for _ in range(20)]
        time.sleep(self._chance.uniform(*PAUSE))
        return self.fleet.heads(replica)

    def _killed(self, replica: str) -> float:
        """Unix time of the kill."""
        ended = time.time()
        self.stage.kill_bot(replica)
        return ended

    def _owned_by(self, heir: str) -> None:
        assert self.fleet.owners() == {heir}

    @staticmethod
    def _parts(found: Iterable[Resumed]) -> None:
        found = tuple(found)
        spread("  stored", [one.stored for one in found])
        spread("  looked", [one.looked for one in found])


def _import() -> None:
    """Start Python and import the program, no more."""
    subprocess.run((sys.executable, "-c", "import bot.serve"), cwd=Path(__file__).parent.parent, check=True)


def timed(work: Callable[[], object]) -> float:
    """Seconds."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def title(text: str) -> None:
    print(f"\n{text}\n{'':36} {'p50':>8} {'p90':>8} {'p99':>8} {'max':>8}", flush=True)


def spread(what: str, seconds: Sequence[float], limited: str = "", limit: float = 0.0) -> None:
    """One line: the distribution, and what is wanted of it."""
    ranked = sorted(seconds)
    figures = {"p50": median(ranked), "p90": at(ranked, 0.90), "p99": at(ranked, 0.99), "max": ranked[-1]}
    wanted = "" if not limited else f"wanted {limited} <= {limit:g}{'' if figures[limited] <= limit else '  MISSED'}"
    row = " ".join(f"{value:8.2f}" for value in figures.values())
    print(f"{what:36} {row}   {wanted:22} {len(ranked)} samples", flush=True)


def at(ranked: Sequence[float], share: float) -> float:
    """Nearest rank: the smallest value that so large a share of the samples does not exceed."""
    return ranked[max(0, -int(-share * len(ranked) // 1) - 1)]


def main(folder: Path) -> None:
    with staged(folder, many_clusters(folder, RUNS), 1.0) as stage:
        bench = Bench(stage)
        stage.start_bot(ONE)
        bench.fleet.begin()
        bench.same_replica()
        bench.leader_change()
        bench.handed_over()
        bench.references()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="resume-") as room:
        main(Path(room) / "stage")
