"""Redis is emptied, or put back in time, in the middle of a run while the bot lives: it notices, says so, looks, ends."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from redis import Redis

from sandbox.demo_script import key_of
from sandbox.people import Message
from tests.flows.crew import OPERATOR, Crew
from tests.flows.examples import SPEED, record
from tests.flows.oracle import ORDERS, Call, away_at_once, changes, only, twice
from tests.flows.recording import Record, recorded
from tests.flows.said import refused_by_slack
from tests.flows.stage import Row, Stage, staged, wait_for

SOON = 60.0
FILES = "appendonlydir"
CLUSTER = "gpu-multi"
ONCE_EACH = ["updateMaster", "replaceWorker", "replaceWorker"]


def _seen(stage: Stage, verb: str, part: str = "") -> Callable[[], list[Row]]:
    """Rows of the journal with that verb."""
    return lambda: [row for row in stage.journal() if row["verb"] == verb and part in row["target"]]


def _told(stage: Stage, key: str) -> list[Message]:
    return [message for message in stage.messages() if key_of(message) == key]


class Emptied:
    """FLUSHALL while the first worker is away; the successor comes while nobody keeps the run."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.crew = Crew(stage, CLUSTER)

    def play(self) -> Record:
        self.stage.start_bot()
        self.crew.command("start")
        self.crew.play(_seen(self.stage, "replaceWorker"))
        first, mark = self.crew.run(), self._flush()
        lost = wait_for(lambda: _told(self.stage, f"{first}/lost"), SOON, "the loss is told", self.stage.tail)[0]
        wait_for(_seen(self.stage, "worker.normal", "00000371"), SOON, "the successor comes", self.stage.tail)
        quiet = len(self.stage.journal())
        said = {"lost": lost["text"], "status": self.crew.command("status"), "start": self.crew.command("start")}
        wait_for(lambda: self.crew.run() != first, SOON, "a new run is there", self.crew.state)
        card = wait_for(lambda: list(self.crew.open_cards()), SOON, "the new run may begin", self.crew.state)[0]
        said["card"] = f"{card['blocks']} {[button['text'] for button in card['buttons']]}"
        self.crew.play()
        marks = {"flushed": mark, "started": quiet}
        return {**record(self.stage, self.crew), "first": first, "said": said, "marks": marks}

    def _flush(self) -> int:
        """Empty Redis; answers how long the world's journal was then."""
        with Redis.from_url(self.stage.endpoints.redis) as client:
            client.flushall()
        return len(self.stage.journal())


def _emptied(folder: Path) -> Record:
    with staged(folder, "guide-example-2", SPEED) as stage:
        return Emptied(stage).play()


@pytest.fixture(scope="module")
def emptied(tmp_path_factory: pytest.TempPathFactory) -> Record:
    return recorded(tmp_path_factory, "emptied", _emptied)


def _between(record: Record, first: str, last: str) -> list[Call]:
    rows = record["journal"][record["marks"][first] : record["marks"][last]]
    return changes(rows)


def test_given_an_emptied_store_when_a_run_was_under_way_then_it_is_said_with_what_to_do(emptied: Record) -> None:
    assert emptied["first"] in emptied["said"]["lost"]
    assert "is gone from Redis" in emptied["said"]["lost"]
    assert f"start {CLUSTER}" in emptied["said"]["lost"]
    assert "Nothing is going on" in emptied["said"]["status"]


def test_given_an_emptied_store_when_told_then_no_message_of_the_lost_run_waits_for_anything(emptied: Record) -> None:
    lost = [m for m in emptied["messages"]["operator-1"] if key_of(m).startswith(f"{emptied['first']}/")]
    progress = next(m for m in lost if key_of(m).endswith("/progress"))

    assert "is gone from Redis" in progress["text"]
    assert [m["text"] for m in lost if m["buttons"]] == []


def test_given_an_emptied_store_when_nobody_starts_anew_then_nothing_more_is_changed(emptied: Record) -> None:
    assert _between(emptied, "flushed", "started") == []


