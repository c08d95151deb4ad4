"""The processes of one sandbox directory: world, Valkey, bot. Starts what is missing, finds what runs, ends it all.

Everything lies in the directory: endpoints.json, *.pid, *.log, valkey/, kubeconfigs/, bot.yaml.
"""

import sys
import time
from dataclasses import replace
from pathlib import Path

from sandbox import bot_process, endpoints, processes, valkey
from sandbox.scenario import load

STARTED_WITHIN = 90.0
POLL = 0.05


class StageError(RuntimeError):
    """Something does not start; the text is for a person."""


def up(folder: Path, scenario: str, speed: float, port: int = 0) -> endpoints.Endpoints:
    """Start Valkey and the world in `folder` as processes that outlive this one.

    Raises StageError when one already runs there, or when it does not come up.
    """
    try:
        load(scenario, speed)
    except (FileNotFoundError, KeyError, TypeError) as failure:
        raise StageError(str(failure)) from failure
    folder.mkdir(parents=True, exist_ok=True)
    if processes.saved(folder / "world.pid") is not None:
        raise StageError(f"a sandbox runs in {folder} already; end it with 'down'")
    endpoints.remove(folder)
    try:
        store = valkey.start(folder / "valkey")
    except valkey.ValkeyError as failure:
        raise StageError(str(failure)) from failure
    argv = (sys.executable, "-m", "sandbox.world", "--scenario", scenario, "--dir", str(folder), "--speed", str(speed))
    log = folder / "world.log"
    log.write_text("")
    world = processes.spawn((*argv, "--port", str(port), "--redis", store.url), log, bot_process.PACKAGES)
    processes.save(world, folder / "world.pid")
    deadline = time.monotonic() + STARTED_WITHIN
    while not (folder / endpoints.NAME).exists():
        if not world.alive() or time.monotonic() > deadline:
            world.stop()
            valkey.stop(folder / "valkey")
            raise StageError(log.read_text(errors="replace").strip()[-2000:] or "the world ended without a word")
        time.sleep(POLL)
    running = endpoints.read(folder)
    running = replace(running, pids={**running.pids, "valkey": store.pid})
    endpoints.write(folder, running)
    return running


def start_bot(folder: Path) -> processes.Process:
    """Start the bot against the world of `folder`, or find the one that runs.

    Raises StageError when it ends at once.
    """
    world = endpoints.read(folder)
    bot = processes.saved(folder / "bot.pid") or bot_process.start(folder, world)
    processes.save(bot, folder / "bot.pid")
    try:
        url = bot_process.wait_until_up(folder, bot)
    except bot_process.BotError as failure:
        raise StageError(str(failure)) from failure
    endpoints.write(folder, replace(world, bot=url, pids={**world.pids, "bot": bot.pid}))
    return bot


def stop_bot(folder: Path, *, kill: bool = False) -> bool:
    """End the bot, with `kill` as a crash would; False when none ran."""
    bot = processes.saved(folder / "bot.pid")
    if bot is None:
        return False
    if kill:
        bot.kill()
    else:
        bot.stop()
    return True


def down(folder: Path) -> tuple[str, ...]:
    """End everything of `folder`; answers what was running."""
    ended = ["bot"] if stop_bot(folder) else []
    world = processes.saved(folder / "world.pid")
    if world is not None:
        world.stop()
        ended.append("world")
    if valkey.stop(folder / "valkey"):
        ended.append("valkey")
    endpoints.remove(folder)
    return tuple(ended)


def running(folder: Path) -> bool:
    """Whether the world of `folder` runs."""
    return processes.saved(folder / "world.pid") is not None
