"""Claim a cluster for a run: the Lease is ours, or it says whose it is.

etcd decides: every write names the revision that was read. A mark that nobody has renewed for a while is taken over; a
fresh one of another run is left alone, whatever bot on whatever store wrote it.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from bot.adapters.kubernetes.marker import PREFIX, Marker, Markers
from state.errors import TransientError
from state.marks import RUN, SECONDS, good_for
from state.reasons import Code, reason

TRIES = 5


class Claims:
    """The mark of one cluster."""

    def __init__(self, markers: Markers, clock: Callable[[], datetime]) -> None:
        self._markers = markers
        self._clock = clock

    async def claim(self, facts: Mapping[str, str], holder: str) -> Mapping[str, str]:
        """Write our mark; the facts that stand there afterwards, ours or a fresh stranger's.

        Raises TransientError when others keep writing, and what the connection raises.
        """
        for _ in range(TRIES):
            found = await self._markers.read()
            if found is not None and self._theirs(found, facts):
                return found.annotations
            marked = {f"{PREFIX}{name}": value for name, value in facts.items()}
            seconds = int(good_for(facts.get("seconds", "")).total_seconds())
            written = await self._markers.write(Marker(holder, marked, seconds=seconds), found)
            if written is not None:
                return written.annotations
        raise TransientError(reason(Code.API_UNREACHABLE, detail="the mark in the cluster keeps changing"))

    async def release(self, run_id: str) -> None:
        """Take our mark away; another run's stays."""
        for _ in range(TRIES):
            found = await self._markers.read()
            if found is None or found.annotations.get(RUN) != run_id or await self._markers.remove(found):
                return

    def _theirs(self, found: Marker, facts: Mapping[str, str]) -> bool:
        other = found.annotations.get(RUN, "")
        age = self._clock() - found.renewed_at if found.renewed_at is not None else timedelta.max
        fresh = age < good_for(found.annotations.get(SECONDS, ""))
        return other not in ("", facts.get("run", "")) and fresh
