"""Tell a cluster in which nothing is left to do: a run there is over before it begins.

Judged as the steps themselves would judge it, but for the time that GPUs have to stay good: labels, operator and control
plane are done, every GPU worker is well on the target with its GPUs, and no temporary pool costs money.
"""

from state.expecting import expected_of
from state.gpu_workers import gpu_workers, running_version
from state.readiness import judge
from state.run import Run, StepKind, StepRun
from state.snapshot import Snapshot, Worker
from state.steps import STEPS
from state.steps.step import Done, Scope
from state.steps.temporary import left_over
from state.versions import runs_minor

_FIRST = (StepKind.LABEL_NODES, StepKind.INSTALL_OPERATOR, StepKind.UPDATE_MASTER)


def migrated(run: Run, snapshot: Snapshot) -> bool:
    """Whether a migration would find every step done. The run needs its baseline."""
    workers = gpu_workers(snapshot)
    if not workers or left_over(snapshot):
        return False
    scopes = (Scope(run, StepRun(kind.value, kind)) for kind in _FIRST)
    done = all(isinstance(STEPS[scope.step.kind].verify(snapshot, scope), Done) for scope in scopes)
    return done and all(_well(run, snapshot, worker) for worker in workers)


def _well(run: Run, snapshot: Snapshot, worker: Worker) -> bool:
    assert run.baseline is not None
    there = worker.normal and runs_minor(running_version(worker, snapshot.node_of(worker.id)), run.policy.target_minor)
    return there and judge(snapshot, worker, expected_of(worker, run.baseline)).healthy
