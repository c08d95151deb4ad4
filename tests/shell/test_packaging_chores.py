"""Chores, CI, hooks and the fetching of tools do what the README promises of them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("target", ["install", "tools", "check", "test", "demo", "sandbox"])
def test_given_the_makefile_when_asked_then_each_chore_is_there(target: str) -> None:
    make = shutil.which("make")
    if make is None:
        pytest.skip("needs make")
    said = subprocess.run([make, "-n", target], cwd=ROOT, capture_output=True, text=True, check=False, timeout=30)

    assert said.returncode == 0, said.stderr


def test_given_ci_when_read_then_it_checks_and_tests_and_stops_at_the_first_failure() -> None:
    path = ROOT / ".ci" / "run"
    lines = path.read_text().splitlines()

    assert os.access(path, os.X_OK)
    assert "set -euo pipefail" in lines
    assert lines[-2:] == ["make check", "make test"]


def test_given_the_hooks_when_read_then_they_download_nothing() -> None:
    repositories = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]

    assert [repository["repo"] for repository in repositories] == ["local"]
    assert all(hook["language"] == "system" for hook in repositories[0]["hooks"])


def test_given_no_linux_on_x86_and_no_helm_when_tools_are_fetched_then_one_sentence_says_what_to_do(
    tmp_path: Path,
) -> None:
    code = (
        "import platform, runpy, sys; platform.machine = lambda: 'riscv64'; "
        f"sys.argv = ['fetch_tools.py', '--into', {str(tmp_path / 'bin')!r}]; "
        f"runpy.run_path({str(ROOT / 'tools' / 'fetch_tools.py')!r}, run_name='__main__')"
    )
    said = subprocess.run(
        [sys.executable, "-c", code],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert said.returncode == 1
    assert said.stderr.strip() == "No helm for Linux riscv64 here: install helm 4 so that it is on PATH."
