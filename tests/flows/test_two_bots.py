"""Two bots that do not know of each other work on one cluster: each has its own Redis and its own Slack.

The second one is held off while the first works, and may go on when nobody has renewed the first one's mark for a while.
The first one was not dead, only frozen: when it is back it finds the other's mark, stops, says so, and touches nothing.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sandbox.endpoints import Endpoints, read
from tests.flows.crew import Crew
from tests.flows.examples import SPEED, record
from tests.flows.oracle import MARK, ORDERS, away_at_once, changes, only, twice
from tests.flows.recording import Record, recorded
from tests.flows.said import refused_by_slack
from tests.flows.stage import Row, Stage, staged, wait_for

SOON = 60.0
CLUSTER = "gpu-multi"
HERE, THERE = "here", "there"


class Elsewhere(Stage):
    """Another installation: Redis and Slack are its own, IBM Cloud and the clusters are the first one's."""

    def __init__(self, folder: Path, first: Stage) -> None:
        super().__init__(folder)
        self._first = first

    @property
    def endpoints(self) -> Endpoints:
        own, first = read(self.folder), self._first.endpoints
        keys = {**own.credentials, "iam_api_key": first.credentials["iam_api_key"]}
        return replace(first, redis=own.redis, credentials=keys, slack_api=own.slack_api, slack_page=own.slack_page)


@contextmanager
def _two(folder: Path) -> Iterator[tuple[Stage, Stage]]:
    """The second world lends only its Slack and its Valkey."""
    with (
        staged(folder / "first", "guide-example-2", SPEED) as first,
        staged(folder / "second", "guide-example-2", SPEED) as lent,
    ):
        second = Elsewhere(lent.folder, first)
        lent.bots = second.bots
        yield first, second


class Rivals:
    """The first bot freezes while its first worker is away; the second goes on and is seen by it at the last worker."""

    def __init__(self, first: Stage, second: Stage) -> None:
        self.first, self.second = first, second
        self.crew, self.other = Crew(first, CLUSTER), Crew(second, CLUSTER)
        self.said: dict[str, str] = {}
        self.marks: dict[str, int] = {}

    def play(self) -> Record:
        self.first.start_bot(HERE)
        self.crew.command("start")
        self.crew.play(_seen(self.first, "replaceWorker"))
        self._held_off()
        self._goes_on()
        self.other.play(lambda: len(_seen(self.first, "replaceWorker")()) == 2)
        self._is_back()
        self.other.play()
        end = {"first": self.crew.state(), "first run": self.crew.run()}
        heard = {"refused": refused_by_slack(self.second.journal()), "said": {**self.said, **end}}
        return {**record(self.second, self.other), **heard, "marks": self.marks}

    def _mark(self, name: str) -> None:
        self.marks[name] = len(self.first.journal())

    def _held_off(self) -> None:
        self.second.start_bot(THERE)
        self.other.command("start")
        run = self.crew.run()
        wait_for(lambda: run in self._shown(), SOON, "the second bot names the first one's run", self._shown)
        self.said["blocked"] = self._shown()
        self.said["questions"] = " ".join(str(card["buttons"]) for card in self.other.open_cards())
        self._mark("blocked")

    def _shown(self) -> str:
        """All that the second bot's run says."""
        return "\n".join(f"{message['text']}\n{message['blocks']}" for message in self.other.messages())

    def _goes_on(self) -> None:
        self.first.freeze_bot(HERE)
        card = wait_for(lambda: list(self.other.open_cards()), SOON, "the second may begin", self.other.state)[0]
        self.said["card"] = f"{card['blocks']} {[button['text'] for button in card['buttons']]}"

    def _is_back(self) -> None:
        self._mark("back")
        self.first.thaw_bot(HERE)
        wait_for(lambda: self.crew.told("displaced"), SOON, "the first one finds the other's mark", self.crew.state)
        self.said["displaced"] = self.crew.told("displaced")


def _seen(stage: Stage, verb: str) -> Callable[[], list[Row]]:
    """Rows of the journal with that verb."""
    return lambda: [row for row in stage.journal() if row["verb"] == verb]


def _rivals(folder: Path) -> Record:
    with _two(folder) as stages:
        return Rivals(*stages).play()


@pytest.fixture(scope="module")
def rivals(tmp_path_factory: pytest.TempPathFactory) -> Record:
    return recorded(tmp_path_factory, "rivals", _rivals)


def _holders(rows: list[dict[str, Any]]) -> list[str]:
    """Which bots renewed the mark, in turns."""
    found = [str(row["request"]["body"]["spec"]["holderIdentity"]).partition(".")[0] for row in rows if _renewal(row)]
    return [name for place, name in enumerate(found) if place == 0 or found[place - 1] != name]


def _renewal(row: dict[str, Any]) -> bool:
    return bool(row["target"] == MARK and row["status"] < 300 and (row["request"].get("body") or {}).get("spec"))


def test_given_a_bot_at_work_when_another_one_starts_then_it_names_the_run_and_offers_nothing(rivals: Record) -> None:
    assert rivals["said"]["first run"] in rivals["said"]["blocked"]
    assert "Two bots must not work on one cluster" in rivals["said"]["blocked"]
    assert rivals["said"]["questions"] == ""


def test_given_a_bot_that_is_silent_when_its_mark_is_old_then_the_other_offers_to_go_on(rivals: Record) -> None:
    card = rivals["said"]["card"]

    assert "Somebody began this migration before" in card
    assert rivals["said"]["first run"] in card
    assert "Continue from here" in card


def test_given_two_bots_when_one_went_on_then_it_ends_well_and_nothing_was_done_twice(rivals: Record) -> None:
    calls = changes(rivals["journal"])

    assert rivals["ended"] == "done"
    assert twice(calls) == {}
    assert [call.verb for call in only(calls, *ORDERS)] == ["updateMaster", "replaceWorker", "replaceWorker"]
    assert away_at_once(rivals["journal"], CLUSTER) == 1
    assert rivals["refused"] == refused_by_slack(rivals["journal"]) == {}


def test_given_a_bot_that_is_back_when_another_works_then_it_stops_and_says_whose_mark_is_there(
    rivals: Record,
) -> None:
    assert rivals["run"] in rivals["said"]["displaced"]
    assert _holders(rivals["journal"]) == [HERE, THERE]
    assert "the mark of another run" in rivals["said"]["first"].partition("\n")[0]
