"""When it is worth asking the eviction API beforehand, about which pods, and what its answers say on a card.

A forecast is a dry run of the real call, so it knows what no status of a budget tells: two budgets over one pod, a budget
that was never counted. It is a prediction all the same, and pods that were not asked about are judged by their budgets.
"""

from collections.abc import Iterable

from state.gpu_workers import old_gpu_nodes
from state.orders import EvictPod
from state.placing import blocked_by_budget, movable
from state.reasons import Code, Reason, reason
from state.run import Run, RunPhase, StepKind, StepPhase
from state.snapshot import Pod, Snapshot

_ASKING = (StepPhase.DUE, StepPhase.AWAITING_APPROVAL, StepPhase.APPROVED)


def worth_asking(run: Run) -> bool:
    """While a plan is made or shown, and while the question about a worker is due or open."""
    if run.phase in (RunPhase.PLANNING, RunPhase.PLANNED):
        return True
    done = {step.key for step in run.steps if step.phase is StepPhase.DONE}
    return run.phase is RunPhase.ACTIVE and any(
        step.kind is StepKind.MOVE_WORKLOADS and step.phase in _ASKING and done.issuperset(step.after)
        for step in run.steps
    )


def candidates(snapshot: Snapshot, target_minor: str) -> tuple[EvictPod, ...]:
    """Evictions that lie ahead: guarded pods first, then those with GPUs."""
    guarded = {uid for budget in snapshot.kubernetes.budgets for uid in budget.pods}
    pods = [
        (pod.uid not in guarded, not pod.gpus, EvictPod(pod.namespace, pod.name, pod.uid, node.name))
        for node in old_gpu_nodes(snapshot, target_minor)
        for pod in movable(snapshot, node)
        if pod.deleting_since is None
    ]
    return tuple(order for _, _, order in sorted(pods, key=lambda row: row[:2]))


def held_up(snapshot: Snapshot, pods: Iterable[Pod]) -> tuple[Reason, ...]:
    """What would hold the eviction of these pods up now: the forecast where there is one, else what budgets say."""
    told = {forecast.uid: forecast.blocked for forecast in snapshot.forecast}
    found: list[Reason] = []
    for pod in pods:
        if pod.uid not in told:
            found += blocked_by_budget(snapshot, (pod,))
        elif (why := told[pod.uid]) is not None:
            found.append(_shown(pod, why))
    return tuple(found)


def _shown(pod: Pod, why: Reason) -> Reason:
    """A budget that is known by name is told as budgets are; everything else in the eviction's own words."""
    if why.code is not Code.EVICTION_BLOCKED or not why.text("budget"):
        return why
    allowed = why.facts.get("allowed", 0)
    return reason(Code.PDB_BLOCKS, pod=pod.key, budget=why.text("budget"), allowed=allowed)
