"""Count failed steps of the whole fleet, and set its brake when too many runs fail at once.

The count stands in the store, once per run and note, so that restarts and several replicas count alike; each start of a
keeper says again what its run holds. Whether the brake stops an order is not decided here.
"""

from collections.abc import Iterable

import structlog

from bot.ports import Fleet
from state.braking import Limit, told_reason
from state.errors import GpuMigrateError
from state.run import Note, Run

log = structlog.get_logger()


class FailureRate:
    """Steps that failed lately, over all runs."""

    def __init__(self, fleet: Fleet, limit: Limit) -> None:
        self._fleet = fleet
        self._limit = limit

    async def count(self, run: Run, notes: Iterable[Note]) -> None:
        """Count failures of a run; never raises, since the next start of its keeper counts them again."""
        try:
            for note in notes:
                await self._one(run, note)
        except GpuMigrateError as error:
            log.warning("failure not counted", run=run.id, reason=str(error.reason))

    async def _one(self, run: Run, note: Note) -> None:
        if self._limit.runs == 0:
            return
        lately = await self._fleet.failed(f"{run.id} {run.cluster} {note.key}", note.at, self._limit.window)
        failed = {line.split(" ")[0]: line.split(" ")[1] for line in lately}
        if len(failed) >= self._limit.runs and await self._fleet.get_brake() is None:
            log.error("too many runs fail: every run is stopped", clusters=sorted(failed.values()))
            await self._fleet.set_brake("", told_reason(failed.values()))
