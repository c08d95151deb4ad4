"""The processes of one sandbox directory: world, Valkey, bot. Starts what is missing, finds what runs, ends it all.

Everything lies in the directory: endpoints.json, *.pid, *.log, valkey/, kubeconfigs/, bot.yaml.
"""

import sys
import time
from dataclasses import replace
from pathlib import Path

from sandbox import bot_process, endpoints, processes, valkey
from sandbox.control_plane import PATIENCE, PLANES
from sandbox.scenario import load

STARTED_WITHIN = 90.0
POLL = 0.05
WORLD = "world.json"  # what the world says of itself; endpoints.json follows when the bot is up too


class StageError(RuntimeError):
    """Something does not start; the text is for a person."""


def up(  # noqa: PLR0913  what a person chooses
    folder: Path, scenario: str, speed: float, port: int = 0, *, bot: bool = True, real: bool = False
) -> endpoints.Endpoints:
    """Start Valkey, the world and the bot in `folder` as processes that outlive this one.

    `real`: the clusters run on a real control plane. endpoints.json appears when all of them answer. Raises StageError
    when one already runs there, or when something does not come up; then nothing is left running.
    """
    try:
        load(scenario, speed)
    except (FileNotFoundError, KeyError, TypeError) as failure:
        raise StageError(str(failure)) from failure
    folder.mkdir(parents=True, exist_ok=True)
    if running(folder):
        raise StageError(f"a sandbox runs in {folder} already; end it with 'down'")
    down(folder)
    valkey.erase(folder / "valkey")  # the clusters are new, so what an earlier bot remembers of them is wrong
    try:
        store = valkey.start(folder / "valkey")
        words = ("--scenario", scenario, "--speed", str(speed), "--port", str(port), "--redis", store.url)
        world = _start_world(folder, (*words, *(("--control-plane",) if real else ())))
        world = replace(world, pids={**world.pids, "valkey": store.pid})
        if bot:
            return _start_bot(folder, world)[1]
        endpoints.write(folder, world)
    except (StageError, valkey.ValkeyError, bot_process.BotError) as failure:
        down(folder)
        raise StageError(str(failure)) from failure
    return world


def _start_world(folder: Path, words: tuple[str, ...]) -> endpoints.Endpoints:
    log, found = folder / "world.log", folder / WORLD
    log.write_text("")
    found.unlink(missing_ok=True)
    argv = (sys.executable, "-m", "sandbox.world", *words, "--dir", str(folder), "--file", WORLD)
    world = processes.spawn(argv, log, bot_process.PACKAGES)
    processes.save(world, folder / "world.pid")
    deadline = time.monotonic() + STARTED_WITHIN
    while not found.exists():
        if not world.alive() or time.monotonic() > deadline:
            raise StageError(log.read_text(errors="replace").strip()[-2000:] or "the world ended without a word")
        time.sleep(POLL)
    return endpoints.read(folder, WORLD)


def start_bot(folder: Path) -> processes.Process:
    """Start the bot against the world of `folder`, or find the one that runs.

    Raises StageError when it does not come up.
    """
    try:
        return _start_bot(folder, endpoints.read(folder))[0]
    except bot_process.BotError as failure:
        raise StageError(str(failure)) from failure


def _start_bot(folder: Path, world: endpoints.Endpoints) -> tuple[processes.Process, endpoints.Endpoints]:
    bot = processes.saved(folder / "bot.pid") or bot_process.start(folder, world)
    processes.save(bot, folder / "bot.pid")
    url = bot_process.wait_until_up(folder, bot)
    world = replace(world, bot=url, pids={**world.pids, "bot": bot.pid})
    endpoints.write(folder, world)
    return bot, world


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
    processes.end_below(folder / PLANES, PATIENCE)
    if valkey.stop(folder / "valkey"):
        ended.append("valkey")
    endpoints.remove(folder)
    return tuple(ended)


def running(folder: Path) -> bool:
    """Whether the world of `folder` runs."""
    return processes.saved(folder / "world.pid") is not None
