"""The bot as a process of its own: its configuration for this world, and its start.

Nothing of the bot is imported: it is the production program with other addresses, durations divided by the world's
speed, and pretend secrets in its environment.
"""

import shutil
import socket
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from sandbox import processes
from sandbox.endpoints import Endpoints
from sandbox.scenario import Scenario, load

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = {"PYTHONPATH": str(ROOT)}
STARTED_WITHIN = 60.0
REQUESTS = 200  # that IKS grants in ten seconds; polls are scaled, so this is too
NO_PROXY = "127.0.0.1,localhost"

# Waits of the bot's policy in seconds, as in life; and what they never go below, because programs, HTTP and people's
# machines do not run faster in a fast world.
WAITS = {
    "poll": (20, 0.25),
    "idle": (60, 0.5),
    "stable": (90, 0.5),
    "settle": (120, 2),
    "evict_retry": (15, 0.25),
    "stale": (180, 5),
    "typical_replace": (1500, 1),
}
DEADLINES = {
    "label": 300,
    "install": 1200,
    "master": 5400,
    "pool": 3600,
    "drain": 1800,
    "replace": 5400,
    "gpus": 1800,
    "remove": 2700,
    "verify": 1800,
    "quiet": 180,
}
SHORTEST_DEADLINE = 150.0
BRAKE_WINDOW = (1800, 30)  # as in life, and at least


class BotError(RuntimeError):
    """The bot does not start; the text holds the end of its log."""


def start(folder: Path, world: Endpoints) -> processes.Process:
    """Write DIR/bot.yaml and start the bot with it; `wait_until_up` tells when it works."""
    import yaml

    config = folder / "bot.yaml"
    chosen = settings(load(world.scenario, world.speed), world, _port(folder))
    config.write_text(yaml.safe_dump(chosen, sort_keys=False), encoding="utf-8")
    argv = (sys.executable, "-m", "bot.cli", "serve")
    return processes.spawn(argv, folder / "bot.log", {**PACKAGES, **environment(config, world)})


def settings(scenario: Scenario, world: Endpoints, port: int) -> dict[str, Any]:
    """The bot's configuration file for this world (keys: docs/configuration.md)."""
    people = {role: [who.id for who in scenario.people if who.role == role] for role in ("approver", "operator")}
    return {
        "replica": "sandbox",
        "http_host": "127.0.0.1",
        "http_port": port,
        "slack_api_url": world.slack_api,
        "iks_url": world.iks,
        "iam_url": world.iam,
        "iks_requests": int(REQUESTS * max(1.0, world.speed)),
        "helm": _helm(),
        "brake_window": round(max(BRAKE_WINDOW[0] / max(1.0, world.speed), BRAKE_WINDOW[1]), 3),
        "defaults": {
            "mode": "act",
            "approvers": people["approver"],
            "operators": [*people["operator"], *people["approver"]],
            "chart": {"repository": world.helm_repository},
            "durations": durations(world.speed),
        },
        "clusters": {cluster.name: {} for cluster in scenario.clusters},
    }


def durations(speed: float) -> dict[str, float]:
    """Divide the policy's durations by the world's speed."""
    waits = {name: round(max(life / speed, shortest), 3) for name, (life, shortest) in WAITS.items()}
    return {**waits, **{name: round(max(life / speed, SHORTEST_DEADLINE), 3) for name, life in DEADLINES.items()}}


def environment(config: Path, world: Endpoints) -> dict[str, str]:
    """What the bot reads from its environment: the file's place, and secrets."""
    return {
        "GPU_MIGRATE_CONFIG": str(config.resolve()),
        "REDIS_URL": world.redis,
        "IBMCLOUD_API_KEY": world.credentials["iam_api_key"],
        "SLACK_BOT_TOKEN": world.credentials["slack_bot_token"],
        "SLACK_APP_TOKEN": world.credentials["slack_app_token"],
        "NO_PROXY": NO_PROXY,
        "no_proxy": NO_PROXY,
    }


def wait_until_up(folder: Path, bot: processes.Process) -> str:
    """Wait until the bot says that it is ready; answers the URL of its port.

    Raises BotError when it ends before, or takes too long.
    """
    url = f"http://127.0.0.1:{_port(folder)}"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # loopback never goes through a proxy
    deadline = time.monotonic() + STARTED_WITHIN
    while bot.alive() and time.monotonic() < deadline:
        try:
            with opener.open(f"{url}/readyz", timeout=2.0):
                return url
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    words = (folder / "bot.log").read_text(errors="replace").strip()[-2000:]
    raise BotError(f"the bot is not ready: {words or 'it has ended without a word'}")


def _port(folder: Path) -> int:
    """Pick the bot's port once for each directory, so that a restarted bot is found where it was."""
    kept = folder / "bot.port"
    if not kept.exists():
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            kept.write_text(str(probe.getsockname()[1]))
    return int(kept.read_text())


def _helm() -> str:
    """Find helm: the pinned one of `make tools`, else the one on PATH."""
    pinned = ROOT / ".tools" / "bin" / "helm"
    return str(pinned) if pinned.exists() else shutil.which("helm") or "helm"
