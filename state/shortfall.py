"""Foretell the GPU-minutes that workloads will miss: GPUs without a place, times what a replacement takes.

An estimate for humans, nothing is decided by it. It counts GPUs, whatever their resource name, and takes the cluster as it
is now; once the run has replaced a worker, the time that took is the better guess for the next one.
"""

from datetime import timedelta
from math import ceil

from state.gpu_workers import advertised, gpu_workers
from state.placing import free_gpus, movable
from state.reasons import Code, Reason, reason
from state.run import Run, StepKind, StepPhase
from state.snapshot import Node, Snapshot
from state.versions import runs_minor


def forecast(run: Run, gpus: int) -> tuple[Reason, ...]:
    """The line about `gpus` GPUs whose workloads wait for a replacement; none when nobody has to wait."""
    seconds = typical(run).total_seconds()
    lost = ceil(gpus * seconds / 60)
    return (reason(Code.CARD_FORECAST, gpus=gpus, seconds=int(seconds), lost=lost),) if gpus else ()


def typical(run: Run) -> timedelta:
    """How long a replacement takes: the last one of this run, else the policy's guess."""
    measured = [
        (step.finished_at, step.finished_at - step.started_at)
        for step in run.steps
        if step.kind is StepKind.REPLACE_WORKER and step.phase is StepPhase.DONE and step.ordered_at is not None
        if step.started_at is not None and step.finished_at is not None
    ]
    return max(measured)[1] if measured else run.policy.durations.typical_replace


def of_plan(run: Run, snapshot: Snapshot) -> tuple[Reason, ...]:
    """One line about all workers that the plan empties."""
    return forecast(run, _without_a_place(run, snapshot))


def _without_a_place(run: Run, snapshot: Snapshot) -> int:
    """Empty the workers in the plan's order, each giving its successor's GPUs back; count what waits meanwhile."""
    nodes = [snapshot.node_of(step.worker_id) for step in run.steps if step.kind is StepKind.MOVE_WORKLOADS]
    leaving = [node for node in nodes if node is not None]
    free = _free_elsewhere(run, snapshot) + _temporary(run, snapshot, leaving)
    open_until_its_turn = not run.policy.close_old_nodes
    free += sum(_free(snapshot, node) for node in leaving) if open_until_its_turn else 0
    waiting = 0
    for node in leaving:
        free -= _free(snapshot, node) if open_until_its_turn else 0
        wanted = sum(sum(pod.gpus.values()) for pod in movable(snapshot, node))
        waiting += max(0, wanted - free)
        free = max(0, free + sum(advertised(node).values()) - wanted)
    return waiting


def _free(snapshot: Snapshot, node: Node) -> int:
    return sum(free_gpus(snapshot, node).values())


def _free_elsewhere(run: Run, snapshot: Snapshot) -> int:
    """Free GPUs of workers that stay: those on the target already, a temporary pool among them."""
    stay = [w for w in gpu_workers(snapshot) if runs_minor(w.version, run.policy.target_minor)]
    nodes = (snapshot.node_of(w.id) for w in stay)
    return sum(_free(snapshot, n) for n in nodes if n is not None and n.ready and not n.unschedulable)


def _temporary(run: Run, snapshot: Snapshot, leaving: list[Node]) -> int:
    """GPUs of a temporary pool that the plan still has to make: one worker like the first."""
    planned = any(step.kind is StepKind.ADD_TEMPORARY_POOL for step in run.steps)
    name = run.temporary_pool.name if run.temporary_pool else ""
    there = any(w.pool_name == name and snapshot.node_of(w.id) is not None for w in snapshot.iks.workers)
    return sum(advertised(leaving[0]).values()) if planned and leaving and not there else 0
