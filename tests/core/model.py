"""A cluster in values: applies orders, lets time pass in a few coarse stages, and keeps a journal of what was accepted.

For tests of the core only: it knows no HTTP and no clock. The pretend world with its real servers is `sandbox`.
"""

import itertools
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from state.effects import Answer, GiveOrder, Observe
from state.events import Approved, Began, Event, HumanEvent, Observed, Ordered, OutcomeKind, Person
from state.machine import transition
from state.opt_out import DEPLOY_PREFIX, DRIVER, OPERANDS
from state.orders import (
    CordonNode,
    CreatePool,
    EvictPod,
    InstallChart,
    LabelNode,
    Order,
    RemovePool,
    ReplaceWorker,
    UncordonNode,
    UpdateMaster,
    natural_key,
)
from state.reasons import Reason
from state.run import Run
from state.snapshot import Node, Pod, Snapshot, Zone
from tests.builders import CLUSTER_POLICY, NEW, READY_LABELS, START, node, operands, pod, pool, release, worker

APPROVER = Person("U0APPROVER1", channel="C1")
OPERATOR = Person("U0OPERATOR1", channel="C1")


@dataclass
class Model:
    """The world. `stage` counts ticks since a worker was ordered: it becomes normal, Ready, healthy one after the other."""

    snapshot: Snapshot
    journal: list[str] = field(default_factory=list)
    ages: dict[str, int] = field(default_factory=dict)
    leaving: dict[str, int] = field(default_factory=dict)
    counter: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))
    master_ticks: int = 0

    def order(self, order: Order) -> str:
        """Accept an order; returns the detail an adapter would."""
        self.journal.append(natural_key(order))
        match order:
            case LabelNode():
                self._node(order.uid, labels=order.labels)
            case CordonNode():
                self._node(order.uid, unschedulable=True)
            case UncordonNode():
                self._node(order.uid, unschedulable=False)
            case EvictPod():
                self._evict(order)
            case InstallChart():
                self._kubernetes(releases=(release(),), cluster_policies=(CLUSTER_POLICY,))
                self._kubernetes(pods=(*self.snapshot.kubernetes.pods, _operator()))
            case UpdateMaster():
                self._iks(master=replace(self.snapshot.iks.master, pending=True, state="updating"))
                self.master_ticks = 2
            case ReplaceWorker():
                self.leaving[order.worker_id] = 0
                self._worker(order.worker_id, desired_state="deleted")
            case CreatePool():
                zone = Zone(order.zone, order.subnet, order.size)
                made = pool("pool-temp", name=order.name, zones=(zone,))
                self._iks(pools=(*self.snapshot.iks.pools, made))
                self._provision("pool-temp", order.name)
                return "pool-temp"
            case RemovePool():
                self._remove_pool(order)
        return ""

    def tick(self) -> None:
        """One coarse stage further everywhere."""
        self.snapshot = replace(self.snapshot, at=self.snapshot.at + timedelta(seconds=30))
        if self.master_ticks:
            self.master_ticks -= 1
            if self.master_ticks == 0:
                done = replace(self.snapshot.iks.master, version="1.36.0_1506", pending=False, state="deployed")
                self._iks(master=done)
                self._kubernetes(version="v1.36.0+IKS")
        for gone in tuple(self.leaving):
            self._leave(gone)
        for fresh in tuple(self.ages):
            self._grow(fresh)
        self._operator_sweeps()
        self._schedule()

    def _leave(self, worker_id: str) -> None:
        old = self.snapshot.worker(worker_id)
        assert old is not None
        self.leaving[worker_id] += 1
        found = self.snapshot.node_of(worker_id)
        if self.leaving[worker_id] == 1:
            self._worker(worker_id, state="deleting", health="critical")
            if found is not None:
                self._drop_node(found)
            self._provision(old.pool_id, old.pool_name)
        else:
            self._worker(worker_id, state="deleted")
            del self.leaving[worker_id]

    def _provision(self, pool_id: str, pool_name: str) -> None:
        number = next(self.counter)
        fresh = worker(f"n{number}", "", pool_id=pool_id, pool_name=pool_name, state="provisioning", health="", ip="")
        self._iks(workers=(*self.snapshot.iks.workers, fresh))
        self.ages[fresh.id] = 0

    def _grow(self, worker_id: str) -> None:
        self.ages[worker_id] += 1
        age = self.ages[worker_id]
        name = f"10.240.1.{worker_id.removeprefix('n')}"
        at = self.snapshot.at
        if age == 1:
            self._worker(worker_id, state="deployed", health="normal", version=NEW, ip=name)
            fresh = node(name, worker_id, gpus=0, created_at=at, ready_since=at, kubelet_version="v1.36.0+IKS")
            self._kubernetes(nodes=(*self.snapshot.kubernetes.nodes, fresh))
        elif age == 2:
            found = self.snapshot.node_of(worker_id)
            assert found is not None
            gpus = {"nvidia.com/gpu": 1}
            self._node(found.uid, labels=READY_LABELS, allocatable=gpus, capacity=gpus)
            self._kubernetes(pods=(*self.snapshot.kubernetes.pods, *operands(name, at)))
            del self.ages[worker_id]

    def _operator_sweeps(self) -> None:
        """With operands=false the operator deletes every other deploy label (GPU Operator sheet 0.1)."""
        if not self.snapshot.kubernetes.releases:
            return
        for found in self.snapshot.kubernetes.nodes:
            if found.labels.get(OPERANDS) == "false" and DRIVER in found.labels:
                gone = {k: None for k in found.labels if k.startswith(DEPLOY_PREFIX) and k != OPERANDS}
                self._node(found.uid, labels=gone)

    def _schedule(self) -> None:
        for waiting in [p for p in self.snapshot.kubernetes.pods if p.phase == "Pending" and p.gpus]:
            for place in self.snapshot.kubernetes.nodes:
                used = sum(sum(p.gpus.values()) for p in self.snapshot.kubernetes.pods if p.node_name == place.name)
                if not place.unschedulable and sum(place.allocatable.values()) > used:
                    self._replace_pod(waiting, replace(waiting, node_name=place.name, phase="Running", ready=True))
                    break
        self._count()

    def _count(self) -> None:
        counted = tuple(
            replace(w, available=sum(1 for p in self.snapshot.kubernetes.pods if p.owner == w.owner and p.ready))
            for w in self.snapshot.kubernetes.workloads
        )
        self._kubernetes(workloads=counted)

    def _evict(self, order: EvictPod) -> None:
        gone = next(p for p in self.snapshot.kubernetes.pods if p.uid == order.uid)
        rest = tuple(p for p in self.snapshot.kubernetes.pods if p.uid != order.uid)
        again = pod(f"gpu-burn-7d-{next(self.counter)}", created_at=self.snapshot.at, gpus=sum(gone.gpus.values()))
        self._kubernetes(pods=(*rest, *((again,) if gone.gpus else (_operator(next(self.counter)),))))
        self._count()

    def _drop_node(self, gone: Node) -> None:
        self._kubernetes(nodes=tuple(n for n in self.snapshot.kubernetes.nodes if n.uid != gone.uid))
        self._kubernetes(pods=tuple(p for p in self.snapshot.kubernetes.pods if p.node_name != gone.name))

    def _remove_pool(self, order: RemovePool) -> None:
        for member in self.snapshot.workers_in(order.pool_id):
            found = self.snapshot.node_of(member.id)
            if found is not None:
                self._drop_node(found)
            self.ages.pop(member.id, None)
        self._iks(workers=tuple(w for w in self.snapshot.iks.workers if w.pool_id != order.pool_id))
        self._iks(pools=tuple(p for p in self.snapshot.iks.pools if p.id != order.pool_id))

    def _replace_pod(self, old: Pod, new: Pod) -> None:
        self._kubernetes(pods=tuple(new if p.uid == old.uid else p for p in self.snapshot.kubernetes.pods))

    def _node(self, uid: str, **changes: object) -> None:
        labels = changes.pop("labels", {})
        assert isinstance(labels, dict | type(READY_LABELS)) or hasattr(labels, "items")
        found = next(n for n in self.snapshot.kubernetes.nodes if n.uid == uid)
        merged = {**found.labels, **labels}  # type: ignore[dict-item]
        kept = {k: v for k, v in merged.items() if v is not None}
        fresh = replace(found, labels=kept, **changes)  # type: ignore[arg-type]
        self._kubernetes(nodes=tuple(fresh if n.uid == uid else n for n in self.snapshot.kubernetes.nodes))

    def _worker(self, worker_id: str, **changes: object) -> None:
        fresh = tuple(
            replace(w, **changes) if w.id == worker_id else w  # type: ignore[arg-type]
            for w in self.snapshot.iks.workers
        )
        self._iks(workers=fresh)

    def _iks(self, **changes: object) -> None:
        self.snapshot = replace(self.snapshot, iks=replace(self.snapshot.iks, **changes))  # type: ignore[arg-type]

    def _kubernetes(self, **changes: object) -> None:
        fresh = replace(self.snapshot.kubernetes, **changes)  # type: ignore[arg-type]
        self.snapshot = replace(self.snapshot, kubernetes=fresh)


