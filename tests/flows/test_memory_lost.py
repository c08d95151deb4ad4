"""Redis with everything in it is lost in the middle of a run: a new start finds by looking how far it had come."""

import shutil
from pathlib import Path

import pytest

from tests.flows.crew import Crew
from tests.flows.examples import SPEED, record
from tests.flows.oracle import ORDERS, away_at_once, changes, only, twice
from tests.flows.recording import Record, recorded
from tests.flows.stage import Stage, staged, wait_for

SOON = 60.0


def _lose_everything(stage: Stage) -> None:
    stage.kill_bot()
    stage.kill_valkey()
    shutil.rmtree(stage.folder / "valkey" / "appendonlydir")
    stage.start_valkey()
    stage.start_bot()


def _forgotten(folder: Path) -> Record:
    """Lost while the first worker is away."""
    with staged(folder, "guide-example-2", SPEED) as stage:
        stage.start_bot()
        crew = Crew(stage, "gpu-multi")
        crew.command("start")
        crew.play(lambda: only(changes(stage.journal()), "replaceWorker"))
        first = crew.run()
        _lose_everything(stage)
        said = {"status": crew.command("status"), "start": crew.command("start")}
        wait_for(lambda: crew.run() != first, SOON, "a new run is there", crew.state)
        card = wait_for(lambda: list(crew.open_cards()), SOON, "the new run may begin", crew.state)[0]
        said["card"] = f"{card['blocks']} {[button['text'] for button in card['buttons']]}"
        crew.play()
        return {**record(stage, crew), "first": first, "said": said}


@pytest.fixture(scope="module")
def forgotten(tmp_path_factory: pytest.TempPathFactory) -> Record:
    return recorded(tmp_path_factory, "forgotten", _forgotten)


def test_given_a_lost_memory_when_started_anew_then_the_run_goes_on_to_its_end(forgotten: Record) -> None:
    assert "Nothing is going on" in forgotten["said"]["status"]
    assert forgotten["run"] != forgotten["first"]
    assert forgotten["ended"] == "done"


def test_given_a_lost_memory_when_planned_anew_then_the_card_says_what_was_found(forgotten: Record) -> None:
    card = forgotten["said"]["card"]

    assert "Somebody began this migration before" in card
    assert forgotten["first"] in card
    assert "Continue from here" in card


def test_given_a_lost_memory_when_over_then_nothing_was_done_twice(forgotten: Record) -> None:
    calls = changes(forgotten["journal"])

    assert twice(calls) == {}
    assert [call.verb for call in only(calls, *ORDERS)] == ["updateMaster", "replaceWorker", "replaceWorker"]
    assert away_at_once(forgotten["journal"], "gpu-multi") == 1
