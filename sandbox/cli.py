"""gpu-migrate-sandbox: the pretend world from a shell, for people and for scripts.

Commands only read arguments and print; what they do is in stage.py (processes), people.py (the Slack page) and the
world's control server. Imports that cost time stand inside the commands, so that --help stays quick.
"""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from sandbox.cli_faults import app as fault_app
from sandbox.cli_faults import register
from sandbox.cli_words import HERE, AsJson, Dir, UsageError, sentences

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="A pretend IBM Cloud, Kubernetes and Slack.",
)
app.add_typer(fault_app, name="fault")
register(app)

As = Annotated[str, typer.Option("--as", help="Name or id of the person; default: the first one.")]
Channel = Annotated[str, typer.Option(help="Channel, or @name for that person's messages with the bot.")]


@app.command()
def up(  # noqa: PLR0913, PLR0917  options of a command
    scenario: Annotated[str, typer.Option(help="Name or file of the scenario.")] = "guide-example-2",
    folder: Dir = HERE,
    speed: Annotated[float, typer.Option(help="How many times faster than life.", min=0.01)] = 60.0,
    bot: Annotated[bool, typer.Option("--bot/--no-bot", help="Start the bot as well.")] = True,
    detach: Annotated[bool, typer.Option("--detach", help="Leave it running and return.")] = False,
    port: Annotated[int, typer.Option(help="Port of the Slack page; 0 takes a free one.")] = 0,
    real: Annotated[bool, typer.Option("--control-plane", help="Run the clusters on a real control plane.")] = False,
    as_json: AsJson = False,
) -> None:
    """Start a world and the bot; stays in the foreground until Ctrl-C."""
    from sandbox import stage

    with sentences():
        _print_endpoints(stage.up(folder, scenario, speed, port, bot=bot, real=real).as_json(), as_json)
        if not detach:
            _stay(folder)


@app.command()
def down(folder: Dir = HERE) -> None:
    """End the bot, the world and its Valkey."""
    from sandbox import stage

    ended = stage.down(folder)
    print(f"ended: {', '.join(ended)}" if ended else f"nothing runs in {folder}")


@app.command("type")
def type_text(  # noqa: PLR0913, PLR0917  options of a command
    text: Annotated[list[str], typer.Argument(help="What the person types.")],
    folder: Dir = HERE,
    name: As = "",
    channel: Channel = "",
    thread: Annotated[str, typer.Option(help="ts of the message whose thread it goes into.")] = "",
    as_json: AsJson = False,
) -> None:
    """Type a message or a /command in the pretend Slack."""
    with sentences():
        answer = _person(folder, name, channel).type(" ".join(text), thread)
        _print_answer(answer, as_json)


@app.command()
def click(  # noqa: PLR0913, PLR0917  options of a command
    folder: Dir = HERE,
    name: As = "",
    button: Annotated[str, typer.Option(help="Label of the button.")] = "",
    action: Annotated[str, typer.Option(help="Action id of the button.")] = "",
    card: Annotated[int, typer.Option(help="Which card that has the button: 1 is the newest.", min=1)] = 1,
    ts: Annotated[str, typer.Option(help="Press on this message, even if it has changed since (with --action).")] = "",
    value: Annotated[str, typer.Option(help="Value of the button (with --ts).")] = "",
    channel: Channel = "",
    as_json: AsJson = False,
) -> None:
    """Press a button in the pretend Slack."""
    with sentences():
        if bool(button) == bool(action):
            raise UsageError("give either --button or --action")
        if ts and not action:
            raise UsageError("--ts needs --action")
        person = _person(folder, name, channel)
        if ts:
            answer = person.press(ts, {"action_id": action, "value": value}, stale=True)
        else:
            answer = person.click(button or action, card)
        _print_answer(answer, as_json)


@app.command()
def messages(folder: Dir = HERE, name: As = "", channel: Channel = "", as_json: AsJson = False) -> None:
    """Show what a person sees in the channel."""
    from sandbox.people import shown

    with sentences():
        rows = _person(folder, name, channel).messages()
        print(json.dumps(rows) if as_json else "\n".join(shown(row) for row in rows))


@app.command()
def people(folder: Dir = HERE, as_json: AsJson = False) -> None:
    """Show who is in the pretend workspace."""
    with sentences():
        answer = _person(folder).people()
        rows = "\n".join(f"{row['name']}  {row['id']}  {row['role']}" for row in answer["people"])
        print(json.dumps(answer) if as_json else rows)


@app.command()
def bot(
    act: Annotated[str, typer.Argument(help="start, stop, kill (as a crash would) or restart.")],
    folder: Dir = HERE,
) -> None:
    """Start, stop or kill the bot of a running world."""
    from sandbox import stage

    with sentences():
        if act not in ("start", "stop", "kill", "restart"):
            raise UsageError("start, stop, kill or restart")
        if act != "start":
            stage.stop_bot(folder, kill=act == "kill")
        if act in ("start", "restart"):
            print(f"bot runs as process {stage.start_bot(folder).pid}")


@app.command()
def store(
    act: Annotated[str, typer.Argument(help="start, stop or kill (as a power cut would).")],
    folder: Dir = HERE,
) -> None:
    """Start, stop or kill the Valkey of a running world; what was written is kept."""
    from sandbox import valkey

    with sentences():
        match act:
            case "start":
                print(f"Valkey runs as process {valkey.start(folder / 'valkey').pid}")
            case "stop":
                valkey.stop(folder / "valkey")
            case "kill":
                valkey.kill(folder / "valkey")
            case _:
                raise UsageError("start, stop or kill")


def main() -> None:
    """Run the command line."""
    app()


def _person(folder: Path, name: str = "", channel: str = "") -> Any:
    from sandbox.endpoints import read
    from sandbox.people import Person

    return Person(read(folder).slack_page, name, channel)


def _stay(folder: Path) -> None:
    """Wait in the foreground until Ctrl-C, SIGTERM or the world's end; then end everything."""
    import signal
    import time

    from sandbox import stage

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        while stage.running(folder):
            time.sleep(0.2)
        print("gpu-migrate-sandbox: the world has ended", file=sys.stderr)
    except KeyboardInterrupt:
        print()
    finally:
        stage.down(folder)


def _print_endpoints(rows: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps(rows), flush=True)
        return
    print(f"page         {rows['slack_page']}")
    for name, path in rows["kubeconfigs"].items():
        print(f"kubectl      KUBECONFIG={path}   # {name}")
    print(f"journal      {rows['journal']}", flush=True)


def _print_answer(answer: Any, as_json: bool) -> None:
    if as_json:
        print(json.dumps(answer))
    elif text := (answer.get("ack") or {}).get("text"):
        print(text)


if __name__ == "__main__":
    main()
