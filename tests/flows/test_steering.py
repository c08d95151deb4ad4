"""Steering a run: prepare first, pause, refuse and retry, two replicas of which one dies, abort, and only observing."""

import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox.scenario import FOLDER
from tests.flows.crew import OPERATOR, Crew
from tests.flows.examples import SPEED, record
from tests.flows.oracle import ORDERS, away_at_once, changes, only, targets, twice
from tests.flows.recording import Record, recorded
from tests.flows.said import refused_by_slack
from tests.flows.stage import Row, Stage, staged, wait_for

SOON = 60.0
QUIET = 5.0  # real seconds in which a paused run has to stay as it is; twenty looks
REFUSED = (
    '{"incidentID":"77","code":"E0403","description":"You are not authorized to update it.","type":"Authorization"}'
)


def seen(stage: Stage, verb: str, part: str = "") -> list[Row]:
    return [row for row in stage.journal() if row["verb"] == verb and part in row["target"]]


class Steering:
    """Example 2 with two replicas on one Redis, prepared first, with everything that operators can say on the way."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.crew = Crew(stage, "gpu-multi")
        self.said: dict[str, str] = {}
        self.marks: dict[str, int] = {}

    def play(self) -> Record:
        self.stage.start_bot("one")
        self.stage.start_bot("two")
        self._prepare()
        self._refused_then_retried()
        self._paused()
        self._owner_dies()
        self.crew.play()
        return {**record(self.stage, self.crew), "said": self.said, "marks": self.marks}

    def _mark(self, name: str) -> None:
        self.marks[name] = len(self.stage.journal())

    def _prepare(self) -> None:
        self.crew.command("prepare")
        self.crew.play(lambda: self.crew.told("prepared"))
        self.said["prepared"] = self.crew.told("prepared")
        self._mark("prepared")
        self.said["start"] = self.crew.command("start")

    def _refused_then_retried(self) -> None:
        self.stage.fault(system="iks", path="updateMaster", status=403, body=REFUSED)
        self.crew.play(lambda: self.crew.told("failed"))
        self.said["failed"] = self.crew.told("failed")
        self.said["retry"] = self.crew.command("retry")
        self.crew.play(lambda: seen(self.stage, "master.updated"))

    def _paused(self) -> None:
        self.said["pause"] = self.crew.command("pause")
        wait_for(lambda: "aused" in self.crew.progress(), SOON, "people see that it is paused", self.crew.state)
        self.said["paused"] = self.crew.progress()
        self._mark("paused")
        until = time.monotonic() + QUIET
        wait_for(lambda: time.monotonic() > until, QUIET + 1, "the time is over")
        self.said["resume"] = self.crew.command("resume")
        self._mark("resumed")
        self.crew.play(lambda: seen(self.stage, "replaceWorker"))

    def _owner_dies(self) -> None:
        """The replica that ordered the replacement dies; the other one has to find the successor."""
        leases = [row for row in self.stage.journal() if row["target"] == "kube-system/gpu-migrate"]
        owner = str(leases[-1]["request"]["body"]["spec"]["holderIdentity"]).partition(".")[0]
        self.said["owner"] = owner
        self.stage.kill_bot(owner)
        self._mark("owner dead")


def _steering(folder: Path) -> Record:
    with staged(folder, "guide-example-2", SPEED) as stage:
        return Steering(stage).play()


@pytest.fixture(scope="module")
def steered(tmp_path_factory: pytest.TempPathFactory) -> Record:
    return recorded(tmp_path_factory, "steered", _steering)


def test_given_two_replicas_when_one_dies_then_the_other_ends_the_run_well(steered: Record) -> None:
    assert steered["said"]["owner"] in ("one", "two")
    assert steered["ended"] == "done"
    assert refused_by_slack(steered["journal"]) == {}


def test_given_two_replicas_when_over_then_each_change_was_made_once(steered: Record) -> None:
    calls = changes(steered["journal"])

    assert twice(calls) == {}
    assert [call.verb for call in only(calls, *ORDERS)] == ["updateMaster", "replaceWorker", "replaceWorker"]
    assert away_at_once(steered["journal"], "gpu-multi") == 1


def test_given_prepare_when_prepared_then_labels_and_operator_stand_and_nothing_else(steered: Record) -> None:
    before = changes(steered["journal"][: steered["marks"]["prepared"]])

    assert targets(before, "label") == ["10.240.0.64", "10.240.0.66"]
    assert len(only(before, "create secrets")) == 1
    assert only(before, *ORDERS, "cordon", "evict pods") == []


def test_given_a_prepared_run_when_started_then_it_goes_on_as_the_same_run(steered: Record) -> None:
    keys = {m["metadata"]["event_payload"]["key"] for m in steered["messages"][OPERATOR] if m.get("metadata")}

    assert {key.partition("/")[0] for key in keys} == {steered["run"]}
    assert "ecorded" in steered["said"]["start"]


def test_given_a_refused_order_when_the_cause_is_gone_then_retry_goes_on(steered: Record) -> None:
    assert "E0403" in steered["said"]["failed"]
    assert "/gpu-migrate retry gpu-multi" in steered["said"]["failed"]
    assert len(only(changes(steered["journal"]), "updateMaster")) == 1


def test_given_a_paused_run_when_resumed_then_it_goes_on(steered: Record) -> None:
    marks = steered["marks"]

    assert "ecorded" in steered["said"]["pause"]
    assert "aused" in steered["said"]["paused"]
    assert changes(steered["journal"][marks["paused"] : marks["resumed"]]) == []


def _guarded_example_1(folder: Path) -> Path:
    """Example 1 with a budget that never lets the workload go."""
    text = yaml.safe_load((FOLDER / "guide-example-1.yaml").read_text(encoding="utf-8"))
    budget: dict[str, Any] = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "gpu-burn", "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "gpu-burn"}}},
    }
    text["clusters"][0]["objects"].append(budget)
    path = folder / "guarded.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(text), encoding="utf-8")
    return path


def _aborted(folder: Path) -> Record:
    """Abort while a budget blocks the drain."""
    with staged(folder / "world", str(_guarded_example_1(folder)), SPEED) as stage:
        stage.start_bot()
        crew = Crew(stage, "gpu-single")
        crew.command("start")
        crew.play(lambda: "budget" in crew.progress() and seen(stage, "evict pods", "gpu-burn"))
        said = {"blocked": crew.progress(), "abort": crew.command("abort")}
        mark = len(stage.journal())
        crew.play()
        said |= {key: crew.told(key) for key in ("labels-kept", "aborted", "uncordoned")}
        return {**record(stage, crew), "said": said, "mark": mark}


@pytest.fixture(scope="module")
def aborted(tmp_path_factory: pytest.TempPathFactory) -> Record:
    return recorded(tmp_path_factory, "aborted", _aborted)


def test_given_a_blocked_drain_when_aborted_then_the_cordon_is_lifted_and_nothing_is_replaced(aborted: Record) -> None:
    calls = changes(aborted["journal"])

    assert aborted["ended"] == "aborted"
    assert targets(calls, "cordon")[0] == "10.240.0.64"
    assert targets(calls, "uncordon") == ["10.240.0.64"]
    assert only(calls, "replaceWorker") == []
    assert refused_by_slack(aborted["journal"]) == {}


def test_given_an_operator_when_aborted_then_labels_stay_and_the_reason_is_told(aborted: Record) -> None:
    assert only(changes(aborted["journal"]), "unlabel") == []
    assert "10.240.0.64" in aborted["said"]["labels-kept"]
    assert "driver" in aborted["said"]["labels-kept"]


def test_given_a_temporary_pool_when_aborted_then_its_removal_is_asked_for_first(aborted: Record) -> None:
    after = aborted["journal"][aborted["mark"] :]
    removed = next(row["seq"] for row in after if row["verb"] == "removeWorkerPool")
    pressed = [row["seq"] for row in after if row["verb"] == "click"]

    assert len(pressed) == 1
    assert pressed[0] < removed
    assert len(only(changes(aborted["journal"]), "removeWorkerPool")) == 1


def test_given_mode_observe_when_begun_then_nothing_is_changed_and_people_read_why(tmp_path: Path) -> None:
    with staged(tmp_path / "world", "guide-example-2", SPEED) as stage:
        stage.start_bot(mode="observe")
        crew = Crew(stage, "gpu-multi")
        crew.command("start")
        wait_for(lambda: "Cannot begin yet" in str(crew.messages()), SOON, "people read why", crew.state)
        buttons = [button["text"] for message in crew.messages() for button in message["buttons"]]
        status = crew.command("status")
        journal = stage.journal()

    assert "observe" in status
    assert buttons == ["Look again", "Close"]
    assert changes(journal) == []
    assert [row for row in journal if row["target"] == "kube-system/gpu-migrate"] == []
