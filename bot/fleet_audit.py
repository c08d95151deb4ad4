"""The audit's part about all runs at once: who stopped and released them while a run went on, and whether that log is whole.

Pure. Old entries are dropped by retention, so that this chain may begin anywhere; its end is known.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from state.run import Run
from state.store.audit import FleetLog, verify_chain

Row = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Brakes:
    """What concerns one run, and the state of the whole log.

    Attributes:
        rows: brakes set and lifted during the run, and the last one before it.
        first, last: numbers of the oldest and newest chained entry, -1 = none.
        broken: entries that were changed or do not follow the one before them.
        missing: how many are lost at the end.
        unchained: how many are older than the chain.
    """

    rows: tuple[Row, ...]
    first: int
    last: int
    broken: tuple[int, ...]
    missing: int
    unchained: int

    @property
    def whole(self) -> bool:
        return not self.broken and not self.missing


def brakes_of(run: Run, log: FleetLog) -> Brakes:
    """The brake as it was during a run."""
    chained = log.chained
    numbers = [_number(row) for row in chained]
    first, last = (numbers[0], numbers[-1]) if numbers else (-1, -1)
    return Brakes(
        rows=_during(run, log.rows),
        first=first,
        last=last,
        broken=verify_chain(chained),
        missing=max(0, log.newest - last),
        unchained=len(log.rows) - len(chained),
    )


def verdict(brakes: Brakes) -> str:
    """One line about the whole log, whatever concerns the run."""
    found = []
    if brakes.broken:
        found.append(f"BROKEN at entry {brakes.broken[0]}: it was changed, or does not follow the entry before it.")
    if brakes.missing:
        found.append(f"INCOMPLETE: {brakes.missing} entries are missing at the end.")
    if brakes.whole and brakes.last >= 0:
        found.append(f"Whole: entries {brakes.first} to {brakes.last} of the fleet's log follow one another.")
    if brakes.unchained:
        found.append(f"{brakes.unchained} older entries carry no hash.")
    return " ".join(found) or "The fleet's log is empty."


def _during(run: Run, rows: Sequence[Row]) -> tuple[Row, ...]:
    """From the last entry before the run on, up to its end. A row whose time cannot be read is shown."""
    before = [row for row in rows if (at := _at(row)) is not None and at < run.created_at]
    end = run.ended_at
    rest = [row for row in rows if row not in before and not (end and (at := _at(row)) is not None and at > end)]
    return (*before[-1:], *rest)


def _at(row: Row) -> datetime | None:
    try:
        at = datetime.fromisoformat(str(row.get("at")))
    except ValueError:
        return None
    return at if at.tzinfo else None


def _number(row: Row) -> int:
    number = row.get("version")
    return number if isinstance(number, int) else -1
