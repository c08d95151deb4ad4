"""Commands of gpu-migrate-sandbox that look into the world and spoil it: journal, fault, knob, afflict, act."""

import json
from typing import Annotated, Any

import typer

from sandbox.cli_words import HERE, AsJson, Dir, as_value, control, pairs, sentences

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Switches that make the pretend servers misbehave.")


def register(root: typer.Typer) -> None:
    """Add the commands that stand beside `fault`."""
    for command in (journal, knob, afflict, act):
        root.command()(command)


def journal(
    folder: Dir = HERE,
    system: Annotated[str, typer.Option(help="iks, iam, kubernetes, slack or world.")] = "",
    since: Annotated[int, typer.Option(help="Only entries after this number.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Show the calls that the world accepted or refused."""
    with sentences():
        rows = control("GET", folder, "journal", query={"since": since, "system": system})
        print(json.dumps(rows) if as_json else "\n".join(_entry(row) for row in rows))


def knob(
    name: Annotated[str, typer.Argument(help="Name of the knob; none shows them all.")] = "",
    value: Annotated[str, typer.Argument(help="Value, as JSON.")] = "",
    folder: Dir = HERE,
) -> None:
    """Turn a knob of IBM's pretend cloud (sandbox/iks/knobs.py)."""
    with sentences():
        body = {"name": name, "value": as_value(value)}
        print(json.dumps(control("POST", folder, "knobs", body) if name else control("GET", folder, "knobs")))


def afflict(
    parts: Annotated[list[str], typer.Argument(help="cluster=NAME kind=image-pull node=… …; none shows them.")] = [],  # noqa: B006  typer copies it
    folder: Dir = HERE,
    clear: Annotated[bool, typer.Option("--clear", help="Take all off again.")] = False,
) -> None:
    """Put a misfortune on nodes or images (sandbox/controllers/afflictions.py)."""
    with sentences():
        method = "DELETE" if clear else "POST" if parts else "GET"
        print(json.dumps(control(method, folder, "afflictions", pairs(parts) or None)))


def act(
    name: Annotated[str, typer.Argument(help="resize, replace, autobalance, outage or forget_tokens.")],
    parts: Annotated[list[str], typer.Argument(help="cluster=NAME pool=… size=…")] = [],  # noqa: B006  typer copies it
    folder: Dir = HERE,
) -> None:
    """Let somebody else change something (sandbox/control.py)."""
    with sentences():
        print(json.dumps(control("POST", folder, f"acts/{name}", pairs(parts))))


@app.command("add")
def fault_add(
    parts: Annotated[list[str], typer.Argument(help="system=iks path=replaceWorker status=500 times=2 …")],
    folder: Dir = HERE,
) -> None:
    """Add a rule; its fields are those of sandbox/faults.py, values are JSON or text."""
    with sentences():
        print(json.dumps(control("POST", folder, "faults", pairs(parts))))


@app.command("list")
def fault_list(folder: Dir = HERE) -> None:
    """Show the rules in force."""
    with sentences():
        print(json.dumps(control("GET", folder, "faults")))


@app.command("clear")
def fault_clear(
    number: Annotated[int, typer.Argument(help="Number of one rule; without it all go.")] = 0, folder: Dir = HERE
) -> None:
    """Remove rules."""
    with sentences():
        print(json.dumps(control("DELETE", folder, "faults", query={"id": number or ""})))


def _entry(row: dict[str, Any]) -> str:
    from datetime import UTC, datetime

    at = datetime.fromtimestamp(row["at"], UTC).strftime("%H:%M:%S.%f")[:-3]
    return f"{row['seq']:>5} {at} {row['system']:<10} {row['status']} {row['verb']} {row['target']}  ({row['actor']})"
