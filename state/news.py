"""Notice what people want to hear once: nodes Ready, GPUs usable, GPUs lost again, steps stuck, the end.

Also keeps the memory that readiness needs: since when a worker's GPUs have looked good. A dip shorter than the stable
window is not spoken of; a longer one withdraws the good news (B017, B096). Every note has a natural key, so that restarts,
re-lists and doubled events tell nothing twice (B097).
"""

from dataclasses import replace
from datetime import datetime

from state.expecting import expected_of
from state.gpu_workers import gpu_workers, running_version
from state.readiness import judge
from state.reasons import Code, Reason, reason
from state.run import Note, Run
from state.snapshot import Node, Snapshot, Worker
from state.versions import runs_minor


def tell(run: Run, key: str, at: datetime, what: Reason) -> Run:
    """Add a note unless it was told before."""
    if any(note.key == key for note in run.notes):
        return run
    return replace(run, notes=(*run.notes, Note(key, at, what)))


def forget(run: Run, key: str) -> Run:
    """Allow a note to be told again (its opposite happened)."""
    return replace(run, notes=tuple(n for n in run.notes if n.key != key))


def notice(run: Run, snapshot: Snapshot) -> Run:
    """The run after this look: health memory and news of every new GPU worker."""
    if run.baseline is None:
        return run
    known = {m.worker_id for m in run.baseline.workers}
    for worker in gpu_workers(snapshot):
        node = snapshot.node_of(worker.id)
        if not runs_minor(running_version(worker, node), run.policy.target_minor):
            continue
        run = _health(run, snapshot, worker)
        if node is not None and worker.id not in known:
            run = _arrival(run, snapshot, worker, node)
    return _gone(run, snapshot)


def _health(run: Run, snapshot: Snapshot, worker: Worker) -> Run:
    """Since when a worker looks good or not; one whose node has vanished does not."""
    assert run.baseline is not None
    verdict = judge(snapshot, worker, expected_of(worker, run.baseline))
    since, dips = dict(run.healthy_since), dict(run.dips)
    if verdict.healthy:
        since.setdefault(worker.id, snapshot.at)
        dips.pop(worker.id, None)
        return _keep(run, since, dips)
    was_good = since.pop(worker.id, None) is not None
    if was_good:
        dips[worker.id] = snapshot.at
    run = _keep(run, since, dips)
    dip = dips.get(worker.id)
    told = any(n.key == f"gpus:{worker.id}" for n in run.notes)
    if told and dip is not None and snapshot.at - dip >= run.policy.durations.stable and not worker.leaving:
        what = reason(Code.GPUS_LOST, verdict.reason, worker=worker.id, node=verdict.node)
        return forget(tell(run, f"gpus-lost:{worker.id}:{dip.isoformat()}", snapshot.at, what), f"gpus:{worker.id}")
    return run


def _keep(run: Run, since: dict[str, datetime], dips: dict[str, datetime]) -> Run:
    if since == dict(run.healthy_since) and dips == dict(run.dips):
        return run
    return replace(run, healthy_since=since, dips=dips)


def _arrival(run: Run, snapshot: Snapshot, worker: Worker, node: Node) -> Run:
    if node.ready:
        what = reason(Code.NODE_READY, worker=worker.id, node=node.name, version=node.kubelet_version)
        run = tell(run, f"node-ready:{worker.id}", snapshot.at, what)
    since = run.healthy_since.get(worker.id)
    if since is not None and snapshot.at - since >= run.policy.durations.stable:
        gpus = tuple(f"{count} {name}" for name, count in node.allocatable.items() if count)
        what = reason(Code.GPUS_READY, worker=worker.id, node=node.name, gpus=gpus)
        run = tell(run, f"gpus:{worker.id}", snapshot.at, what)
    return run


def _gone(run: Run, snapshot: Snapshot) -> Run:
    """Forget the health of workers that left."""
    alive = {w.id for w in gpu_workers(snapshot) if not w.leaving}
    since = {k: v for k, v in run.healthy_since.items() if k in alive}
    dips = {k: v for k, v in run.dips.items() if k in alive}
    return _keep(run, since, dips)
