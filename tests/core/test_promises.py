"""Whatever people, the cloud and the cluster do: no machine goes without a yes to that very machine, and one at a time."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import chain

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from state.effects import GiveOrder, Observe
from state.events import (
    AbortRequested,
    Approved,
    Event,
    Observed,
    Ordered,
    OutcomeKind,
    PauseRequested,
    Rejected,
    ResumeRequested,
    RetryRequested,
)
from state.gpu_workers import gpu_workers
from state.machine import transition
from state.orders import CordonNode, CreatePool, EvictPod, Order, RemovePool, ReplaceWorker, UpdateMaster
from state.placing import movable
from state.reasons import Code, reason
from state.run import Decision, Run
from state.snapshot import Snapshot
from tests.builders import one_worker, pod, run, two_workers
from tests.core.model import APPROVER, OPERATOR, Drive, Model
from tests.core.worlds import change_node, change_worker, iks, join, with_pods

Twist = Callable[[Snapshot], Snapshot]
WORKERS = ("w1", "w2", "n1", "n2")


def on_each(change: Callable[[Snapshot, str], Snapshot]) -> tuple[Twist, ...]:
    return tuple((lambda world, worker=worker: change(world, worker)) for worker in WORKERS)


def arrives(world: Snapshot, worker: str, *, bare: bool) -> Snapshot:
    """A pod on the node of a worker: a Deployment's, or nobody's."""
    node, number = world.node_of(worker), len(world.kubernetes.pods)
    if node is None:
        return world
    fresh = pod(f"late-{number}-{'bare' if bare else 'owned'}", node.name, gpus=0, created_at=world.at)
    return with_pods(world, replace(fresh, owner=None) if bare else fresh)


def bare_pods_leave(world: Snapshot) -> Snapshot:
    kept = tuple(p for p in world.kubernetes.pods if p.owner is not None)
    return replace(world, kubernetes=replace(world.kubernetes, pods=kept))


TWISTS: tuple[Twist, ...] = (
    *on_each(lambda w, worker: change_node(w, worker, unschedulable=False)),
    *on_each(lambda w, worker: change_node(w, worker, unschedulable=True)),
    *on_each(lambda w, worker: change_node(w, worker, ready=False)),
    *on_each(lambda w, worker: change_node(w, worker, ready=True)),
    *on_each(lambda w, worker: change_worker(w, worker, health="critical")),
    *on_each(lambda w, worker: change_worker(w, worker, health="normal")),
    *on_each(lambda w, worker: arrives(w, worker, bare=False)),
    *on_each(lambda w, worker: arrives(w, worker, bare=True)),
    bare_pods_leave,
    lambda w: join(w, f"x{len(w.iks.workers)}", f"10.240.9.{len(w.iks.workers)}"),
    lambda w: iks(w, master=replace(w.iks.master, pending=True)),
    lambda w: iks(w, master=replace(w.iks.master, pending=False)),
)


@dataclass
class Watched(Drive):
    """Drives as the shell would, with calls that fare as told, and judges each order before it is given."""

    fates: list[str] = field(default_factory=list)
    seen: Snapshot | None = None

    def send(self, event: Event) -> None:
        queue: list[Event] = [event]
        while queue:
            now = queue.pop(0)
            self.seen = now.snapshot if isinstance(now, Observed) else self.seen
            step = transition(self.run, now)
            self.run = step.run
            for effect in step.effects:
                if isinstance(effect, GiveOrder):
                    assert self.seen is not None
                    judge(self.run, self.seen, effect.intent.order)
                    queue.append(self._fare(effect))
                elif isinstance(effect, Observe) and not queue:
                    queue.append(Observed(self.at, self.model.snapshot))

    def _fare(self, effect: GiveOrder) -> Event:
        fate = self.fates.pop(0) if self.fates else "accepted"
        detail = "" if fate in ("postponed", "refused", "lost before") else self._happen(effect.intent.order)
        kind = {"postponed": OutcomeKind.POSTPONED, "refused": OutcomeKind.REFUSED}.get(fate, OutcomeKind.UNKNOWN)
        kind = OutcomeKind.ACCEPTED if fate == "accepted" else kind
        return Ordered(self.at, effect.intent.op, kind, reason(Code.IKS_BUSY), detail)

    def _happen(self, order: Order) -> str:
        try:
            return self.model.order(order)
        except StopIteration:  # it is gone meanwhile
            return ""

    def twist(self, change: Twist) -> None:
        self.model.snapshot = change(self.model.snapshot)


def judge(now: Run, seen: Snapshot, order: Order) -> None:
    """What must hold for an order at the moment it leaves."""
    assert not now.held
    match order:
        case ReplaceWorker(worker_id=worker):
            assert agreed(now, f"move-workloads/{worker}")
            others = [w for w in gpu_workers(seen) if w.id != worker]
            assert all(w.normal for w in others), "one machine away at a time"
        case EvictPod(uid=uid, node=name):
            assert all(p.owner is not None for p in seen.kubernetes.pods if p.uid == uid), "nobody agreed to lose it"
            owner = next(n.worker_id for n in seen.kubernetes.nodes if n.name == name)
            assert agreed(now, f"move-workloads/{owner}") or agreed(now, "remove-temporary-pool")
        case CordonNode():
            assert any(agreed(now, a.step_key) for a in now.approvals if a.step_key.startswith(("move", "remove")))
        case RemovePool(pool_id=pool):
            nodes = [n for n in (seen.node_of(w.id) for w in seen.workers_in(pool)) if n is not None]
            assert not any(movable(seen, n) for n in nodes), "emptied first"
            assert agreed(now, "remove-temporary-pool")
        case UpdateMaster() | CreatePool():
            assert now.intent is not None
            assert agreed(now, now.intent.step_key)


def agreed(now: Run, key: str) -> bool:
    """Whether the last question about a step was answered with yes."""
    asked = [a for a in now.approvals if a.step_key == key]
    return bool(asked) and asked[-1].decision is Decision.APPROVED


def answer(d: Watched, kind: type[Approved | Rejected]) -> None:
    for question in d.run.approvals:
        if question.decision is None:
            d.say(kind, APPROVER, approval=question.id, revision=question.revision)
            return


ODD = st.one_of(
    st.sampled_from(TWISTS),
    st.sampled_from(TWISTS),
    st.sampled_from(["look", "no", PauseRequested, ResumeRequested, RetryRequested]),
    st.sampled_from([*["yes"] * 9, AbortRequested]),
)
MOVES = st.sampled_from([("yes",) * 7, ("yes",) * 3, ("yes", ResumeRequested, RetryRequested, "yes")]).flatmap(
    lambda usual: st.tuples(*map(st.just, usual), ODD)
)
"""Mostly runs get on, and are let go on after a stop; then something odd happens."""


@pytest.mark.parametrize("world", [one_worker, two_workers], ids=["example 1", "example 2"])
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    moves=st.lists(MOVES, min_size=5, max_size=20),
    fates=st.lists(
        st.sampled_from(["accepted"] * 6 + ["lost before", "lost after", "postponed", "refused"]), max_size=40
    ),
)
def test_given_any_history_when_an_order_leaves_then_somebody_agreed_to_it_and_nothing_else_is_away(
    world: Callable[[], Snapshot], moves: list[tuple[object, ...]], fates: list[str]
) -> None:
    d = Watched(Model(world()), run(), fates=fates)
    d.send(Observed(d.at, d.model.snapshot))

    for move in chain.from_iterable(moves):
        match move:
            case "yes" | "no":
                answer(d, Approved if move == "yes" else Rejected)
            case "look":
                pass
            case type() as kind:
                d.say(kind, OPERATOR)
            case _:
                d.twist(move)  # type: ignore[arg-type]
        d.model.tick()
        d.send(Observed(d.at, d.model.snapshot))

    assert d.run.intent is None or not d.run.phase.ended
