"""Two bots on one Redis, and the owner stands still (SIGSTOP) right before a call, for longer than its lease.

It stops itself before its last look, or right after it (tests/flows/mortal.py). The other one takes over and orders. Then
the first one goes on: it makes no call, owns nothing, stays a replica like any other, and takes over when its turn comes.
"""

from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from bot.points import Place
from tests.flows.crew import Crew
from tests.flows.examples import SPEED, record
from tests.flows.mortal import Fate, Fates
from tests.flows.oracle import ORDERS, away_at_once, changes, twice
from tests.flows.recording import Record, recorded
from tests.flows.stage import Row, Stage, staged, wait_for

pytestmark = pytest.mark.timeout(600)  # real leases run out five times

SOON = 30.0
LEASE = 12.0  # real seconds, of a replica that is dead
OWNED = "gpu_migrate_runs_owned"
REPLICAS = ("one", "two")
STOPS = (  # in the order of the run: where its owner stops, and the call in the world's journal
    (Fate(Place.MARKED, "UpdateMaster(", "SIGSTOP"), "updateMaster"),
    (Fate(Place.BEFORE_CALL, "CreatePool(", "SIGSTOP"), "createWorkerPool"),
    (Fate(Place.MARKED, "ReplaceWorker(", "SIGSTOP"), "replaceWorker"),
)
ROAD = [*(verb for _, verb in STOPS), "removeWorkerPool"]  # the last one is given by the only bot that is left


class Ice:
    """Watches who stops, lets it go on once the other one has ordered, and notes what it did then."""

    def __init__(self, stage: Stage, crew: Crew) -> None:
        self._stage = stage
        self._crew = crew
        self._fates = Fates(stage.folder / "fates.json")
        self.thawed: list[dict[str, Any]] = []
        self.last: dict[str, Any] = {}

    def begin(self) -> None:
        self._fates.write(fate for fate, _ in STOPS)
        for replica in REPLICAS:
            self._stage.start_bot(replica, self._fates.path)

    def has_thawed(self, times: int) -> bool:
        self._look()
        return len(self.thawed) >= times

    def is_over(self) -> bool:
        self._look()
        return bool(self._crew.ended())

    def _look(self) -> None:
        """Thaw whoever is frozen when the call stands in the journal; kill the owner after the last one."""
        frozen = self._fates.met()[len(self.thawed) :]
        if frozen and STOPS[len(self.thawed)][1] in self._ordered():
            self._thaw(frozen[0].replica)
        elif len(self.thawed) == len(STOPS) and not self.last:
            self._leave_one()

    def _ordered(self) -> list[str]:
        return _asked(self._stage.journal())

    def _thaw(self, replica: str) -> None:
        before = self._ordered()
        self._stage.thaw_bot(replica)
        wait_for(lambda: self._owned(replica) == 0, SOON, f"{replica} owns nothing", lambda: self._stage.tail(replica))
        wait_for(lambda: self._stage.ready(replica), SOON, f"{replica} works", lambda: self._stage.tail(replica))
        self.thawed.append(
            {"replica": replica, "before": before, "after": self._ordered(), "owned": self._owned(_other(replica))}
        )

    def _leave_one(self) -> None:
        """Kill -9 for the owner: who was frozen is the only one left. It answers while the dead one's lease lasts, and later
        goes on to the end, or the run never comes there.
        """
        left = self.thawed[-1]["replica"]
        self._stage.kill_bot(_other(left))
        said = wait_for(self._status, LEASE, f"{left} answers", lambda: self._stage.tail(left))
        self.last = {"said": said, "owned": self._owned(left), "asked": self._ordered()}

    def _status(self) -> str:
        """What somebody reads who asks; "" when Slack says that nobody answered (it may not know yet who is dead)."""
        said = self._crew.command("status")
        return said if self._crew.cluster in said else ""

    def _owned(self, replica: str) -> float | None:
        return self._stage.number(replica, OWNED)


def _asked(journal: list[Row]) -> list[str]:
    """All orders that reached IKS, refused ones too: a second one is a second one whatever it met."""
    return [row["verb"] for row in journal if row["verb"] in ORDERS]


def _other(replica: str) -> str:
    return next(name for name in REPLICAS if name != replica)


def _stopped(folder: Path) -> Record:
    with staged(folder, "guide-example-1", SPEED) as stage:
        crew = Crew(stage, "gpu-single")
        ice = Ice(stage, crew)
        ice.begin()
        crew.command("start")

        for times in range(1, len(STOPS) + 1):  # one patience for each
            crew.play(partial(ice.has_thawed, times))
        crew.play(ice.is_over)
        return {**record(stage, crew), "thawed": ice.thawed, "last": ice.last}


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Record:
    return recorded(tmp_path_factory, "stopped", _stopped)


def test_given_owners_that_stood_still_when_others_went_on_then_each_was_seen(stopped: Record) -> None:
    assert len(stopped["thawed"]) == len(STOPS)


def test_given_an_owner_that_stood_still_when_it_goes_on_then_it_makes_no_call_and_owns_nothing(
    stopped: Record,
) -> None:
    for number, thawed in enumerate(stopped["thawed"], 1):
        assert thawed["before"] == thawed["after"] == [verb for _, verb in STOPS[:number]]
        assert thawed["owned"] == 1  # by the other one


def test_given_an_owner_that_stood_still_when_the_other_stops_then_it_owns_the_run_again(stopped: Record) -> None:
    frozen = [thawed["replica"] for thawed in stopped["thawed"]]

    assert all(before != after for before, after in pairwise(frozen))


def test_given_an_owner_that_stood_still_when_the_other_is_killed_then_it_answers_at_once(stopped: Record) -> None:
    assert "Replace worker" in stopped["last"]["said"]
    assert stopped["last"]["owned"] == 0
    assert stopped["last"]["asked"] == ROAD[:-1]


def test_given_an_owner_that_stood_still_when_it_alone_is_left_then_it_goes_on_to_the_end(stopped: Record) -> None:
    assert stopped["ended"] == "done"
    assert _asked(stopped["journal"]) == ROAD


def test_given_owners_that_stood_still_when_over_then_every_change_was_made_once(stopped: Record) -> None:
    assert twice(changes(stopped["journal"])) == {}
    assert away_at_once(stopped["journal"], "gpu-single") == 1


def test_given_owners_that_stood_still_when_over_then_every_message_stands_there_once(stopped: Record) -> None:
    keys = [m["metadata"]["event_payload"]["key"] for m in stopped["messages"]["operator-1"] if m.get("metadata")]

    assert sorted(set(keys)) == sorted(keys)
