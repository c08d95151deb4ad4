"""One migrated GPU node on which everything runs, and ways to spoil it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from state.readiness import NodeVerdict, judge
from state.snapshot import Container, KubernetesView, Pod, Snapshot
from tests.builders import NEW, READY_LABELS, START, container, iks, node, operands, pod, pool, worker

NAME = "10.240.1.1"
BORN = START + timedelta(minutes=5)
MACHINE = worker("n1", NEW, ip=NAME)

Change = Callable[[Snapshot], Snapshot]


def healthy() -> Snapshot:
    """One migrated node on which everything runs."""
    fresh = node(NAME, "n1", labels=READY_LABELS, created_at=BORN, ready_since=BORN, kubelet_version="v1.36.0+IKS")
    seen = KubernetesView("v1.36.0+IKS", (fresh,), operands(NAME, BORN))
    return Snapshot(BORN + timedelta(minutes=10), iks((MACHINE,), (pool(size=1),)), seen)


def on_node(**changes: Any) -> Change:
    def change(snapshot: Snapshot) -> Snapshot:
        fresh = replace(snapshot.kubernetes.nodes[0], **changes)
        return replace(snapshot, kubernetes=replace(snapshot.kubernetes, nodes=(fresh,)))

    return change


def labels(more: Mapping[str, str] | None = None, without: tuple[str, ...] = ()) -> Change:
    kept = {k: v for k, v in READY_LABELS.items() if k not in without}
    return on_node(labels={**kept, **(more or {})})


def pods(change: Callable[[tuple[Pod, ...]], tuple[Pod, ...]]) -> Change:
    def applied(snapshot: Snapshot) -> Snapshot:
        return replace(snapshot, kubernetes=replace(snapshot.kubernetes, pods=change(snapshot.kubernetes.pods)))

    return applied


def without(app: str) -> Change:
    return pods(lambda found: tuple(p for p in found if p.app != app))


def unready(app: str, *, init: tuple[Container, ...] = (), main: tuple[Container, ...] = (), **changes: Any) -> Change:
    """The pod of an operand as the API shows it when it is not ready: phase Pending while an init container runs."""
    given = {"ready": False, "phase": "Pending" if init else "Running", **changes}
    return pods(
        lambda found: tuple(
            replace(p, init_containers=init, containers=main or p.containers, **given) if p.app == app else p
            for p in found
        )
    )


def both(*changes: Change) -> Change:
    def applied(snapshot: Snapshot) -> Snapshot:
        for change in changes:
            snapshot = change(snapshot)
        return snapshot

    return applied


def running(name: str) -> Container:
    return container(name, ready=False)


def waiting(name: str, reason: str, restarts: int = 0, message: str = "") -> Container:
    return container(name, ready=False, restarts=restarts, state="waiting", reason=reason, message=message)


def ended(name: str) -> Container:
    return container(name, state="terminated", exit_code=0, reason="Completed")


def nfd_worker(**changes: Any) -> Pod:
    name = "gpu-operator-node-feature-discovery-worker-4xk2p"
    given = {"namespace": "gpu-operator", "part": "worker", "created_at": BORN, **changes}
    return pod(name, NAME, gpus=0, app="", **given)


def verdict(snapshot: Snapshot, expected: Mapping[str, int] | None = None) -> NodeVerdict:
    return judge(snapshot, MACHINE, expected or {"nvidia.com/gpu": 1})
