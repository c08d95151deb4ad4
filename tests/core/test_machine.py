"""Whatever happens, in whatever order, the machine keeps its promises: it never raises and never does more than it may."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from state.effects import GiveOrder
from state.events import (
    AbortRequested,
    Approved,
    Began,
    Braked,
    ContinueRequested,
    Event,
    HumanEvent,
    LookFailed,
    Nudged,
    Observed,
    Ordered,
    OutcomeKind,
    PauseRequested,
    Person,
    Rejected,
    ResumeRequested,
    RetryRequested,
    Rewound,
    TurnedAway,
)
from state.machine import Transition, transition
from state.orders import ONCE, natural_key
from state.reasons import Code, reason
from state.run import Goal, Run, RunPhase, StepPhase
from state.snapshot import Snapshot
from tests.builders import START, one_worker, operand, pod, policy, run, two_workers, worker
from tests.core.model import APPROVER, OPERATOR, Model
from tests.core.worlds import change_node, change_worker, iks, join, kubernetes, leave, with_pods

NOBODY = Person("U0NOBODY")
BRAKE = reason(Code.BRAKE, by="U0OPERATOR1", at=START.isoformat())


def master_failed(world: Snapshot) -> Snapshot:
    return iks(world, master=replace(world.iks.master, state="update_failed", status="webhook", health="error"))


def nothing_left(world: Snapshot) -> Snapshot:
    return kubernetes(iks(world, workers=(), pools=()), nodes=(), pods=(), workloads=())


def bare_newcomer(world: Snapshot) -> Snapshot:
    """An old GPU worker whose node has not joined yet."""
    return iks(world, workers=(*world.iks.workers, worker("w9")))


def operand_on_old(world: Snapshot) -> Snapshot:
    return with_pods(world, operand("nvidia-device-plugin-daemonset", "10.240.0.64", created_at=START))


TWISTS: dict[str, Callable[[Snapshot], Snapshot]] = {
    "as it is": lambda w: w,
    "master failed": master_failed,
    "nothing left": nothing_left,
    "newcomer": bare_newcomer,
    "stranger": lambda w: join(w, "x1", "10.240.9.1"),
    "two strangers": lambda w: join(join(w, "x1", "10.240.9.1"), "x2", "10.240.9.2"),
    "w1 gone": lambda w: leave(w, "w1"),
    "w1 leaving": lambda w: change_worker(w, "w1", desired_state="deleted", state="deleting"),
    "w1 failed": lambda w: change_worker(w, "w1", state="provision_failed", health="critical"),
    "cordon lifted": lambda w: change_node(w, "w1", unschedulable=False),
    "cordoned": lambda w: change_node(w, "w1", unschedulable=True),
    "labels off": lambda w: change_node(
        w, "w1", labels=dict.fromkeys(w.kubernetes.nodes[0].labels) if w.kubernetes.nodes else {}
    ),
    "new pod": lambda w: with_pods(w, pod("late", "10.240.0.64", owner=None)),
    "operand": operand_on_old,
    "no nodes": lambda w: kubernetes(w, nodes=()),
    "no pods": lambda w: kubernetes(w, pods=()),
    "policy only": lambda w: kubernetes(w, releases=()),
}
PEOPLE: tuple[type[HumanEvent], ...] = (
    PauseRequested,
    ResumeRequested,
    RetryRequested,
    AbortRequested,
    ContinueRequested,
)


@dataclass
class Chaos:
    """Sends any event, keeps the world moving as orders are given, and checks each transition."""

    model: Model
    run: Run
    journal: list[str] = field(default_factory=list)
    accepted: set[str] = field(default_factory=set)

    def send(self, event: Event) -> None:
        before = self.run
        step = transition(before, event)
        given = [e.intent for e in step.effects if isinstance(e, GiveOrder)]
        promises(before, step, given_orders=len(given))
        assert isinstance(event, Approved) or not unasked(before, step.run)
        self.run = step.run
        for intent in given:
            order = natural_key(intent.order)
            assert order not in self.accepted, "what was accepted once is never asked for again"
            self.journal.append(order)

    def observed(self, twist: str) -> None:
        self.send(Observed(self.model.snapshot.at, TWISTS[twist](self.model.snapshot)))

    def outcome(self, kind: OutcomeKind, *, ours: bool) -> None:
        intent = self.run.intent
        op = intent.op if intent is not None and ours else "r-1:op999"
        if intent is not None and ours and kind in (OutcomeKind.ACCEPTED, OutcomeKind.UNKNOWN):
            self._happen()
        if intent is not None and ours and kind is OutcomeKind.ACCEPTED and isinstance(intent.order, ONCE):
            self.accepted.add(natural_key(intent.order))
        self.send(Ordered(self.model.snapshot.at, op, kind, reason(Code.IKS_BUSY), "pool-temp"))

    def _happen(self) -> None:
        """The call took effect, unless the world has no such thing any more."""
        assert self.run.intent is not None
        try:
            self.model.order(self.run.intent.order)
        except (StopIteration, KeyError):
            return

    def answer(self, kind: type[Approved | Rejected], by: Person, *, stale: bool) -> None:
        asked = [a for a in self.run.approvals if a.decision is None] or list(self.run.approvals)
        name, revision = (asked[-1].id, asked[-1].revision) if asked else ("r-1:77", 1)
        self.send(kind(self.model.snapshot.at, "t", by, name, revision + stale))


def promises(before: Run, step: Transition, given_orders: int) -> None:
    """What holds for each single transition."""
    after = step.run
    assert given_orders <= 1
    assert after.intent is None or sum(s.key == after.intent.step_key for s in after.steps) == 1
    assert after.ops - before.ops == given_orders
    if before.phase.ended:
        assert after.phase is before.phase
        assert given_orders == 0
        assert step.wake_at is None
    if before.policy.observe or (before.held and after.held):
        assert given_orders == 0
    if before.phase in (RunPhase.PLANNING, RunPhase.PLANNED):
        assert given_orders == 0
    assert len({n.key for n in after.notes}) == len(after.notes)
    assert len({a.id for a in after.approvals}) == len(after.approvals)
    assert len([a for a in after.approvals if a.decision is None and a.step_key == ""]) <= 1


def unasked(before: Run, after: Run) -> set[str]:
    """Steps that left their open question for action without an answer; those whose once-only call is out already may."""
    asked = {s.key for s in before.steps if s.phase is StepPhase.AWAITING_APPROVAL}
    acts = (StepPhase.APPROVED, StepPhase.ACTING, StepPhase.VERIFYING)
    return {s.key for s in after.steps if s.key in asked and s.phase in acts and s.ordered_at is None}


def moves() -> st.SearchStrategy[tuple[object, ...]]:
    """Usual things often, so that runs get somewhere; everything else in between."""
    usual = st.sampled_from(
        [("look", "as it is"), ("tick",), ("done", OutcomeKind.ACCEPTED, True), ("answer", Approved, APPROVER, False)]
    )
    odd = st.one_of(
        st.tuples(st.just("look"), st.sampled_from(sorted(TWISTS))),
        st.tuples(st.just("done"), st.sampled_from(OutcomeKind), st.booleans()),
        st.tuples(
            st.just("answer"), st.sampled_from([Approved, Rejected]), st.sampled_from([APPROVER, NOBODY]), st.booleans()
        ),
        st.tuples(st.just("say"), st.sampled_from(PEOPLE), st.sampled_from([OPERATOR, NOBODY])),
        st.sampled_from(
            [("failed", False), ("failed", True)]
            + [(name,) for name in ("brake", "lift", "rewound", "began", "nudged", "away", "wait", "late")]
        ),
    )
    return st.one_of(*[usual] * 8, odd)


def play(chaos: Chaos, move: tuple[object, ...]) -> None:
    at = chaos.model.snapshot.at
    match move:
        case ("look", str(twist)):
            chaos.observed(twist)
        case ("tick",):
            chaos.model.tick()
        case ("wait",):
            chaos.model.snapshot = replace(chaos.model.snapshot, at=at + timedelta(hours=2))
        case ("late",):
            soon = min((s.deadline_at for s in chaos.run.steps if s.deadline_at and s.deadline_at > at), default=at)
            chaos.model.snapshot = replace(chaos.model.snapshot, at=soon + timedelta(minutes=1))
        case ("done", OutcomeKind() as kind, bool(ours)):
            chaos.outcome(kind, ours=ours)
        case ("answer", type() as kind, Person() as by, bool(stale)):
            chaos.answer(kind, by, stale=stale)
        case ("say", type() as kind, Person() as by):
            chaos.send(kind(at, "t", by))
        case ("failed", bool(lost)):
            chaos.send(LookFailed(at, reason(Code.API_UNREACHABLE), access_lost=lost))
        case (str(name), *_):
            chaos.send(plain(name, chaos.run, chaos.model.snapshot))


def plain(name: str, now: Run, world: Snapshot) -> Event:
    """Events that carry nothing of their own."""
    events: dict[str, Event] = {
        "brake": Braked(world.at, BRAKE),
        "lift": Braked(world.at, None),
        "rewound": Rewound(world.at, now.ops + 1, now.ops),
        "began": Began(world.at, "b"),
        "nudged": Nudged(world.at),
        "away": TurnedAway(world.at, "t", NOBODY, "abort", reason(Code.NOT_OPERATOR)),
    }
    return events[name]


@pytest.mark.parametrize("world", [one_worker, two_workers], ids=["example 1", "example 2"])
@pytest.mark.parametrize("goal", Goal)
@pytest.mark.parametrize("observe", [False, True], ids=["act", "observe"])
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(script=st.lists(moves(), min_size=60, max_size=220))
def test_given_any_events_in_any_order_when_applied_then_every_promise_holds(
    world: Callable[[], Snapshot], goal: Goal, observe: bool, script: list[tuple[object, ...]]
) -> None:
    chaos = Chaos(Model(world()), run(goal=goal, policy=policy(observe=observe)))
    chaos.send(Began(START, "b"))

    for move in script:
        play(chaos, move)

    assert not (observe and chaos.journal)
    assert goal is Goal.MIGRATE or chaos.run.goal is Goal.MIGRATE or not any(_once(line) for line in chaos.journal)


def _once(line: str) -> bool:
    return line.startswith(tuple(kind.__name__ for kind in ONCE))
