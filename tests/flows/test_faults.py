"""Other people's servers fail: what people read meanwhile, and that the run goes on with each change made once."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.flows.crew import OPERATOR, Crew
from tests.flows.examples import SPEED, record
from tests.flows.oracle import ORDERS, away_at_once, changes, only, twice
from tests.flows.recording import Record, recorded
from tests.flows.said import refused_by_slack, sent
from tests.flows.stage import Row, Stage, staged, wait_for

SOON = 60.0
AWAY = 30.0  # real seconds for which Redis is away
HTML = "<html><head><title>502 Bad Gateway</title></head><body>cloudflare</body></html>"
ODD_404 = (
    '{"incidentID":"0b9","code":"E0b27","description":"The specified object could not be found.","type":"General"}'
)
BROKEN_500 = '{"incidentID":"4f1","code":"E1000","description":"The service could not process it.","type":"General"}'

READS = (
    (
        "500",
        {"status": 500, "body": BROKEN_500},
        "(status 500): E1000 The service could not process it. (incident 4f1)",
    ),
    ("404", {"status": 404, "body": ODD_404}, "with status 404, E0b27: The specified object could not be found."),
    ("429", {"status": 429, "headers": {"Retry-After": "1"}}, "IKS cannot do it right now (status 429)"),
    (
        "HTML",
        {"status": 502, "body": HTML, "headers": {"Content-Type": "text/html"}},
        "a web page instead of an answer",
    ),
)


def _seen(stage: Stage, verb: str, part: str = "") -> Callable[[], list[Row]]:
    """Rows of the journal with that verb."""
    return lambda: [row for row in stage.journal() if row["verb"] == verb and part in row["target"]]


class Misfortune:
    """Example 2 with everything going wrong that IBM Cloud, Slack and a network can do."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.crew = Crew(stage, "gpu-multi")
        self.read: dict[str, str] = {}

    def play(self) -> Record:
        self.stage.start_bot()
        self.crew.command("start")
        self.crew.play(_seen(self.stage, "update secrets"))
        for name, fault, sentence in READS:
            self._unreadable(name, fault, sentence)
        self.crew.play(_seen(self.stage, "master.updated"))
        self.stage.fault(system="iks", path="replaceWorker", when="after", status=502, body=HTML)
        self.crew.play(lambda: self.crew.told("adopted"))
        self.read["adopted"] = self.crew.told("adopted")
        self.stage.fault(system="slack", path="chat", status=429, headers={"Retry-After": "3"}, times=4)
        self.crew.play(_seen(self.stage, "worker.normal", "00000371"))
        self.stage.knob("visible_lag", 4)
        self.stage.fault(system="iks", path="replaceWorker", when="after", drop=True)
        self.crew.play()
        return {**record(self.stage, self.crew), "read": self.read, "left": self.stage.faults()}

    def _unreadable(self, name: str, fault: dict[str, Any], sentence: str) -> None:
        """IKS answers every read so until people have been told."""
        self.stage.fault(system="iks", method="GET", times=-1, **fault)
        wait_for(lambda: sentence in self._living(), SOON, f"people read of {name}", self._living)
        self.read[name] = self._living()
        self.stage.heal()

    def _living(self) -> str:
        """The living message with its blocks, without marks for code."""
        root = self.crew.messages()[0]
        return f"{root['text']}\n{root['blocks']}".replace("`", "")


def _misfortune(folder: Path) -> Record:
    with staged(folder, "guide-example-2", SPEED) as stage:
        return Misfortune(stage).play()


@pytest.fixture(scope="module")
def misfortune(tmp_path_factory: pytest.TempPathFactory) -> Record:
    return recorded(tmp_path_factory, "misfortune", _misfortune)


def test_given_misfortune_when_it_passes_then_the_run_ends_well(misfortune: Record) -> None:
    assert misfortune["ended"] == "done"
    assert misfortune["left"] == []
    assert refused_by_slack(misfortune["journal"]) == {}


def test_given_misfortune_when_over_then_each_change_was_made_once(misfortune: Record) -> None:
    calls = changes(misfortune["journal"])

    assert twice(calls) == {}
    assert [call.verb for call in only(calls, *ORDERS)] == ["updateMaster", "replaceWorker", "replaceWorker"]
    assert away_at_once(misfortune["journal"], "gpu-multi") == 1


@pytest.mark.parametrize("name", [name for name, _, _ in READS])
def test_given_iks_that_cannot_be_read_when_the_run_looks_then_people_read_why(misfortune: Record, name: str) -> None:
    assert "html" not in misfortune["read"][name].lower()
    assert "Migration done" not in misfortune["read"][name]


