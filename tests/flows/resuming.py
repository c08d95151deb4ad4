"""How soon runs go on when their owner has died or was told to go: measured from outside, with real processes.

A run that waits for people stores nothing by itself, so a new owner is given something to store: while the owner is dead,
somebody's click is put into each run's inbox, as any replica would that took it. A run is *resumed* when both have come:

- stored: the first transition under a higher fence stands in the run's log, by the moment Redis gave it;
- looked: the new process has seen the cluster, shown by its first renewal of the mark there, by the world's journal.

The clicks are TurnedAway: recorded, and nothing comes of them. All clocks are this machine's.
"""

import asyncio
import copy
import json
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml
from redis import Redis

from sandbox.scenario import FOLDER
from state import keys
from state.events import Person, TurnedAway
from state.reasons import Code, reason
from state.store import open_reader
from tests.flows.crew import Crew
from tests.flows.oracle import MARK
from tests.flows.stage import Stage, wait_for

SOON = 60.0
WITHIN = 45.0  # real seconds; what takes longer is no figure but a fault


@dataclass(frozen=True, slots=True)
class Head:
    """How a run stands in Redis."""

    version: int
    fence: int


@dataclass(frozen=True, slots=True)
class Heads:
    """How all runs stand; `journal`: how long the world's journal is then."""

    of: dict[str, Head]
    journal: int


@dataclass(frozen=True, slots=True)
class Resumed:
    """One run's way to its new owner, in seconds from the old owner's end."""

    run: str
    stored: float
    looked: float

    @property
    def seconds(self) -> float:
        return max(self.stored, self.looked)


def many_clusters(folder: Path, count: int) -> str:
    """A scenario of so many clusters, each like the guide's second one but for its workloads; answers its path."""
    raw = yaml.safe_load((FOLDER / "guide-example-2.yaml").read_text(encoding="utf-8"))
    path = folder / "many.yaml"
    clusters = [_cluster(raw["clusters"][0], number) for number in range(count)]
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump({"name": str(path), "title": "Many clusters", "clusters": clusters}))
    return str(path)


def _cluster(like: dict[str, Any], number: int) -> dict[str, Any]:
    made = copy.deepcopy(like)
    made |= {"name": f"gpu-{number}", "id": f"d84b2k7f0s3vq9h6m{number:03}", "objects": [], "successors": []}
    pool = made["pools"][0]
    pool["id"] = f"{made['id']}-5c6d7e8"
    for place, worker in enumerate(pool["workers"]):
        worker["id"] = f"kube-{made['id']}-many-default-{place:08x}"
    return made


class Fleet:
    """Runs of many clusters that have begun and are paused: they look, renew their marks, and order nothing."""

    def __init__(self, stage: Stage, count: int) -> None:
        self.stage = stage
        self.crews = [Crew(stage, f"gpu-{number}") for number in range(count)]
        self._runs: dict[str, str] = {}  # cluster → run

    @property
    def runs(self) -> tuple[str, ...]:
        return tuple(self._runs.values())

    def begin(self) -> None:
        """Start all of them and let them come to work; the one bot that runs now owns them."""
        for crew in self.crews:
            crew.command("start")
        for crew in self.crews:
            card = wait_for(lambda crew=crew: list(crew.open_cards()), SOON, "a plan", crew.state)[0]  # type: ignore[misc]
            crew.command("pause")
            crew.answer(card)
            self._runs[crew.cluster] = crew.run()
        wait_for(lambda: len(self._marked()) == len(self._runs), SOON, "every run is at work", self.stage.tail)

    def heads(self, replica: str) -> Heads:
        """How the runs of this replica stand now; call it right before it ends. Replicas share runs among them."""
        with Redis.from_url(self.stage.endpoints.redis, decode_responses=True) as client:
            owned = [run for run in self.runs if _owner(client.hget(keys.OWNERS, run)) == replica]
            found = {run: client.hmget(keys.run(run), ("version", "fence")) for run in owned}
        of = {run: Head(int(version), int(fence)) for run, (version, fence) in found.items()}
        return Heads(of, len(self.stage.journal()))

    def click(self, before: Heads) -> None:
        """Somebody presses a button of each of them, another replica takes it; call it when the owner has ended."""
        asyncio.run(self._click(before.of))

    def resumed(self, before: Heads, ended: float) -> list[Resumed]:
        """Wait until each of them goes on under a new owner. `ended`: Unix time of the old one's end."""
        with Redis.from_url(self.stage.endpoints.redis, decode_responses=True) as client:
            return [self._one(client, run, before, ended) for run in before.of]

    def owners(self) -> set[str]:
        """Names of the replicas that own any of the runs."""
        with Redis.from_url(self.stage.endpoints.redis, decode_responses=True) as client:
            return {_owner(owner) for owner in client.hmget(keys.OWNERS, self.runs) if owner}

    async def _click(self, runs: Iterable[str]) -> None:
        reader = await open_reader(self.stage.endpoints.redis)
        try:
            why = reason(Code.NOT_OPERATOR, user="U0ONLOOKER1")
            for run in runs:
                event = TurnedAway(datetime.now(UTC), uuid.uuid4().hex, Person("U0ONLOOKER1"), "pause", why)
                assert await reader.runs.submit(run, event)
        finally:
            await reader.aclose()

    def _one(self, client: Any, run: str, before: Heads, ended: float) -> Resumed:
        cluster = next(cluster for cluster, its in self._runs.items() if its == run)
        head = before.of[run]
        log = wait_for(lambda: _entries(client, run, head), WITHIN, f"{run} goes on", self.stage.tail)
        looks = wait_for(
            lambda: self._looks(cluster, head.fence, before.journal), WITHIN, f"{run} looks", self.stage.tail
        )
        return Resumed(run, log[0] - ended, looks[0] - ended)

    def _marked(self) -> set[str]:
        """Clusters that carry a mark."""
        return {name for name, _, _ in _marks(self.stage.journal())}

    def _looks(self, cluster: str, fence: int, since: int) -> list[float]:
        """When a later owner renewed the mark of this cluster."""
        return [at for name, later, at in _marks(self.stage.journal()[since:]) if name == cluster and later > fence]


def _owner(entry: str | None) -> str:
    """The name in `<epoch> <name>`."""
    return (entry or "").partition(" ")[2]


def _entries(client: Any, run: str, head: Head) -> list[float]:
    """Unix times of the log's entries under a higher fence, oldest first."""
    found = client.xrange(keys.log(run), min=f"{head.version + 1}-1")
    return [int(fields["at"]) / 1000 for _, fields in found if _fence(fields["entry"]) > head.fence]


def _fence(entry: str) -> int:
    """The op of an entry is `<run>:<fence>:<version>`."""
    return int(json.loads(entry)["op"].split(":")[1])


def _marks(rows: Iterable[dict[str, Any]]) -> list[tuple[str, int, float]]:
    """Cluster, fence and Unix time of each renewal of a mark."""
    found = []
    for row in rows:
        if row["target"] == MARK and row["status"] < 300:
            notes = row["request"]["body"]["metadata"]["annotations"]
            found.append((row["cluster"], int(notes["gpu-migrate/fence"]), row["at"]))
    return found
