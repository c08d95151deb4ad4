"""Notice that time went on without us, and stop: nothing may be decided on an older world than the one we acted on.

A restored backup or a failover hands us a run as it once was. Two things tell: this process saw a newer version, or the
mark in the cluster names an operation that the run has not counted yet. And while we stood still or were cut off for
longer than our mark is good, a bot on another store may have gone on from what we left: then its mark is there. Each time
the run pauses, goes on looking, and says so; a human compares and resumes (reference on state, section 4.3).
"""

from dataclasses import replace
from datetime import datetime

from state import marks
from state.events import Rewound
from state.news import tell
from state.reasons import Code, reason
from state.run import Pause, Run
from state.snapshot import Snapshot


def rewound(run: Run, event: Rewound) -> Run:
    """The store gave an older version of this run than we had seen."""
    return run if run.phase.ended else _stop(run, event.at, event.known, event.found)


def newer(run: Run, snapshot: Snapshot) -> Run:
    """The mark in the cluster is from a later moment of this very run; counted on from there, so that no op id repeats."""
    known = marks.ops_of(run, snapshot)
    if known <= run.ops:
        return run
    counted = replace(run, ops=known)
    return counted if _stopped(run, Code.STORE_REWOUND) else _stop(counted, snapshot.at, known, run.ops)


def displaced(run: Run, snapshot: Snapshot) -> Run:
    """Another run's fresh mark is in the cluster of a run at work: a bot on another store went on from what we left."""
    other = marks.foreign_mark(run, snapshot, fresh=True)
    if other is None or _stopped(run, Code.OTHER_RUN_IN_CLUSTER):
        return run
    at = snapshot.at
    return tell(replace(run, pause=Pause("", at, other)), f"displaced:{at.isoformat()}", at, other)


def _stopped(run: Run, code: Code) -> bool:
    """Whether people were told already and nobody has resumed since."""
    return run.pause is not None and run.pause.reason.code is code


def _stop(run: Run, at: datetime, known: int, found: int) -> Run:
    what = reason(Code.STORE_REWOUND, run=run.id, known=known, found=found)
    return tell(replace(run, pause=Pause("", at, what)), f"rewound:{at.isoformat()}", at, what)
