"""The marks of a run in the cluster itself: what survives the loss of the journal, and what a second bot sees.

A mark names run, instance, fence and the newest operation. One stands in a Lease: it is renewed while its run is kept.
Another is written onto the node of each worker right before its replacement is ordered, and goes with the node. Both say
for how long they are good (policy, `stale`); one that nobody has renewed for that long belongs to a bot that is gone or
has lost its journal, and a new run may go on from what it left (B085).
"""

from collections.abc import Iterator, Mapping
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
    """How many operations the marks know of this run; 0 when they are another's, or cannot be read."""
    numbers = [m.get(OP, "").removeprefix(f"{run.id}:op") for m in _marks(snapshot) if m.get(RUN) == run.id]
    return max((int(number) for number in numbers if number.isascii() and number.isdigit()), default=0)


def good_for(seconds: str) -> timedelta:
    """How long a mark counts after its last renewal, as it says itself."""
    return timedelta(seconds=int(seconds)) if seconds.isascii() and seconds.isdigit() and seconds else STALE_AFTER


def foreign_mark(run: Run, snapshot: Snapshot, *, fresh: bool) -> Reason | None:
    """Another run's mark that is still good (`fresh`), or one that nobody renewed; None when there is none such."""
    for mark in _marks(snapshot):
        if is_strange(mark, run.id) and is_fresh(mark, snapshot.at) is fresh:
            return stranger(mark)
    return None


def stranger(mark: Mapping[str, str]) -> Reason:
    """Whose mark it is."""
    return reason(Code.OTHER_RUN_IN_CLUSTER, run=mark.get(RUN, ""), instance=mark.get(INSTANCE, ""))


def is_strange(mark: Mapping[str, str], run_id: str) -> bool:
    """Whether it names another run."""
    return mark.get(RUN, "") not in ("", run_id)


def is_fresh(mark: Mapping[str, str], at: datetime) -> bool:
    """Whether somebody has renewed it lately; one without a readable time counts as old."""
    try:
        renewed = datetime.fromisoformat(mark.get(RENEWED, ""))
    except ValueError:
        return False
    return renewed.tzinfo is not None and at - renewed < good_for(mark.get(SECONDS, ""))


def _marks(snapshot: Snapshot) -> Iterator[Mapping[str, str]]:
    """The Lease's first: it is the one that is renewed."""
    yield snapshot.kubernetes.marker
    yield from (node.annotations for node in snapshot.kubernetes.nodes)
