"""A bot that was killed in the middle of a helm call leaves a kubeconfig behind: the next start takes it away."""

import os
import tempfile
import time
from pathlib import Path

from bot.adapters.helm import FOLDER, LEFT_OVER_SECONDS, forget_leftovers


def made(name: str, age: float) -> Path:
    folder = Path(tempfile.mkdtemp(prefix=f"{FOLDER}{name}"))
    (folder / "kubeconfig").write_text("token: pretend", encoding="utf-8")
    then = time.time() - age
    os.utime(folder, (then, then))
    return folder


def test_given_leftovers_when_a_bot_starts_then_old_ones_go_and_young_ones_stay() -> None:
    old, young = made("old", LEFT_OVER_SECONDS + 60), made("young", 1)

    try:
        removed = forget_leftovers(time.time())

        assert removed >= 1
        assert (old.exists(), young.exists()) == (False, True)
    finally:
        (young / "kubeconfig").unlink()
        young.rmdir()
