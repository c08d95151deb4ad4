"""Which ownerless runs a replica takes, so that the work spreads and nothing stays lying.

Pure: moments come in as arguments.
"""

from dataclasses import dataclass

PATIENCE_SECONDS = 12.0  # a run that nobody took for so long is taken whoever's share it is


@dataclass(frozen=True, slots=True)
class Backlog:
    """What the store told. `left`: of our predecessor; `loose`: of nobody alive, or of nobody yet."""

    mine: int
    active: int
    alive: int
    due: tuple[str, ...]
    left: tuple[str, ...]
    loose: tuple[str, ...]


class Share:
    """Remembers since when runs lie ownerless."""

    def __init__(self) -> None:
        self._loose_since: dict[str, float] = {}

    def pick(self, backlog: Backlog, now: float) -> tuple[str, ...]:
        """Ours that are due, all of our predecessor's, and loose ones up to an even share."""
        self._loose_since = {run_id: self._loose_since.get(run_id, now) for run_id in backlog.loose}
        even = -(-backlog.active // max(backlog.alive, 1))
        room = max(0, even - backlog.mine - len(backlog.left))
        late = {run_id for run_id, since in self._loose_since.items() if now - since >= PATIENCE_SECONDS}
        loose = [run_id for place, run_id in enumerate(backlog.loose) if place < room or run_id in late]
        return (*backlog.due, *backlog.left, *loose)
