"""The command line of the sandbox, with everything in processes of their own."""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import redis
from typer.testing import CliRunner

from sandbox import processes, stage
from sandbox.cli import app


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


def cli(folder: Path, *words: str) -> Ran:
    """Run one command line in this process; starting Python for each would take most of the time."""
    result = CliRunner().invoke(app, [*words, "--dir", str(folder)])
    return Ran(result.exit_code, result.stdout, result.stderr)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    made = tmp_path_factory.mktemp("sandbox")
    started = cli(made, "up", "--scenario", "guide-example-2", "--speed", "100", "--no-bot", "--detach", "--json")
    assert started.returncode == 0, started.stderr
    yield made
    stage.down(made)


def test_given_up_when_detached_then_the_endpoints_are_written_and_printed(folder: Path) -> None:
    written = json.loads((folder / "endpoints.json").read_text())

    with redis.Redis.from_url(written["redis"]) as store:
        alive = store.ping()

    assert {"slack_api", "slack_page", "iks", "iam", "redis", "journal", "faults", "kubeconfigs"} <= written.keys()
    assert alive
    assert written["pids"].keys() == {"world", "valkey"}


def test_given_a_running_world_when_upped_again_then_it_says_so(folder: Path) -> None:
    again = cli(folder, "up", "--no-bot", "--detach")

    assert (again.returncode, "runs in" in again.stderr) == (1, True)


def test_given_people_when_they_type_then_the_page_shows_it(folder: Path) -> None:
    people = json.loads(cli(folder, "people", "--json").stdout)["people"]
    typed = cli(folder, "type", "--as", "operator-1", "who is there?")
    shown = cli(folder, "messages").stdout
    rows = json.loads(cli(folder, "messages", "--json").stdout)

    assert [person["name"] for person in people] == ["approver-1", "approver-2", "operator-1", "onlooker-1"]
    assert (typed.returncode, "operator-1: who is there?" in shown) == (0, True)
    assert rows[-1]["text"] == "who is there?"


def test_given_no_bot_when_a_command_is_typed_then_what_slack_says_is_told(folder: Path) -> None:
    typed = cli(folder, "type", "--as", "approver-1", "/gpu-migrate help")

    assert typed.returncode == 1
    assert typed.stderr.startswith("gpu-migrate-sandbox: ")
    assert "Traceback" not in typed.stderr


def test_given_no_card_when_clicked_then_a_sentence(folder: Path) -> None:
    missing = cli(folder, "click", "--button", "Approve")
    unclear = cli(folder, "click")

    assert (missing.returncode, "no card 1 with a button 'Approve'" in missing.stderr) == (1, True)
    assert (unclear.returncode, "--button or --action" in unclear.stderr) == (1, True)


def test_given_faults_when_added_listed_and_cleared_then_they_come_and_go(folder: Path) -> None:
    added = json.loads(cli(folder, "fault", "add", "system=iks", "path=getWorkers", "status=500", "times=2").stdout)
    listed = json.loads(cli(folder, "fault", "list").stdout)
    cleared = json.loads(cli(folder, "fault", "clear").stdout)
    wrong = cli(folder, "fault", "add", "colour=red")
    odd = cli(folder, "fault", "add", "colour")

    assert (added["status"], listed, cleared) == (500, [added], [])
    assert (wrong.returncode, odd.returncode, "name=value" in odd.stderr) == (1, 1, True)


def test_given_the_journal_when_read_then_lines_or_json(folder: Path) -> None:
    lines = cli(folder, "journal", "--system", "kubernetes").stdout.splitlines()
    rows = json.loads(cli(folder, "journal", "--system", "kubernetes", "--json").stdout)

    assert len(lines) >= 4
    assert {"seq", "at", "system", "cluster", "actor", "verb", "target", "status", "request", "effect"} == set(rows[0])


def test_given_knobs_and_acts_when_turned_then_the_cloud_obeys(folder: Path) -> None:
    knob = json.loads(cli(folder, "knob", "successor_after", "deleted").stdout)
    cli(folder, "knob", "successor_after", "delete")
    act = cli(folder, "act", "autobalance", "cluster=gpu-multi", "on=true")
    wrong = cli(folder, "act", "dance")

    assert (knob["successor_after"], act.returncode) == ("deleted", 0)
    assert (wrong.returncode, "known: resize" in wrong.stderr) == (1, True)


def test_given_the_bot_when_started_killed_and_started_again_then_it_answers(folder: Path) -> None:
    started = cli(folder, "bot", "start")
    helped = cli(folder, "type", "--as", "operator-1", "/gpu-migrate help")
    first = json.loads((folder / "endpoints.json").read_text())
    killed = cli(folder, "bot", "kill")
    again = cli(folder, "bot", "start")
    second = json.loads((folder / "endpoints.json").read_text())
    stopped = cli(folder, "bot", "stop")
    wrong = cli(folder, "bot", "dance")

    assert (started.returncode, helped.returncode, killed.returncode, again.returncode, stopped.returncode) == (0,) * 5
    assert (first["bot"], first["pids"]["bot"]) == (second["bot"], first["pids"]["bot"])
    assert first["pids"]["bot"] != second["pids"]["bot"]
    assert wrong.returncode == 1


def test_given_the_store_when_killed_and_started_then_what_was_written_is_kept(folder: Path) -> None:
    url = json.loads((folder / "endpoints.json").read_text())["redis"]
    with redis.Redis.from_url(url) as client:
        client.set("kept", "yes")

    killed = cli(folder, "store", "kill")
    started = cli(folder, "store", "start")
    with redis.Redis.from_url(url) as client:
        kept = client.get("kept")

    assert (killed.returncode, started.returncode, kept) == (0, 0, b"yes")


def test_given_nothing_when_asked_then_it_says_how_to_start(tmp_path: Path) -> None:
    nothing = cli(tmp_path, "journal")
    down = cli(tmp_path, "down")

    assert (nothing.returncode, "start one with 'up'" in nothing.stderr) == (1, True)
    assert (down.returncode, down.stdout.startswith("nothing runs")) == (0, True)


def test_given_an_unknown_scenario_when_upped_then_the_known_ones_are_named(tmp_path: Path) -> None:
    failed = cli(tmp_path, "up", "--scenario", "atlantis", "--no-bot", "--detach")

    assert failed.returncode == 1
    assert "no scenario 'atlantis'; known: failures, guide" in failed.stderr


def test_given_a_foreground_world_when_interrupted_then_everything_ends(tmp_path: Path) -> None:
    log = tmp_path / "log"
    argv = (sys.executable, "-m", "sandbox.cli", "up", "--no-bot", "--speed", "100", "--dir", str(tmp_path / "box"))
    front = processes.spawn(argv, log)
    while "journal" not in log.read_text():
        assert front.alive()
    world = processes.saved(tmp_path / "box" / "world.pid")

    polite = front.stop(patience=20)

    assert world is not None
    assert (polite, world.alive(), (tmp_path / "box" / "endpoints.json").exists()) == (True, False, False)
