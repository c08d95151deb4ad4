"""Compare GPU workloads now with the baseline taken at plan time, judged per owner, never by counting pods.

A workload is back when as many of its pods are available as were at plan time, or as many as it wants now if people
scaled it down since (B032: 39 rejected pods beside one that runs are fine). Pending before never blocks; an owner
that is gone was deleted by somebody and is not missed; finished Jobs are no workload to recover (B016).
"""

from collections import Counter
from collections.abc import Iterable

from state.placing import without_room
from state.reasons import Code, Reason, reason
from state.run import Baseline, Run
from state.scheduling import parts
from state.snapshot import Owner, Pod, Snapshot, Worker, Workload

REJECTED = "UnexpectedAdmissionError"
MANY = 5
"""Rejected pods on one node that are no bad luck any more (B037)."""

Key = tuple[str, str, str]


def unrecovered(snapshot: Snapshot, run: Run) -> tuple[Reason, ...]:
    """One WORKLOAD_UNRECOVERED per workload that is not back yet; empty when all are."""
    assert run.baseline is not None
    return tuple(_missing(snapshot, run, now, want) for now, want in _short(snapshot, run.baseline))


def still_away(snapshot: Snapshot, run: Run) -> Reason | None:
    """What a step waits for: the workload that is not back, or all of them with the first one behind it."""
    missing = unrecovered(snapshot, run)
    if len(missing) < 2:
        return missing[0] if missing else None
    return reason(Code.WAIT_WORKLOADS, missing[0], workloads=tuple(found.text("workload") for found in missing))


def _short(snapshot: Snapshot, baseline: Baseline) -> tuple[tuple[Workload, int], ...]:
    """Workloads that have fewer pods available than they should, with how many that is."""
    now = {_key(w.owner): w for w in snapshot.kubernetes.workloads}
    pairs = ((now.get(_key(before.owner)), before) for before in baseline.workloads)
    wanted = ((current, min(before.available, current.desired)) for current, before in pairs if current is not None)
    return tuple((current, want) for current, want in wanted if not current.finished and current.available < want)


def _missing(snapshot: Snapshot, run: Run, workload: Workload, want: int) -> Reason:
    waiting = tuple(
        p
        for p in snapshot.kubernetes.pods
        if p.owner is not None and _key(p.owner) == _key(workload.owner) and not p.finished and not p.node_name
    )
    told = next((p.scheduled_message for p in waiting if p.scheduled_message), "")
    return reason(
        Code.WORKLOAD_UNRECOVERED,
        _not_retried(snapshot, run, waiting),
        workload=str(workload.owner),
        have=workload.available,
        want=want,
        scheduling=tuple(str(part) for part in parts(told)),
    )


def _not_retried(snapshot: Snapshot, run: Run, waiting: Iterable[Pod]) -> Reason | None:
    """Pods that fit now, by all that the scheduler has said against them: it has not tried again (B028)."""
    stable = run.policy.durations.stable
    old = tuple(p for p in waiting if p.gpus and snapshot.at - p.created_at >= stable and _only_gpus_lacked(p))
    stuck = {p.uid for p in old} - {p.uid for p in without_room(snapshot, old, frozenset())}
    keys = tuple(p.key for p in old if p.uid in stuck)
    return reason(Code.SCHEDULER_NOT_RETRIED, pods=keys) if keys else None


def _only_gpus_lacked(pod: Pod) -> bool:
    """Whether nothing was said that a look at GPUs, cordons and taints cannot refute."""
    return all(part.about_gpus or part.about_closed_nodes for part in parts(pod.scheduled_message))


def turned_away(snapshot: Snapshot, baseline: Baseline) -> tuple[Pod, ...]:
    """Pods of the baseline's workloads that a kubelet refused; their owners have made others since (B032)."""
    ours = {_key(w.owner) for w in baseline.workloads}
    return tuple(p for p in snapshot.kubernetes.pods if _rejected(p) and p.owner is not None and _key(p.owner) in ours)


def turned_off(snapshot: Snapshot, run: Run, workers: Iterable[Worker]) -> Reason | None:
    """A node whose kubelet refuses the pods of a workload that is not back: waiting will not help (B037)."""
    assert run.baseline is not None
    short = {_key(w.owner) for w, _ in _short(snapshot, run.baseline)}
    nodes = [node for node in (snapshot.node_of(w.id) for w in workers) if node is not None]
    refused = Counter(
        node.name
        for node in nodes
        for p in snapshot.pods_on(node)
        if _rejected(p) and p.owner is not None and _key(p.owner) in short
    )
    worst = next((name for name, count in refused.most_common(1) if count >= MANY), None)
    return reason(Code.ADMISSION_REFUSED, node=worst, count=refused[worst]) if worst is not None else None


def _rejected(pod: Pod) -> bool:
    return pod.phase == "Failed" and pod.reason == REJECTED


def _key(owner: Owner) -> Key:
    return owner.kind, owner.namespace, owner.name
