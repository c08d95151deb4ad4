"""Compare GPU workloads now with the baseline taken at plan time, judged per owner, never by counting pods.

A workload is back when as many of its pods are available as were at plan time, or as many as it wants now if people
scaled it down since (B032: 39 rejected pods beside one that runs are fine). Pending before never blocks; an owner
that is gone was deleted by somebody and is not missed; finished Jobs are no workload to recover (B016).
"""

from state.reasons import Code, Reason, reason
from state.run import Baseline
from state.snapshot import Owner, Snapshot, Workload


def unrecovered(snapshot: Snapshot, baseline: Baseline) -> tuple[Reason, ...]:
    """One WORKLOAD_UNRECOVERED per workload that is not back yet; empty when all are."""
    found: list[Reason] = []
    now = {_key(w.owner): w for w in snapshot.kubernetes.workloads}
    for before in baseline.workloads:
        current = now.get(_key(before.owner))
        if current is None or current.finished:
            continue
        want = min(before.available, current.desired)
        if current.available < want:
            found.append(_missing(snapshot, current, want))
    return tuple(found)


def _missing(snapshot: Snapshot, workload: Workload, want: int) -> Reason:
    waiting = [
        p
        for p in snapshot.kubernetes.pods
        if p.owner is not None and _key(p.owner) == _key(workload.owner) and not p.finished
    ]
    why = next((p.scheduled_message for p in waiting if p.scheduled_message), "")
    return reason(
        Code.WORKLOAD_UNRECOVERED, workload=str(workload.owner), have=workload.available, want=want, detail=why
    )


def _key(owner: Owner) -> tuple[str, str, str]:
    return owner.kind, owner.namespace, owner.name
