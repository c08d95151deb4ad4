"""The mark of a run in the cluster itself: what survives the loss of the journal, and what a second bot sees.

A mark names run, instance, fence and operation. It is renewed while its run is kept; one that nobody has renewed for a
while belongs to a bot that is gone or has lost its journal, and a new run may go on from what it left (B085).
"""

from datetime import datetime, timedelta

from state.reasons import Code, Reason, reason
from state.run import Run
from state.snapshot import Snapshot

PREFIX = "gpu-migrate/"
RUN = f"{PREFIX}run"
INSTANCE = f"{PREFIX}instance"
RENEWED = f"{PREFIX}renewed"
STALE_AFTER = timedelta(minutes=3)


def facts(run: Run, fence: int, instance: str, at: datetime) -> dict[str, str]:
    """What our mark says, without the prefix."""
    op = run.intent.op if run.intent is not None else ""
    return {"run": run.id, "instance": instance, "fence": str(fence), "op": op, "renewed": at.isoformat()}


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
    return renewed.tzinfo is not None and snapshot.at - renewed < STALE_AFTER
