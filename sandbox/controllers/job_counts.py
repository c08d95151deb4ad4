"""How a Job counts its pods. Pure."""

from dataclasses import dataclass

from sandbox.controllers import pods
from sandbox.kubernetes_client import Json

FINALIZER = "batch.kubernetes.io/job-tracking"
BACKOFF_LIMIT = 6


@dataclass(frozen=True, slots=True)
class Tally:
    """A Job's count.

    Attributes:
        succeeded: pods counted for good. `failed` likewise.
        wins: uids that are written down as succeeded, but whose pods still carry the finalizer. `losses` likewise.
        settled: uids of pods that may lose their finalizer now.
    """

    succeeded: int
    failed: int
    wins: tuple[str, ...]
    losses: tuple[str, ...]
    settled: frozenset[str]


def tracked(pod: Json) -> bool:
    return FINALIZER in (pod["metadata"].get("finalizers") or ())


def counted(job: Json, mine: list[Json]) -> Tally:
    """The next count: what was written down and has lost its finalizer counts; what has newly ended is written down."""
    status = job.get("status") or {}
    written = status.get("uncountedTerminatedPods") or {}
    held = {pod["metadata"]["uid"]: pod for pod in mine if tracked(pod)}
    wins, losses = written.get("succeeded") or [], written.get("failed") or []
    fresh = {uid: pod for uid, pod in held.items() if _over(pod) and uid not in wins and uid not in losses}
    ignored = {uid for uid, pod in fresh.items() if pods.phase(pod) != "Succeeded" and _ignored(job, pod)}
    won = [uid for uid, pod in fresh.items() if pods.phase(pod) == "Succeeded"]
    lost = [uid for uid in fresh if uid not in won and uid not in ignored]
    return Tally(
        succeeded=int(status.get("succeeded") or 0) + sum(uid not in held for uid in wins),
        failed=int(status.get("failed") or 0) + sum(uid not in held for uid in losses),
        wins=tuple(uid for uid in wins if uid in held) + tuple(won),
        losses=tuple(uid for uid in losses if uid in held) + tuple(lost),
        settled=frozenset([*wins, *losses, *ignored]),
    )


def wanted_active(job: Json, tally: Tally) -> int:
    """How many pods shall run now."""
    parallel = int(job["spec"].get("parallelism", 1))
    done = tally.succeeded + len(tally.wins)
    goal = job["spec"].get("completions")
    if goal is None:
        return 0 if done else parallel
    return min(parallel, max(0, int(goal) - done))


def exhausted(job: Json, tally: Tally) -> bool:
    """Whether more pods have failed than the Job bears."""
    return tally.failed > int(job["spec"].get("backoffLimit", BACKOFF_LIMIT))


def finish_reason(job: Json) -> str:
    """Complete or Failed, as the conditions say; "" while it runs."""
    return next((kind for kind in ("Complete", "Failed") if pods.condition_true(job, kind)), "")


def _over(pod: Json) -> bool:
    return pods.finished(pod) or (pods.deleting(pod) and not pods.node_name(pod))


def _ignored(job: Json, pod: Json) -> bool:
    """Whether the pod failure policy takes the failure for none (first matching rule)."""
    for rule in (job["spec"].get("podFailurePolicy") or {}).get("rules") or ():
        for pattern in rule.get("onPodConditions") or ():
            row = pods.condition(pod, pattern["type"])
            if row is not None and row.get("status") == pattern.get("status", "True"):
                return bool(rule.get("action") == "Ignore")
    return False
