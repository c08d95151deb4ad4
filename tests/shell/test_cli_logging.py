"""Log lines: one JSON object each, our own and the libraries', and never a secret."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bot.cli_logging import blot

ROOT = Path(__file__).parents[2]
PROGRAM = """
import logging, structlog
from bot.cli_logging import log_json
log_json("info")
log = structlog.get_logger("bot")
log.debug("too fine")
log.info("story", run="r-1", who="Jürgen", odd=object)
logging.getLogger("library").info("noise")
logging.getLogger("library").warning("token %s", "xoxb-1-very-secret")
def call(api_key):
    raise ValueError("no way")
try:
    call("local-very-secret")
except ValueError as error:
    log.error("failed", exc_info=error)
"""


def test_given_a_serving_process_when_it_logs_then_every_line_is_json_without_secrets() -> None:
    said = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    lines = [json.loads(line) for line in said.stdout.splitlines()]

    assert [(line["level"], line["event"].split()[0]) for line in lines] == [
        ("info", "story"),
        ("warning", "token"),
        ("error", "failed"),
    ]
    assert lines[0]["who"] == "Jürgen"
    assert lines[0]["timestamp"].endswith("Z")
    assert lines[1]["logger"] == "library"
    assert lines[2]["exception"][0]["exc_type"] == "ValueError"
    assert "very-secret" not in said.stdout + said.stderr


@pytest.mark.parametrize(
    "secret",
    [
        "xoxb-123-456-AbC",
        "xapp-1-A0-1-abc",
        "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln",
        "redis://:pass-word@host:6379/0",
        "https://user:pass-word@proxy.example:3128",
        "Authorization: Bearer abc.def-ghi",
    ],
)
def test_given_something_secret_when_blotted_then_the_rest_stays(secret: str) -> None:
    line = blot(None, "info", f'{{"event": "before {secret} after"}}')

    assert line.startswith('{"event": "before ')
    assert line.endswith(' after"}')
    assert "***" in line
    assert not any(part in line for part in ("123-456", "A0-1", "eyJ", "pass-word", "abc.def"))


@pytest.mark.parametrize("line", ["10.240.0.64 is Ready", "https://host:6379/x", "u@example.com: hello", "r-1a2b3c4d"])
def test_given_nothing_secret_when_blotted_then_nothing_changes(line: str) -> None:
    assert blot(None, "info", line) == line
