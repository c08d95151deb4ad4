"""Kill -9 between the world's yes and its answer, at every call that may not be made twice, with real processes.

Example 1: each order is accepted, its answer held back, and the bot killed meanwhile; the same replica comes back, or
another one takes over. The replacement also shows late, as IBM's lists do.
"""

from pathlib import Path

import pytest

from tests.flows.crew import Crew
from tests.flows.examples import SPEED, record
from tests.flows.oracle import ORDERS, away_at_once, changes, only, twice
from tests.flows.recording import Record, recorded
from tests.flows.stage import Stage, staged

HELD = 8.0  # real seconds for which an answer is held back; the bot is dead long before
LATE = 4  # real seconds until a replacement shows in the lists
ROAD = (  # order, and who goes on after the one who gave it was killed
    ("updateMaster", "one"),
    ("createWorkerPool", "two"),
    ("replaceWorker", "two"),
    ("removeWorkerPool", "three"),
)


class Ambush:
    """Holds back the answer to each order in turn and kills whoever gave it."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._left = list(ROAD)
        self._alive = "one"
        self.killed: list[str] = []

    def begin(self) -> None:
        self._stage.knob("visible_lag", LATE)
        self._stage.start_bot(self._alive)
        self._hold()

    def look(self) -> None:
        """Kill as soon as the order that is waited for stands in the journal."""
        given = {call.verb for call in only(changes(self._stage.journal()), *ORDERS)}
        if self._left and self._left[0][0] in given:
            order, heir = self._left.pop(0)
            self.killed.append(order)
            self._stage.kill_bot(self._alive)
            self._alive = heir
            self._stage.start_bot(heir)
            self._hold()

    def _hold(self) -> None:
        if self._left:
            self._stage.fault(system="iks", path=self._left[0][0], when="after", delay=HELD)


def _ambushed(folder: Path) -> Record:
    with staged(folder, "guide-example-1", SPEED) as stage:
        crew, ambush = Crew(stage, "gpu-single"), Ambush(stage)
        ambush.begin()
        crew.command("start")

        def over() -> bool:
            ambush.look()
            return bool(crew.ended())

        crew.play(over)
        return {**record(stage, crew), "killed": ambush.killed}


@pytest.fixture(scope="module")
def ambushed(tmp_path_factory: pytest.TempPathFactory) -> Record:
    return recorded(tmp_path_factory, "ambushed", _ambushed)


def test_given_answers_that_never_come_when_gone_on_then_the_run_ends_well(ambushed: Record) -> None:
    assert ambushed["killed"] == [order for order, _ in ROAD]
    assert ambushed["ended"] == "done"


def test_given_answers_that_never_come_when_over_then_each_order_was_given_once(ambushed: Record) -> None:
    calls = changes(ambushed["journal"])

    assert [call.verb for call in only(calls, *ORDERS)] == [order for order, _ in ROAD]
    assert twice(calls) == {}
    assert away_at_once(ambushed["journal"], "gpu-single") == 1


def test_given_answers_that_never_come_when_their_effect_shows_then_people_are_told(ambushed: Record) -> None:
    keys = [m["metadata"]["event_payload"]["key"] for m in ambushed["messages"]["operator-1"] if m.get("metadata")]

    assert len([key for key in keys if "note:adopted" in key]) == len(ROAD)
    assert sorted(set(keys)) == sorted(keys)
