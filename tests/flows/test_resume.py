"""A killed bot is back at its runs within five seconds, another replica within fifteen; `bench/resume.py` has the figures.

The limits are those of an idle machine. Here other tests run beside it: a bare import of the program is timed in the same
minute, and where it takes longer than it should alone, everything that is work may; a lease is no work.
"""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from sandbox.bot_process import ROOT
from tests.flows.recording import Record, recorded
from tests.flows.resuming import Fleet, Resumed, many_clusters
from tests.flows.stage import Stage, staged

RUNS = 2
KILLS = 2
IMPORT = 1.0  # seconds for a bare import on a machine that has nothing else to do, generously
SAME, CHANGE, LEASE, EXIT = 5.0, 15.0, 12.0, 10.0  # seconds


class Resume:
    """The only bot is killed; then it is told to go while another one runs; then that one is killed."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.fleet = Fleet(stage, RUNS)

    def play(self) -> Record:
        self.stage.start_bot("one")
        self.fleet.begin()
        same = [each for _ in range(KILLS) for each in self._killed("one", back=True)]
        imports = [_import_seconds()]
        self.stage.start_bot("two")
        exit_seconds = self._told_to_go("one")
        owners = sorted(self.fleet.owners())
        self.stage.start_bot("one")
        change = self._killed("two", back=False)
        imports.append(_import_seconds())
        figures = {"same": [each.seconds for each in same], "change": [each.seconds for each in change]}
        return {**figures, "exit": exit_seconds, "owners": owners, "busy": max(IMPORT, *imports) / IMPORT}

    def _killed(self, replica: str, *, back: bool) -> list[Resumed]:
        before, ended = self.fleet.heads(replica), time.time()
        self.stage.kill_bot(replica)
        self.fleet.click(before)
        if back:
            self.stage.launch_bot(replica)
        return self.fleet.resumed(before, ended)

    def _told_to_go(self, replica: str) -> float:
        before, told = self.fleet.heads(replica), time.time()
        assert self.stage.stop_bot(replica)
        exit_seconds = time.time() - told
        self.fleet.click(before)
        self.fleet.resumed(before, told)
        return exit_seconds


def _import_seconds() -> float:
    began = time.monotonic()
    subprocess.run((sys.executable, "-c", "import bot.serve"), cwd=ROOT, check=True)
    return time.monotonic() - began


def _resume(folder: Path) -> Record:
    with staged(folder, many_clusters(folder, RUNS), 1.0) as stage:
        return Resume(stage).play()


@pytest.fixture(scope="module")
def resumed(tmp_path_factory: pytest.TempPathFactory) -> Record:
    return recorded(tmp_path_factory, "resumed", _resume)


def test_given_a_killed_bot_when_it_is_started_again_then_its_runs_go_on_soon(resumed: Record) -> None:
    assert len(resumed["same"]) == KILLS * RUNS
    assert max(resumed["same"]) <= SAME * resumed["busy"]


def test_given_a_bot_that_is_told_to_go_when_another_runs_then_it_goes_soon_and_has_handed_over(
    resumed: Record,
) -> None:
    assert resumed["exit"] <= EXIT
    assert resumed["owners"] == ["two"]


def test_given_a_killed_owner_when_another_runs_then_its_runs_go_on_after_its_lease(resumed: Record) -> None:
    assert resumed["change"]
    assert max(resumed["change"]) <= LEASE + (CHANGE - LEASE) * resumed["busy"]
