"""One run of the world serves several tests: it is played once and its record is read by all, in every test process."""

import fcntl
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Record = dict[str, Any]


def recorded(factory: pytest.TempPathFactory, name: str, play: Callable[[Path], Record]) -> Record:
    """What `play` has brought, from whichever test process came first; a failure fails all who ask."""
    root = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent
    kept, failed = root / f"{name}.json", root / f"{name}.failed"
    with (root / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert not failed.exists(), f"the run that this test reads has failed:\n{failed.read_text()}"
        if not kept.exists():
            failed.write_text("it was broken off")
            try:
                kept.write_text(json.dumps(play(root / name)))
            except BaseException as why:
                failed.write_text("\n".join((str(why), *getattr(why, "__notes__", ()))))
                raise
            failed.unlink()
    record: Record = json.loads(kept.read_text())
    return record
