"""Change worlds in a word: snapshots are nested records, and a test wants to name one thing."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from state.baseline import Baseline
from state.planner import baseline
from state.run import Run
from state.snapshot import Node, Pod, Snapshot, Worker
from tests.builders import NEW, READY_LABELS, START, node, operands, run, two_workers, worker

LATER = START + timedelta(hours=1)


def iks(world: Snapshot, **changes: Any) -> Snapshot:
    return replace(world, iks=replace(world.iks, **changes))


def kubernetes(world: Snapshot, **changes: Any) -> Snapshot:
    return replace(world, kubernetes=replace(world.kubernetes, **changes))


def at(world: Snapshot, moment: datetime) -> Snapshot:
    return replace(world, at=moment)


def with_pods(world: Snapshot, *more: Pod) -> Snapshot:
    return kubernetes(world, pods=(*world.kubernetes.pods, *more))


def without_pods(world: Snapshot, unwanted: Callable[[Pod], bool]) -> Snapshot:
    return kubernetes(world, pods=tuple(p for p in world.kubernetes.pods if not unwanted(p)))


def change_worker(world: Snapshot, worker_id: str, **changes: Any) -> Snapshot:
    fresh = (replace(w, **changes) if w.id == worker_id else w for w in world.iks.workers)
    return iks(world, workers=tuple(fresh))


def change_node(world: Snapshot, worker_id: str, **changes: Any) -> Snapshot:
    """Labels are added to those that are there; None takes one away."""
    labels = changes.pop("labels", {})

    def changed(old: Node) -> Node:
        merged = {k: v for k, v in {**old.labels, **labels}.items() if v is not None}
        return replace(old, labels=merged, **changes)

    fresh = (changed(n) if n.worker_id == worker_id else n for n in world.kubernetes.nodes)
    return kubernetes(world, nodes=tuple(fresh))


def change_pod(world: Snapshot, app: str, **changes: Any) -> Snapshot:
    fresh = (replace(p, **changes) if p.app == app else p for p in world.kubernetes.pods)
    return kubernetes(world, pods=tuple(fresh))


def new_worker(worker_id: str = "n1", name: str = "10.240.1.1", **changes: Any) -> Worker:
    return worker(worker_id, NEW, ip=name, **changes)


def new_node(worker_id: str = "n1", name: str = "10.240.1.1", **changes: Any) -> Node:
    """A node on the target whose GPUs are there."""
    given: dict[str, Any] = {
        "labels": READY_LABELS,
        "created_at": START,
        "ready_since": START,
        "kubelet_version": "v1.36.0+IKS",
        **changes,
    }
    return node(name, worker_id, **given)


def join(world: Snapshot, worker_id: str = "n1", name: str = "10.240.1.1") -> Snapshot:
    """The world with one more worker: on the target, healthy, its operands ready."""
    world = iks(world, workers=(*world.iks.workers, new_worker(worker_id, name)))
    world = kubernetes(world, nodes=(*world.kubernetes.nodes, new_node(worker_id, name)))
    return with_pods(world, *operands(name, START))


def leave(world: Snapshot, worker_id: str) -> Snapshot:
    """The world without a worker, its node and what ran there."""
    gone = world.node_of(worker_id)
    names = {gone.name} if gone else set()
    world = iks(world, workers=tuple(w for w in world.iks.workers if w.id != worker_id))
    world = kubernetes(world, nodes=tuple(n for n in world.kubernetes.nodes if n.worker_id != worker_id))
    return without_pods(world, lambda p: p.node_name in names)


def fixed(world: Snapshot | None = None, **changes: Any) -> Run:
    """A run whose baseline is this world's (the guide's example 2)."""
    taken: Baseline = baseline(world or two_workers())
    return run(baseline=taken, **changes)
