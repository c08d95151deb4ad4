"""The user that the handbook describes, made on a server of a test word for word."""

import re
from pathlib import Path

from tests.valkey import Valkey

HANDBOOK = Path(__file__).parents[1] / "docs" / "configuration.md"


def introduce(server: Valkey, *more: str, cluster: bool = False) -> None:
    """Make user `bot` with password `p@ss` by the handbook's lines, the second of which is for clusters."""
    lines = re.findall(r"^ACL SETUSER gpu-migrate (.*)$", HANDBOOK.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(lines) == 2
    rules = " ".join(lines if cluster else lines[:1]).split()
    assert server.say("ACL", "SETUSER", "bot", "reset", *rules, ">p@ss", *more) == "+OK"
