"""The command line as a person meets it: what it prints, where, and how it ends."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.cli_findings import as_json, as_text
from bot.doctor import Finding
from sandbox import bot_process, stage
from sandbox.endpoints import Endpoints
from sandbox.scenario import load
from tests.shell.scripted_server import HTML, Reply, scripted

ROOT = Path(__file__).parents[2]
SECRET = "very-secret"
COMMANDS = ("serve", "plan", "status", "runs", "report", "doctor")
LIGHT = (
    "import sys; sys.argv = ['gpu-migrate', '--help']\n"
    "from bot.cli import main\n"
    "try: main()\n"
    "except SystemExit: pass\n"
    "print('loaded', *sorted({name.partition('.')[0] for name in sys.modules}))"
)


def call(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        [sys.executable, "-m", "bot.cli", *words],
        cwd=ROOT,
        env={**kept, "NO_PROXY": "127.0.0.1", **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def configured(folder: Path, content: Any = None, **variables: str) -> dict[str, str]:
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump(content or {"clusters": {"gpu-lab": {}}}))
    return {
        "GPU_MIGRATE_CONFIG": str(path),
        "SLACK_BOT_TOKEN": f"xoxb-{SECRET}",
        "SLACK_APP_TOKEN": f"xapp-{SECRET}",
        "IBMCLOUD_API_KEY": SECRET,
        "REDIS_URL": f"redis://:{SECRET}@127.0.0.1:1/0",
        **variables,
    }


def test_given_help_when_asked_then_all_commands_are_named_and_nothing_heavy_is_loaded() -> None:
    said = subprocess.run(
        [sys.executable, "-c", LIGHT], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    loaded = set(said.stdout.splitlines()[-1].split()[1:])

    assert all(f"  {command}" in said.stdout for command in COMMANDS)
    assert not loaded & {"kubernetes", "aiohttp", "redis", "slack_bolt", "slack_sdk", "pydantic", "structlog", "rich"}


@pytest.mark.parametrize(
    "words", [("serve",), ("plan", "gpu-lab"), ("runs",), ("status",), ("report", "r-1")], ids=" ".join
)
def test_given_no_configuration_when_called_then_everything_missing_is_listed(words: tuple[str, ...]) -> None:
    said = call(*words)

    assert said.returncode == 2
    assert said.stdout == ""
    assert said.stderr.startswith("The configuration is wrong:\n  GPU_MIGRATE_CONFIG: is not set")


def test_given_version_when_asked_then_one_line_answers() -> None:
    said = call("--version")

    assert said.returncode == 0
    assert len(said.stdout.splitlines()) == 1


@pytest.mark.parametrize("words", [("plan",), ("nonsense",), ("report",), ("doctor", "--seconds", "0")], ids=" ".join)
def test_given_a_wrong_call_when_made_then_it_is_refused_with_usage(words: tuple[str, ...]) -> None:
    said = call(*words)

    assert said.returncode == 2
    assert "Usage:" in said.stderr


def test_given_an_unknown_cluster_when_planned_then_the_known_ones_are_named(tmp_path: Path) -> None:
    said = call("plan", "gpu-lob", **configured(tmp_path))

    assert said.returncode == 1
    assert "gpu-lob" in said.stderr
    assert "gpu-lab" in said.stderr


def test_given_no_store_when_asked_for_runs_then_one_sentence_says_so(tmp_path: Path) -> None:
    said = call("runs", **configured(tmp_path))

    assert said.returncode == 1
    assert said.stdout == ""
    assert "Redis" in said.stderr
    assert SECRET not in said.stderr
    assert "Traceback" not in said.stderr


async def test_given_everything_is_wrong_when_examined_then_every_fault_is_named_at_once(tmp_path: Path) -> None:
    async with scripted() as cloud, scripted() as slack:
        cloud.say("/identity/token", Reply(400, {"errorCode": "BXNIM0415E", "errorMessage": f"no key {SECRET}"}))
        slack.say("/api/auth.test", Reply(200, {"ok": False, "error": "invalid_auth"}))
        slack.say("/api/apps.connections.open", HTML)
        content = {
            "slack_api_url": f"{slack.url}/api/",
            "iks_url": f"{cloud.url}/global",
            "iam_url": cloud.url,
            "helm": "/nowhere/helm",
            "clusters": {"gpu-lab": {}, "gpu-prod": {}},
        }
        said = await asyncio.to_thread(call, "doctor", "--json", **configured(tmp_path, content))
    findings = {row["what"]: row for row in json.loads(said.stdout)["findings"]}

    assert said.returncode == 1
    assert list(findings) == [
        "redis",
        "slack bot token",
        "slack app token",
        "ibm cloud login",
        "helm",
        "cluster gpu-lab",
        "cluster gpu-prod",
    ]
    assert not any(row["ok"] for row in findings.values())
    assert "invalid_auth" in findings["slack bot token"]["detail"]
    assert "BXNIM0415E" in findings["ibm cloud login"]["detail"]
    assert "/nowhere/helm" in findings["helm"]["detail"]
    assert SECRET not in said.stdout + said.stderr
    assert "<html" not in said.stdout


def test_given_findings_when_shown_then_faults_stand_out_and_are_counted() -> None:
    findings = (Finding("redis", True, "answers", 0.1), Finding("helm", False, "There is no helm.", 0.2))

    assert as_text(findings).splitlines() == [
        "ok     redis  answers",
        "FAULT  helm   There is no helm.",
        "1 fault",
    ]
    assert json.loads(as_json(findings))["ok"] is False


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A running world without a bot; what the bot's process would find in its environment."""
    folder = tmp_path_factory.mktemp("world")
    running: Endpoints = stage.up(folder, "guide-example-2", 60.0)
    try:
        config = folder / "config.yaml"
        config.write_text(yaml.safe_dump(bot_process.settings(load(running.scenario, running.speed), running, 0)))
        yield bot_process.environment(config, running)
    finally:
        stage.down(folder)


def test_given_a_healthy_world_when_examined_then_there_is_no_fault(world: dict[str, str]) -> None:
    said = call("doctor", **world)

    assert said.returncode == 0, said.stdout
    assert said.stdout.splitlines()[-1] == "no fault"
    assert "2 workers, 2 GPU nodes, mode act" in said.stdout


def test_given_a_cluster_when_planned_then_steps_are_told_and_nothing_is_stored(world: dict[str, str]) -> None:
    planned = call("plan", "gpu-multi", **world)
    listed = call("runs", **world)

    assert planned.returncode == 0, planned.stderr
    assert "Update the control plane" in planned.stdout
    assert "Nothing forbids it" in planned.stdout
    assert "There has been no run yet" in listed.stdout


def test_given_no_run_when_asked_for_one_then_it_is_said(world: dict[str, str]) -> None:
    status = call("status", "gpu-multi", **world)
    every = call("status", **world)
    report = call("report", "r-00000000", "--json", **world)

    assert (status.returncode, every.returncode, report.returncode) == (0, 0, 1)
    assert "gpu-multi" in status.stdout
    assert "gpu-multi" in every.stdout
    assert "r-00000000" in report.stderr
