"""The mark of a run in the cluster itself: what survives the loss of the journal, and what a second bot sees.

A mark names run, instance, fence and the newest operation. It is renewed while its run is kept, and says for how long
it is good (policy, `stale`); one that nobody has renewed for that long belongs to a bot that is gone or has lost its
journal, and a new run may go on from what it left (B085).
"""

from datetime import datetime, timedelta

from state.reasons import Code, Reason, reason
from state.run import Run
from state.snapshot import Snapshot

PREFIX = "gpu-migrate/"
RUN = f"{PREFIX}run"
INSTANCE = f"{PREFIX}instance"
RENEWED = f"{PREFIX}renewed"
SECONDS = f"{PREFIX}seconds"
OP = f"{PREFIX}op"
STALE_AFTER = timedelta(minutes=3)
"""For a mark that does not say for how long it is good."""


def facts(run: Run, fence: int, instance: str, at: datetime) -> dict[str, str]:
    """What our mark says, without the prefix."""
    seconds = str(max(1, int(run.policy.durations.stale.total_seconds())))
    found = {"run": run.id, "instance": instance, "fence": str(fence), "op": op_id(run)}
    return {**found, "renewed": at.isoformat(), "seconds": seconds}


def op_id(run: Run) -> str:
    """The newest operation of a run."""
    return f"{run.id}:op{run.ops}"


def ops_of(run: Run, snapshot: Snapshot) -> int:
    """How many operations the mark knows of this run; 0 when it is another's, or cannot be read."""
    mark = snapshot.kubernetes.marker
    number = mark.get(OP, "").removeprefix(f"{run.id}:op")
    return int(number) if mark.get(RUN) == run.id and number.isascii() and number.isdigit() else 0


def good_for(seconds: str) -> timedelta:
    """How long a mark counts after its last renewal, as it says itself."""
    return timedelta(seconds=int(seconds)) if seconds.isascii() and seconds.isdigit() and seconds else STALE_AFTER


def foreign_mark(run: Run, snapshot: Snapshot) -> Reason | None:
    """Another run's mark in the cluster; None when there is none, or it is ours."""
    mark = snapshot.kubernetes.marker
    other = mark.get(RUN, "")
    if other in ("", run.id):
        return None
    return reason(Code.OTHER_RUN_IN_CLUSTER, run=other, instance=mark.get(INSTANCE, ""))


def is_fresh(snapshot: Snapshot) -> bool:
    """Whether somebody has renewed the mark lately; one without a readable time counts as old."""
    try:
        renewed = datetime.fromisoformat(snapshot.kubernetes.marker.get(RENEWED, ""))
    except ValueError:
        return False
    return renewed.tzinfo is not None and snapshot.at - renewed < good_for(snapshot.kubernetes.marker.get(SECONDS, ""))
