"""One call and what became of it: the last looks before it, what withholds it, and what an error means."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from bot import perform
from bot.perform import NotOurs, give
from bot.points import Place, Points
from bot.ports import StoredRun
from state import marks
from state.errors import GpuMigrateError, OutcomeUnknown, PermanentError, TransientError
from state.events import Ordered, OutcomeKind
from state.journal import Brake
from state.orders import Order
from state.reasons import Code, reason
from state.run import Intent
from tests.builders import START, master, policy, pool, worker
from tests.shell.journal import away
from tests.shell.recorder import (
    BEYOND_RECALL,
    CREATE,
    EVERY,
    LABEL,
    MASTER,
    NAMES,
    REPLACE,
    Kubernetes,
    Recorder,
    stage,
)
from tests.shell.rig import Rig, begun


async def ordered(made: Rig, order: Order, stored: StoredRun | None = None) -> Ordered:
    intent = Intent("r-1:op1", order, "step", START, known_workers=("w1", "w2"))
    return await give(made.hands(), stored or made.put(begun()), intent)


@pytest.mark.parametrize("order", EVERY, ids=NAMES)
async def test_given_each_order_when_given_then_it_is_called_once_and_accepted(order: Order) -> None:
    made, recorder = stage()
    outcome = await ordered(made, order)

    assert (outcome.op, outcome.kind, outcome.reason) == ("r-1:op1", OutcomeKind.ACCEPTED, None)
    assert recorder.calls == [order]
    assert outcome.detail == ("pool-temp" if order is CREATE else "")


@pytest.mark.parametrize("order", EVERY, ids=NAMES)
async def test_given_mode_observe_when_any_order_is_given_then_nothing_leaves(order: Order) -> None:
    made, recorder = stage()
    outcome = await ordered(made, order, made.put(replace(begun(), policy=policy(observe=True))))

    assert outcome.kind is OutcomeKind.WITHHELD
    assert outcome.reason is not None
    assert outcome.reason.code is Code.MODE_OBSERVE
    assert (recorder.calls, made.world.mark) == ([], {})


@pytest.mark.parametrize("order", EVERY, ids=NAMES)
async def test_given_the_brake_when_any_order_is_given_then_nothing_leaves(order: Order) -> None:
    made, recorder = stage()
    made.fleet.brake = Brake("U1", "stop-all", START)
    outcome = await ordered(made, order)

    assert outcome.kind is OutcomeKind.WITHHELD
    assert outcome.reason is not None
    assert outcome.reason.code is Code.BRAKE
    assert recorder.calls == []


async def test_given_a_brake_that_cannot_be_read_when_ordered_then_nothing_leaves() -> None:
    made, recorder = stage()
    made.fleet.trouble = away()
    outcome = await ordered(made, LABEL)

    assert (outcome.kind, outcome.reason) == (OutcomeKind.WITHHELD, away().reason)
    assert recorder.calls == []


@pytest.mark.parametrize("order", EVERY, ids=NAMES)
@pytest.mark.parametrize("lost", ["owner", "fence", "lease"])
async def test_given_the_run_no_longer_ours_when_ordered_then_no_call_and_no_outcome(order: Order, lost: str) -> None:
    made, recorder = stage()
    stored = made.put(begun())
    if lost == "owner":
        made.ownership.mine = False
    if lost == "fence":
        made.store.overtake("r-1")
    if lost == "lease":
        made.ownership.lease = perform.CALL_SECONDS + perform.MARGIN_SECONDS - 0.1

    with pytest.raises(NotOurs):
        await ordered(made, order, stored)

    assert recorder.calls == []


class Stopped(Points):
    """The process stands still right after its last look, until its lease is too short for a call."""

    def __init__(self, made: Rig) -> None:
        self._made = made

    async def reach(self, place: Place, subject: str) -> None:  # noqa: ARG002 (the port's signature)
        if place is Place.BEFORE_CALL:
            self._made.ownership.lease = perform.CALL_SECONDS + perform.MARGIN_SECONDS - 0.1


@pytest.mark.parametrize("order", EVERY, ids=NAMES)
async def test_given_a_process_that_stood_still_after_the_last_look_when_it_goes_on_then_no_call_leaves(
    order: Order,
) -> None:
    made, recorder = stage()
    stored = made.put(begun())
    intent = Intent("r-1:op1", order, "step", START, known_workers=("w1", "w2"))

    with pytest.raises(NotOurs):
        await give(replace(made.hands(), points=Stopped(made)), stored, intent)

    assert recorder.calls == []


async def test_given_the_journal_away_at_the_last_look_when_ordered_then_the_error_leaves_and_no_call_does() -> None:
    made, recorder = stage()
    made.ownership.trouble = away()

    with pytest.raises(TransientError):
        await ordered(made, REPLACE)

    assert recorder.calls == []


W1, W2 = worker("w1", ip="10.240.0.64"), worker("w2", ip="10.240.0.66")


@pytest.mark.parametrize(
    ("order", "changes", "code"),
    [
        (REPLACE, {"workers": (W2,)}, Code.FACTS_CHANGED),
        (REPLACE, {"workers": (replace(W1, desired_state="deleted"), W2)}, Code.FACTS_CHANGED),
        (REPLACE, {"workers": (W1, W2, worker("w9"))}, Code.STRANGER),
        (MASTER, {"master": master(pending=True)}, Code.MASTER_BUSY),
        (MASTER, {"master": master(state="updating")}, Code.MASTER_BUSY),
        (CREATE, {"pools": (pool(), pool("p2", name="temp-gpu-r-1"))}, Code.FACTS_CHANGED),
    ],
    ids=["worker gone", "worker leaving", "stranger", "master pending", "master updating", "pool there"],
)
async def test_given_a_world_that_moved_when_a_once_only_call_is_due_then_it_is_withheld(
    order: Order, changes: dict[str, Any], code: Code
) -> None:
    made, recorder = stage(**changes)
    outcome = await ordered(made, order)

    assert outcome.kind is OutcomeKind.WITHHELD
    assert outcome.reason is not None
    assert outcome.reason.code is code
    assert recorder.calls == []


@pytest.mark.parametrize("order", BEYOND_RECALL, ids=["replace", "master", "create"])
async def test_given_a_fresh_mark_of_another_run_when_a_once_only_call_is_due_then_it_is_withheld(
    order: Order,
) -> None:
    made, recorder = stage()
    made.world.mark = {
        "gpu-migrate/run": "r-other",
        "gpu-migrate/instance": "other.1",
        "gpu-migrate/renewed": START.isoformat(),
    }
    outcome = await ordered(made, order)

    assert outcome.kind is OutcomeKind.WITHHELD
    assert outcome.reason == reason(Code.OTHER_RUN_IN_CLUSTER, run="r-other", instance="other.1")
    assert recorder.calls == []


async def test_given_a_fresh_mark_of_another_run_on_the_node_when_a_replacement_is_due_then_it_is_withheld() -> None:
    made, recorder = stage()
    theirs = {marks.RUN: "r-other", marks.INSTANCE: "other.1", marks.RENEWED: START.isoformat()}
    made.world.marked[REPLACE.worker_id] = theirs
    outcome = await ordered(made, REPLACE)

    assert outcome.kind is OutcomeKind.WITHHELD
    assert outcome.reason == reason(Code.OTHER_RUN_IN_CLUSTER, run="r-other", instance="other.1")
    assert recorder.calls == []
    assert made.world.marked[REPLACE.worker_id] == theirs


async def test_given_a_replacement_when_called_then_the_node_carries_our_mark() -> None:
    made, recorder = stage()
    await ordered(made, REPLACE)

    assert len(recorder.calls) == 1
    assert marks.RUN in made.world.marked[REPLACE.worker_id]


class Unreachable(Kubernetes):
    """Its mark cannot be written."""

    async def claim(self, facts: object, holder: str) -> Any:  # noqa: ARG002 (the port's signature)
        raise TransientError(reason(Code.API_UNREACHABLE, detail="reset"))


async def test_given_a_mark_that_cannot_be_written_when_a_once_only_call_is_due_then_it_is_withheld() -> None:
    made, recorder = stage()
    made.kubernetes = Unreachable(made.world, recorder)
    outcome = await ordered(made, REPLACE)

    assert (outcome.kind, recorder.calls) == (OutcomeKind.WITHHELD, [])
    assert outcome.reason == reason(Code.API_UNREACHABLE, detail="reset")


WHY = reason(Code.IKS_REFUSED, status=409, message="no", incident="i")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (PermanentError(WHY), OutcomeKind.REFUSED),
        (TransientError(WHY), OutcomeKind.POSTPONED),
        (OutcomeUnknown(WHY), OutcomeKind.UNKNOWN),
    ],
    ids=["permanent", "transient", "unknown"],
)
@pytest.mark.parametrize("order", EVERY, ids=NAMES)
async def test_given_an_error_when_called_then_its_kind_says_what_happened_and_it_is_not_tried_again(
    order: Order, error: GpuMigrateError, kind: OutcomeKind
) -> None:
    made, recorder = stage()
    recorder.error = error
    outcome = await ordered(made, order)

    assert (outcome.kind, outcome.reason) == (kind, WHY)
    assert recorder.calls == [order]


async def test_given_a_call_without_an_answer_when_its_time_is_up_then_the_outcome_is_unknown() -> None:
    made, recorder = stage()
    recorder.hangs = True
    loop = asyncio.get_running_loop()
    began = loop.time()
    outcome = await ordered(made, REPLACE)

    assert outcome.kind is OutcomeKind.UNKNOWN
    assert outcome.reason == reason(Code.WAIT_SETTLE, order="ReplaceWorker")
    assert loop.time() - began == pytest.approx(perform.CALL_SECONDS, abs=1.0)


class Walk(Points):
    def __init__(self, made: Rig, recorder: Recorder) -> None:
        self.seen: list[tuple[Place, int, bool]] = []
        self._made, self._recorder = made, recorder

    async def reach(self, place: Place, subject: str) -> None:  # noqa: ARG002 (the port's signature)
        self.seen.append((place, len(self._recorder.calls), bool(self._made.world.mark)))


async def test_given_a_once_only_call_when_given_then_the_mark_stands_before_the_last_look_and_the_call() -> None:
    made, recorder = stage()
    walk = Walk(made, recorder)
    intent = Intent("r-1:op1", REPLACE, "step", START, known_workers=("w1", "w2"))
    await give(replace(made.hands(), points=walk), made.put(begun()), intent)

    assert walk.seen == [(Place.MARKED, 0, True), (Place.BEFORE_CALL, 0, True), (Place.CALLED, 1, True)]
