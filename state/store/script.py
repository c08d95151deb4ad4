"""The scripts' texts and digests. Each is the prelude and one file of `scripts/`; sent by digest, by text when unknown."""

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "scripts"


@dataclass(frozen=True, slots=True)
class Script:
    """One Lua script. `sha`: SHA-1 of the text, as EVALSHA wants it."""

    name: str
    text: str
    sha: str


@cache
def script(name: str) -> Script:
    """Read a script of ours by its file's name."""
    text = "\n".join((_FOLDER / f"{part}.lua").read_text(encoding="utf-8") for part in ("prelude", name))
    return Script(name, text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())


def every_script() -> tuple[Script, ...]:
    """All scripts, for loading them at the start."""
    names = sorted(path.stem for path in _FOLDER.glob("*.lua") if path.stem != "prelude")
    return tuple(script(name) for name in names)
