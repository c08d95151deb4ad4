"""Processes are found again, ended politely, and never mistaken for others."""

import sys
from dataclasses import replace
from pathlib import Path

from sandbox import processes

SLEEP = (sys.executable, "-c", "print('up', flush=True); import time; time.sleep(60)")
STUBBORN = (
    sys.executable,
    "-c",
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)",
)


def _up(argv: tuple[str, ...], log: Path) -> processes.Process:
    process = processes.spawn(argv, log)
    while "up" not in log.read_text():
        assert process.alive()
    return process


def test_given_a_process_when_saved_then_it_is_found_and_ended(tmp_path: Path) -> None:
    process = _up(SLEEP, tmp_path / "log")
    processes.save(process, tmp_path / "pid")

    found = processes.saved(tmp_path / "pid")
    polite = process.stop()

    assert (found, polite, processes.saved(tmp_path / "pid")) == (process, True, None)


def test_given_a_stubborn_process_when_stopped_then_it_is_killed(tmp_path: Path) -> None:
    process = _up(STUBBORN, tmp_path / "log")

    polite = process.stop(patience=0.1)

    assert (polite, process.alive()) == (False, False)


def test_given_a_pid_that_was_given_away_when_looked_at_then_it_is_not_ours(tmp_path: Path) -> None:
    process = _up(SLEEP, tmp_path / "log")
    stranger = replace(process, born="1")

    stranger.kill()
    alive = process.alive()
    process.kill()

    assert (alive, stranger.alive()) == (True, False)


def test_given_no_file_or_nonsense_when_looked_up_then_none(tmp_path: Path) -> None:
    (tmp_path / "pid").write_text("[]")

    assert (processes.saved(tmp_path / "pid"), processes.saved(tmp_path / "none")) == (None, None)