def test_given_an_emptied_store_when_planned_anew_then_the_card_says_what_was_found(emptied: Record) -> None:
    card = emptied["said"]["card"]

    assert "Somebody began this migration before" in card
    assert "Continue from here" in card


def test_given_an_emptied_store_when_started_anew_then_it_ends_well_and_nothing_was_done_twice(
    emptied: Record,
) -> None:
    calls = changes(emptied["journal"])

    assert emptied["run"] != emptied["first"]
    assert emptied["ended"] == "done"
    assert twice(calls) == {}
    assert [call.verb for call in only(calls, *ORDERS)] == ONCE_EACH
    assert away_at_once(emptied["journal"], CLUSTER) == 1
    assert refused_by_slack(emptied["journal"]) == {}


class TurnedBack:
    """A backup is made while the first worker's card is open, and put back when its replacement has been ordered."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.crew = Crew(stage, CLUSTER)
        self.backup = stage.folder / "backup"

    def play(self) -> Record:
        self.stage.start_bot()
        self.crew.command("start")
        self.crew.play(_seen(self.stage, "replaceWorker"), before=self._back_up)
        run, mark = self.crew.run(), self._put_back()
        told = wait_for(lambda: self.crew.told("rewound"), SOON, "the way back is told", self.stage.tail)
        wait_for(_seen(self.stage, "worker.normal", "00000371"), SOON, "the successor comes", self.stage.tail)
        marks = {"put back": mark, "resumed": len(self.stage.journal())}
        said = {"rewound": told, "progress": self.crew.progress(), "resume": self.crew.command("resume")}
        self.crew.answered = self.crew.answered[:2]  # what was answered after the backup is asked again
        self.crew.play()
        return {**record(self.stage, self.crew), "first": run, "said": said, "marks": marks}

    def _back_up(self, number: int, _card: Message) -> None:
        """While the third card is open: plan and control plane were answered."""
        if number == 3:
            shutil.copytree(self.stage.folder / "valkey" / FILES, self.backup)

    def _put_back(self) -> int:
        """Older files in the place of the newer ones; answers how long the world's journal was then."""
        self.stage.kill_valkey()
        mark = len(self.stage.journal())
        shutil.rmtree(self.stage.folder / "valkey" / FILES)
        shutil.copytree(self.backup, self.stage.folder / "valkey" / FILES)
        self.stage.start_valkey()
        return mark


def _turned_back(folder: Path) -> Record:
    with staged(folder, "guide-example-2", SPEED) as stage:
        return TurnedBack(stage).play()


@pytest.fixture(scope="module")
def turned_back(tmp_path_factory: pytest.TempPathFactory) -> Record:
    return recorded(tmp_path_factory, "turned-back", _turned_back)


def test_given_an_older_store_when_put_back_then_the_run_pauses_and_says_so(turned_back: Record) -> None:
    assert "went back in time" in turned_back["said"]["rewound"]
    assert turned_back["said"]["progress"].startswith("⏸")


def test_given_an_older_store_when_nobody_resumes_then_nothing_more_is_changed(turned_back: Record) -> None:
    assert _between(turned_back, "put back", "resumed") == []


def test_given_an_older_store_when_resumed_then_the_same_run_ends_well_and_nothing_was_done_twice(
    turned_back: Record,
) -> None:
    calls = changes(turned_back["journal"])

    assert turned_back["run"] == turned_back["first"]
    assert turned_back["ended"] == "done"
    assert twice(calls) == {}
    assert [call.verb for call in only(calls, *ORDERS)] == ONCE_EACH
    assert away_at_once(turned_back["journal"], CLUSTER) == 1
    assert refused_by_slack(turned_back["journal"]) == {}


def test_given_an_older_store_when_over_then_it_was_said_once_and_no_question_stands_open(turned_back: Record) -> None:
    messages = turned_back["messages"][OPERATOR]
    keys = [key_of(message).partition("/")[2] for message in messages]

    assert len([key for key in keys if key.startswith("note:rewound")]) == 1
    assert [message["text"] for message in messages if message["buttons"]] == []