def _operator(number: int = 0) -> Pod:
    at = START
    return pod(
        f"gpu-operator-{number}", "10.240.0.99", gpus=0, app="gpu-operator", namespace="gpu-operator", created_at=at
    )


@dataclass
class Drive:
    """Runs the machine against the model, as the shell would; people answer when told to."""

    model: Model
    run: Run
    answers: list[Reason] = field(default_factory=list)
    approve: bool = True
    _ids: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    def send(self, event: Event) -> None:
        """One event with all that follows from it, but for the passing of time."""
        queue: list[Event] = [event]
        while queue:
            step = transition(self.run, queue.pop(0))
            self.run = step.run
            for effect in step.effects:
                match effect:
                    case GiveOrder(intent=intent):
                        detail = self.model.order(intent.order)
                        queue.append(Ordered(self.at, intent.op, OutcomeKind.ACCEPTED, None, detail))
                    case Observe():
                        if not queue:
                            queue.append(Observed(self.at, self.model.snapshot))
                    case Answer(reason=why):
                        self.answers.append(why)
                    case _:
                        pass

    @property
    def at(self) -> datetime:
        return self.model.snapshot.at

    def say(self, kind: type[HumanEvent], by: Person = OPERATOR, **facts: object) -> None:
        self.send(kind(at=self.at, id=f"t{next(self._ids)}", by=by, **facts))  # type: ignore[arg-type]

    def click(self) -> bool:
        """Approve the open question, if there is one."""
        for question in self.run.approvals:
            if question.decision is None:
                self.say(Approved, APPROVER, approval=question.id, revision=question.revision)
                return True
        return False

    def go(self, ticks: int = 120) -> None:
        """Let time pass until the run ends."""
        self.send(Began(self.at, "begin"))
        for _ in range(ticks):
            if self.run.phase.ended:
                return
            if self.approve:
                self.click()
            self.model.tick()
            self.send(Observed(self.at, self.model.snapshot))
