"""The bot as a process of its own: its configuration for this world, and its start.

Nothing of the bot is imported: it is the production program with other addresses, durations divided by the world's
speed, and pretend secrets in its environment.
"""

import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from sandbox import processes
from sandbox.endpoints import Endpoints
from sandbox.scenario import Scenario, load

PACKAGES = {"PYTHONPATH": str(Path(__file__).resolve().parent.parent)}
STARTED_WITHIN = 30.0


class BotError(RuntimeError):
    """The bot does not start; the text holds the end of its log."""


def start(folder: Path, world: Endpoints) -> processes.Process:
    """Write DIR/bot.yaml and start the bot with it."""
    import yaml

    config = folder / "bot.yaml"
    scenario = load(world.scenario, world.speed)
    config.write_text(yaml.safe_dump(settings(scenario, world), sort_keys=False))
    argv = (sys.executable, "-m", "bot.cli", "serve")
    return processes.spawn(argv, folder / "bot.log", {**PACKAGES, **environment(config, world)})


def settings(scenario: Scenario, world: Endpoints) -> dict[str, Any]:
    """The bot's configuration file."""
    return {}


def environment(config: Path, world: Endpoints) -> dict[str, str]:
    """What the bot reads from its environment: the file's place, and secrets."""
    secrets = world.credentials
    return {
        "GPU_MIGRATE_CONFIG": str(config.resolve()),
        "REDIS_URL": world.redis,
        "IBMCLOUD_API_KEY": secrets["iam_api_key"],
        "SLACK_BOT_TOKEN": secrets["slack_bot_token"],
        "SLACK_APP_TOKEN": secrets["slack_app_token"],
    }


def wait_until_up(folder: Path, bot: processes.Process) -> None:
    """Wait until the bot listens on its socket; raises BotError when it ends before."""
