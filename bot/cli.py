"""`gpu-migrate`: serve, and what can be asked without Slack. A command loads what it needs when it runs, no sooner.

Exit codes: 0 well, 1 something is wrong and was said, 2 the configuration or the call is wrong. Output of questions goes
to stdout, faults to stderr.
"""

import asyncio
import sys
from collections.abc import Callable, Coroutine, Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from bot.config import Settings

app = typer.Typer(
    name="gpu-migrate",
    help="Takes IBM Cloud Kubernetes Service GPU clusters from 1.35 to 1.36, one approved step at a time.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
Cluster = Annotated[str, typer.Argument(metavar="CLUSTER", help="Name or id, as in the configuration.")]


def main() -> None:
    """Entry point of the console script."""
    app()


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            typer.echo(version("gpu-migrate"))
        except PackageNotFoundError:
            typer.echo("not installed, run from its sources")
        raise typer.Exit


@app.callback()
def options(
    _version_wanted: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    """Takes IBM Cloud Kubernetes Service GPU clusters from 1.35 to 1.36, one approved step at a time."""


@app.command()
def serve() -> None:
    """Listen to Slack and run migrations, until SIGTERM or SIGINT."""
    from bot.cli_logging import log_json
    from bot.config import SERVE

    settings = _settings(SERVE)
    log_json(settings.log_level)

    def work() -> Coroutine[Any, Any, None]:
        from bot.serve import serve as serving

        return serving(settings)

    _run(settings, work)


@app.command()
def plan(cluster: Cluster) -> None:
    """Look at a cluster and show what a run would do. Nothing is stored or changed."""
    _ask(lambda answers, settings: answers.plan_text(settings, cluster), ("IBMCLOUD_API_KEY",))


@app.command()
def status(cluster: Annotated[str, typer.Argument(metavar="[CLUSTER]", help="Only this cluster's run.")] = "") -> None:
    """Show where runs stand."""
    _ask(lambda answers, settings: answers.status_text(settings, cluster), ("REDIS_URL",))


@app.command()
def runs() -> None:
    """List the newest runs, ended ones included."""
    _ask(lambda answers, settings: answers.runs_text(settings), ("REDIS_URL",))


@app.command()
def report(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's id, as `runs` lists it.")],
    json: Annotated[bool, typer.Option("--json", help="The stored run and its log, for programs.")] = False,
    audit: Annotated[bool, typer.Option("--audit", help="Who decided what, every order, the chain checked.")] = False,
) -> None:
    """Tell a run's whole story; with --audit as Markdown from its chained log."""

    def answer(answers: Any, settings: "Settings") -> Coroutine[Any, Any, str]:
        told: Coroutine[Any, Any, str] = (
            answers.audit_text(settings, run, json=json)
            if audit
            else answers.report_json(settings, run)
            if json
            else answers.report_text(settings, run)
        )
        return told

    _ask(answer, ("REDIS_URL",))


@app.command()
def doctor(
    json: Annotated[bool, typer.Option("--json", help="Findings for programs.")] = False,
    seconds: Annotated[float, typer.Option(min=1, max=600, help="Patience with each question.")] = 30.0,
) -> None:
    """Check configuration, Redis, Slack, IBM Cloud, helm and every cluster; name every fault at once."""
    from bot.cli_logging import log_text
    from bot.config import SERVE

    settings = _settings(SERVE, wrong=1)
    log_text()
    from bot.cli_findings import as_json, as_text
    from bot.doctor import examine

    findings = asyncio.run(examine(settings, seconds))
    typer.echo(as_json(findings) if json else as_text(findings))
    if not all(finding.ok for finding in findings):
        raise typer.Exit(1)


def _settings(needs: Iterable[str], wrong: int = 2) -> "Settings":
    """The settings, or the listing of what is wrong with them and exit code `wrong`."""
    from bot.config import load_settings
    from state.errors import ConfigError

    try:
        return load_settings(needs)
    except ConfigError as error:
        faults = error.reason.facts.get("faults", ())
        lines = faults if isinstance(faults, tuple) else (str(faults),)
        typer.echo("The configuration is wrong:", err=True)
        for line in lines:
            typer.echo(f"  {line}", err=True)
        raise typer.Exit(wrong) from error


def _ask(question: "Callable[[Any, Settings], Coroutine[Any, Any, str]]", needs: Iterable[str]) -> None:
    """Answer one question on stdout."""
    from bot.cli_logging import log_text

    settings = _settings(needs)
    log_text()

    async def work() -> None:
        from bot import cli_answers

        typer.echo(await question(cli_answers, settings))

    _run(settings, work)


def _run(settings: "Settings", work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run to the end; an error on purpose becomes a sentence and exit code 1."""
    from bot.messages import Words
    from state.errors import GpuMigrateError

    try:
        asyncio.run(work())
    except GpuMigrateError as error:
        typer.echo(Words(settings.language).sentence(error.reason), err=True)
        raise typer.Exit(1) from error
    except OSError as error:  # a port that is taken, a folder that cannot be written
        typer.echo(f"The system refused: {error}", err=True)
        raise typer.Exit(1) from error
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
