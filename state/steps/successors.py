"""Count new workers of a pool against the replacements that this run ordered there."""

from state.fleet import new_workers, ordered_replacements
from state.reasons import Code, Reason, reason
from state.run import StepKind
from state.snapshot import Snapshot
from state.steps.step import Scope


def strangers(snapshot: Snapshot, scope: Scope) -> tuple[Reason, ...]:
    """More new workers in the pool than replacements ordered by this run: somebody else is at work, or a double."""
    fresh = new_workers(snapshot, scope.run, scope.step.pool_id)
    old = snapshot.worker(scope.step.worker_id)
    ours = ordered_replacements(scope.run, scope.step.pool_id)
    allowed = max(ours, before(scope) + (1 if old is None or old.leaving else 0))
    if len(fresh) <= allowed:
        return ()
    return (reason(Code.STRANGER, workers=tuple(w.id for w in fresh), pool=scope.step.pool_id),)


def before(scope: Scope) -> int:
    """Replacements of this pool that come before this one in the plan."""
    mine = [s.key for s in scope.run.steps if s.kind is StepKind.REPLACE_WORKER and s.pool_id == scope.step.pool_id]
    return mine.index(scope.step.key)
