"""See that everything is back: every GPU worker on the target, its GPUs usable, every workload as at plan time.

Source: guide, example 2 step 5.2 to 5.4 and "Next steps". Nothing is ordered here.
"""

from state.fleet import missing_from_pools, unwell
from state.gpu_workers import gpu_workers
from state.orders import Order
from state.reasons import Code, Reason, reason
from state.recovery import still_away
from state.run import StepKind
from state.snapshot import Snapshot
from state.steps.step import Done, Scope, Step, Verdict, Waiting
from state.versions import runs_minor


def check(_snapshot: Snapshot, _scope: Scope) -> tuple[Reason, ...]:
    """Looking is never forbidden."""
    return ()


def act(_snapshot: Snapshot, _scope: Scope) -> tuple[Order, ...]:
    """Nothing to order."""
    return ()


def verify(snapshot: Snapshot, scope: Scope) -> Verdict:
    for worker in gpu_workers(snapshot):
        if not runs_minor(worker.version, scope.target):
            found = reason(Code.WAIT_WORKER, worker=worker.id, state=worker.state, message=worker.version)
            return Waiting(found)
        if waiting := unwell(snapshot, scope.run, worker):
            return Waiting(waiting)
    for found in missing_from_pools(snapshot, scope.run):
        return Waiting(found)
    away = still_away(snapshot, scope.run)
    return Waiting(away) if away else Done()


STEP = Step(StepKind.VERIFY_MIGRATION, lambda d: d.verify, check, act, verify)
