"""Kill -9 at any moment: the run goes on where it was, and nothing is ordered twice."""

import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.flows.crew import Crew
from tests.flows.examples import SPEED, record
from tests.flows.oracle import MARK, away_at_once, changes, stem, twice
from tests.flows.recording import Record, recorded
from tests.flows.stage import Row, Stage, staged

Moment = Callable[[Row], bool]
CLOSELY = 0.2


def _call(verb: str, part: str = "") -> Moment:
    """Right after the bot's (or the world's own) call of that verb."""
    return lambda row: row["verb"] == verb and part in row["target"] and row["target"] != MARK and row["status"] < 300


def _card(number: int) -> Moment:
    """While the card of that number is open."""
    return lambda row: (
        row["verb"] == "chat.postMessage" and f':{number}"' in json.dumps(row["request"]["args"]["metadata"])
    )


MOMENTS: tuple[tuple[str, Moment], ...] = (
    ("plan card open", _card(1)),
    ("first node labelled", _call("patch nodes", "10.240.0.64")),
    ("helm at work", _call("patch namespaces", "gpu-operator")),
    ("release complete", _call("update secrets")),
    ("control plane ordered", _call("updateMaster")),
    ("control plane updated", _call("master.updated")),
    ("worker card open", _card(3)),
    ("first pod evicted", _call("evict pods", "gpu-burn")),
    ("first worker ordered", _call("replaceWorker", "000001e4")),
    ("first successor deploys", _call("worker.normal", "00000371")),
    ("second worker ordered", _call("replaceWorker", "0000024b")),
    ("second successor normal", _call("worker.normal", "0000048c")),
)


class Killer:
    """Kills the bot at each of the moments, in order, and starts it again."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._left = list(MOMENTS)
        self._seen = 0
        self.killed: list[str] = []

    def look(self) -> None:
        """Watch the journal closely for a moment; kill when the next moment has come since the last one."""
        deadline = time.monotonic() + CLOSELY
        while self._left and time.monotonic() < deadline:
            if self._came():
                self.killed.append(self._left.pop(0)[0])
                self._stage.kill_bot()
                self._stage.start_bot()
                return
            time.sleep(CLOSELY / 10)

    def _came(self) -> bool:
        fresh = self._stage.journal()[self._seen :]
        found = next((number for number, row in enumerate(fresh) if self._left[0][1](row)), None)
        self._seen += len(fresh) if found is None else found + 1
        return found is not None


def _killed_twelve_times(folder: Path) -> Record:
    with staged(folder, "guide-example-2", SPEED) as stage:
        stage.start_bot()
        crew, killer = Crew(stage, "gpu-multi"), Killer(stage)
        crew.command("start")

        def over() -> bool:
            killer.look()
            return bool(crew.ended())

        crew.play(over)
        return {**record(stage, crew), "killed": killer.killed}


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Record:
    return recorded(tmp_path_factory, "killed", _killed_twelve_times)


def test_given_twelve_kills_when_restarted_each_time_then_the_run_ends_well(killed: Record) -> None:
    assert killed["killed"] == [name for name, _ in MOMENTS]
    assert killed["ended"] == "done"


def test_given_twelve_kills_when_over_then_the_changes_are_those_of_an_undisturbed_run(
    killed: Record, example_2: Record
) -> None:
    disturbed, quiet = (
        Counter((call.verb, stem(call.target)) for call in changes(record["journal"])) for record in (killed, example_2)
    )

    assert disturbed == quiet


def test_given_twelve_kills_when_over_then_no_change_was_made_twice(killed: Record) -> None:
    assert twice(changes(killed["journal"])) == {}
    assert away_at_once(killed["journal"], "gpu-multi") == 1


def test_given_twelve_kills_when_over_then_every_message_stands_there_once(killed: Record) -> None:
    found = [m["metadata"]["event_payload"]["key"] for m in killed["messages"]["operator-1"] if m.get("metadata")]

    assert {key: times for key, times in Counter(found).items() if times > 1} == {}
    assert [m["text"] for m in killed["messages"]["operator-1"] if m["buttons"]] == []
