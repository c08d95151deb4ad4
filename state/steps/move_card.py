"""The card that asks for one worker: what it loses, where its pods go, what needs somebody's consent."""

from collections.abc import Iterable

from state.foresight import held_up
from state.placing import losses, movable, without_room
from state.reasons import Code, Reason, reason
from state.run import StepPhase
from state.shortfall import forecast
from state.snapshot import Node, Pod, Snapshot
from state.steps.closing import to_close
from state.steps.step import Scope


def card(snapshot: Snapshot, scope: Scope) -> tuple[Reason, ...]:
    worker, node = snapshot.worker(scope.step.worker_id), snapshot.node_of(scope.step.worker_id)
    if worker is None or node is None:
        return ()
    pods = movable(snapshot, node)
    gpus = tuple(f"{count} {name}" for name, count in node.allocatable.items() if count)
    lines = [reason(Code.CARD_WORKER, worker=worker.id, node=node.name, flavor=worker.flavor, gpus=gpus)]
    lines += _closing(snapshot, scope, node)
    lines += _moving(snapshot, scope, pods)
    lines += losses(pods, operator_namespaces(snapshot, scope)).reasons()
    lines += held_up(snapshot, pods)
    return (*lines, reason(Code.CARD_DELETED_FOR_GOOD, worker=worker.id), reason(Code.CARD_NOTHING_HAPPENS))


def operator_namespaces(snapshot: Snapshot, scope: Scope) -> frozenset[str]:
    releases = {r.namespace for r in snapshot.kubernetes.releases}
    return frozenset(releases | {scope.run.policy.chart.namespace})


def unasked(snapshot: Snapshot, scope: Scope, nodes: Iterable[Node]) -> tuple[Reason, ...]:
    """Pods that need consent and came after the click: had they been there, the answer would not have counted."""
    if scope.step.phase not in (StepPhase.APPROVED, StepPhase.ACTING, StepPhase.VERIFYING):
        return ()
    found = []
    for node in nodes:
        lost = losses(movable(snapshot, node), operator_namespaces(snapshot, scope)).reasons()
        pods = tuple(dict.fromkeys(pod for line in lost for pod in line.facts["pods"]))  # type: ignore[union-attr]
        found += [reason(Code.NEW_PODS, node=node.name, pods=pods)] if pods else []
    return tuple(found)


def _closing(snapshot: Snapshot, scope: Scope, node: Node) -> list[Reason]:
    others = tuple(n.name for n in to_close(snapshot, scope) if n.uid != node.uid and not n.unschedulable)
    return [reason(Code.CARD_CLOSE_OLD, nodes=others)] if others else []


def _moving(snapshot: Snapshot, scope: Scope, pods: tuple[Pod, ...]) -> list[Reason]:
    users = [p for p in pods if p.gpus and p.owner is not None]
    if not users:
        return []
    closed = frozenset(n.name for n in to_close(snapshot, scope))
    waiting = without_room(snapshot, users, closed)
    lines = [reason(Code.CARD_PODS_MOVE, pods=tuple(p.key for p in users))]
    lines += [reason(Code.CARD_PODS_PENDING, pods=tuple(p.key for p in waiting))] if waiting else []
    return [*lines, *forecast(scope.run, sum(sum(p.gpus.values()) for p in waiting))]
