"""make demo: both examples of the guide, played by a scripted operator in the pretend Slack, from start to report.

    python -m sandbox.demo [--dir DIR] [--speed N] [--keep]

Exits with 0 when both runs end well and the world says the same, else with 1.
"""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from sandbox import endpoints, stage
from sandbox.demo_screen import Terminal
from sandbox.demo_script import Operator
from sandbox.http_client import NoAnswer, call
from sandbox.people import Person

SCENARIO = "guide"
CLUSTERS = ("gpu-multi", "gpu-single")
PATIENCE = 300.0
ONCE = ("updateMaster", "replaceWorker", "removeWorkerPool")


def main() -> int:
    """Play the demo from the command line."""
    parser = argparse.ArgumentParser(prog="sandbox.demo", description="Play both examples of the guide.")
    parser.add_argument("--dir", type=Path, default=Path(".sandbox/demo"))
    parser.add_argument("--speed", type=float, default=60.0, help="how many times faster than life")
    parser.add_argument("--keep", action="store_true", help="leave the world running at the end")
    chosen = parser.parse_args()
    from rich.console import Console

    console = Console()
    stage.down(chosen.dir)
    try:
        world = _up(console, chosen.dir, chosen.speed)
        return 0 if _play(console, world) else 1
    except (stage.StageError, NoAnswer) as failure:
        console.print(f"[bold red]The demo does not start:[/] {failure}")
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        if not chosen.keep:
            stage.down(chosen.dir)


def _up(console: Any, folder: Path, speed: float) -> endpoints.Endpoints:
    with console.status("Starting the pretend IBM Cloud, Kubernetes, Slack, a Valkey and the bot …"):
        world = stage.up(folder, SCENARIO, speed)
    console.print(f"[bold]Watch it at {world.slack_page}[/]   (the world runs {speed:g} times faster than life)\n")
    return world


def _play(console: Any, world: endpoints.Endpoints) -> bool:
    """Play, report, judge; True when everything ended well."""
    people = Person(world.slack_page).people()
    names = {row["id"]: row["name"] for row in (*people["people"], people["bot"])}
    began = time.monotonic()
    with Terminal(console, names) as screen:
        operator = Operator(world.slack_page, screen)
        plays = operator.play(CLUSTERS, began + PATIENCE)
        for play in plays:
            operator.report(play.cluster)
    faults = [f"{play.cluster}: {play.ended}" for play in plays if play.ended != "done"]
    journal = call("GET", world.journal)
    faults += [fault for cluster in CLUSTERS for fault in judged(journal, cluster)]
    console.print(f"\nPage: {world.slack_page}   took {time.monotonic() - began:.0f} s")
    for fault in faults:
        console.print(f"[bold red]✗[/] {fault}")
    if not faults:
        console.print("[bold green]✓ Both clusters run 1.36, every GPU workload is back.[/]")
    return not faults


def judged(journal: list[dict[str, Any]], cluster: str) -> list[str]:
    """What the world, not the bot, says against a migration: something missing, or a disruptive call made twice."""
    accepted = [row for row in journal if row["system"] == "iks" and row["cluster"] == cluster and row["status"] < 300]
    orders = Counter((row["verb"], row["target"]) for row in accepted)
    verbs = Counter(row["verb"] for row in accepted)
    faults = [
        f"{cluster}: {verb} {target} was called twice"
        for (verb, target), times in orders.items()
        if verb in ONCE and times > 1
    ]
    if not verbs["updateMaster"]:
        faults.append(f"{cluster}: the control plane was not updated")
    if not verbs["replaceWorker"]:
        faults.append(f"{cluster}: no worker was replaced")
    made, removed = verbs["createWorkerPool"], verbs["removeWorkerPool"]
    if made != removed:
        faults.append(f"{cluster}: {made} temporary pools were made, {removed} removed")
    return faults


if __name__ == "__main__":
    sys.exit(main())
