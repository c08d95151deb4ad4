"""What the commands of gpu-migrate-sandbox share: options, the world's control server, errors as sentences."""

import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

Dir = Annotated[Path, typer.Option("--dir", help="Directory of the sandbox.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
HERE = Path(".sandbox")


class UsageError(ValueError):
    """Something was typed that makes no sense; the text says what does."""


@contextlib.contextmanager
def sentences() -> Iterator[None]:
    """Print what went wrong as one sentence and end with 1, instead of a stack trace."""
    try:
        yield
    except (OSError, RuntimeError, ValueError) as error:
        if isinstance(error, typer.Exit | typer.Abort):
            raise
        print(f"gpu-migrate-sandbox: {error}", file=sys.stderr)
        raise typer.Exit(1) from error


def control(method: str, folder: Path, path: str, body: Any = None, query: dict[str, Any] | None = None) -> Any:
    from sandbox.endpoints import read
    from sandbox.http_client import call

    return call(method, f"{read(folder).control}/{path}", body, query)


def pairs(parts: list[str]) -> dict[str, Any]:
    """Read `name=value` words; raises UsageError."""
    found = {}
    for part in parts:
        name, sign, value = part.partition("=")
        if not sign:
            raise UsageError(f"{part!r} is not name=value")
        found[name] = as_value(value)
    return found


def as_value(text: str) -> Any:
    """Read a value: JSON where it is some, else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text