def test_given_an_order_whose_answer_is_lost_when_its_effect_shows_then_it_is_taken_for_given(
    misfortune: Record,
) -> None:
    adopted = [key for key in _keys(misfortune) if "note:adopted" in key]

    assert len(adopted) == 2
    assert "answer was lost" in misfortune["read"]["adopted"]


def test_given_slack_that_is_busy_when_it_answers_again_then_nothing_was_lost_or_doubled(misfortune: Record) -> None:
    keys = _keys(misfortune)

    assert sorted(set(keys)) == sorted(keys)
    assert {"node-ready", "gpus", "recovered"} <= {key.split("note:")[-1].split(":")[0] for key in keys}


def test_given_slack_that_asks_for_patience_when_it_is_over_then_news_come_soon(misfortune: Record) -> None:
    """Four times three seconds: nobody waits a minute for it."""
    journal = misfortune["journal"]
    normal = next(row["at"] for row in journal if row["verb"] == "worker.normal")
    told = next(row["at"] for row in journal if "note:node-ready" in str(row["request"]) and row["status"] < 300)

    assert told - normal < 45


def _keys(record: Record) -> list[str]:
    return [m["metadata"]["event_payload"]["key"] for m in record["messages"][OPERATOR] if m.get("metadata")]


class Absence:
    """Example 1 while its memory dies, freezes, logins end and the channel is closed to the bot."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.crew = Crew(stage, "gpu-single")
        self.heard: dict[str, str] = {}

    def play(self) -> Record:
        self.stage.start_bot()
        self.crew.command("start")
        self.crew.play(_seen(self.stage, "updateMaster"))
        self._memory_dies()
        self.crew.play(_seen(self.stage, "createWorkerPool"))
        self._memory_is_away()
        self._thrown_out()
        self.stage.act("forget_tokens")
        self.crew.play()
        return {**record(self.stage, self.crew), "heard": self.heard}

    def _memory_dies(self) -> None:
        self.stage.kill_valkey()
        self.heard["dead"] = self.crew.command("pause")
        self.stage.start_valkey()
        wait_for(self.stage.ready, SOON, "the bot is ready again", self.stage.tail)

    def _memory_is_away(self) -> None:
        until = time.monotonic() + AWAY
        with self.stage.frozen_valkey():
            self.heard["away"] = self.crew.command("status")
            wait_for(lambda: time.monotonic() > until, AWAY + 1, "the time is over")
        wait_for(self.stage.ready, SOON, "the bot is ready again", self.stage.tail)

    def _thrown_out(self) -> None:
        self.stage.switch("kick", "gpu-migrations")
        wait_for(_seen(self.stage, "worker.normal"), SOON, "the temporary worker comes all the same", self.crew.state)
        self.heard["thrown out"] = self.stage.say(OPERATOR, "/gpu-migrate start gpu-single")
        self.stage.say(OPERATOR, "/invite @gpu-migrate")


def _absence(folder: Path) -> Record:
    with staged(folder, "guide-example-1", SPEED) as stage:
        return Absence(stage).play()


@pytest.fixture(scope="module")
def absence(tmp_path_factory: pytest.TempPathFactory) -> Record:
    return recorded(tmp_path_factory, "absence", _absence)


def test_given_a_memory_that_dies_and_freezes_when_it_is_back_then_the_run_ends_well(absence: Record) -> None:
    assert absence["ended"] == "done"
    assert twice(changes(absence["journal"])) == {}
    assert sorted(call.verb for call in only(changes(absence["journal"]), *ORDERS)) == sorted(ORDERS)


def test_given_no_memory_when_somebody_types_then_they_read_that_nothing_was_recorded(absence: Record) -> None:
    assert "Not recorded" in absence["heard"]["dead"]
    assert "Not recorded" in absence["heard"]["away"]


def test_given_a_bot_that_is_no_member_when_started_then_it_says_what_to_type(absence: Record) -> None:
    assert "/invite @gpu-migrate" in absence["heard"]["thrown out"]


def test_given_a_bot_that_was_thrown_out_when_it_is_back_then_everything_is_told_once(absence: Record) -> None:
    keys = _keys(absence)

    assert sorted(set(keys)) == sorted(keys)
    assert any("note:node-ready" in key for key in keys)
    assert sent(absence["journal"], "chat.postMessage")


def test_given_logins_that_end_when_the_run_is_long_then_new_ones_are_fetched(absence: Record) -> None:
    fetched = [row for row in absence["journal"] if row["verb"] == "applyRBACAndGetKubeconfig"]

    assert len(fetched) >= 3
    assert absence["ended"] == "done"
