"""Which of our runs that are due an owner has to hear of: each passed alarm once, words of people until they are taken.

An alarm stays in the store until the next transition, and a run that waits for a person makes none for days; asked about it
at every tick, the owner would read every waiting run's inbox every second. Pure: moments come in as arguments.
"""

from collections.abc import Iterable

SPOKEN = "0"  # the moment of a run whose inbox is not empty
REPEAT_SECONDS = 30.0  # should the owner not have heard


class Alarms:
    """Remembers which alarm of which run was told, and when."""

    def __init__(self) -> None:
        self._told: dict[str, tuple[str, float]] = {}

    def news(self, due: Iterable[tuple[str, str]], now: float) -> tuple[str, ...]:
        """Runs to be told of now. `due`: run and moment, as the store has them."""
        told, new = {}, []
        for run_id, moment in due:
            last, at = self._told.get(run_id, ("", now))
            fresh = moment == SPOKEN or moment != last or now - at >= REPEAT_SECONDS
            told[run_id] = (moment, now) if fresh else (last, at)
            if fresh:
                new.append(run_id)
        self._told = told
        return tuple(new)
