"""Open, close and reconcile intents: the protocol for calls whose doubling would cost a machine.

An intent is saved before its call and stays open until its outcome is recorded; at most one per run. When the answer is
lost (crash, timeout, 5xx) the call is never repeated on a guess: the world is looked at until it has settled, and one of
four things is found (reference on state, section 5): the effect is there (adopt), nothing happened (may be asked again,
twice at most), somebody else is at work, or a possible double: stop and call a human.
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum

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
)
from state.reasons import Code, Reason, reason
from state.run import Intent, Run, StepRun
from state.snapshot import Snapshot
from state.versions import parse_version

LOOKS = 3
"""Equal looks in a row that are needed to say that nothing happened."""

CALL = timedelta(seconds=8)
"""How long one mutating call may take (architecture, Ownership)."""


class Finding(StrEnum):
    """What looking said about an order of unknown outcome."""

    ADOPT = "adopt"
    NOTHING_YET = "nothing-yet"
    SOMEBODY_ELSE = "somebody-else"
    POSSIBLE_DOUBLE = "possible-double"


@dataclass(frozen=True, slots=True)
class Found:
    finding: Finding
    detail: str = ""
    why: Reason | None = None


def open_intent(run: Run, step: StepRun, order: Order, snapshot: Snapshot | None, attempt: int = 1) -> Run:
    """The run with a new open intent for `order`. `snapshot` gives the ids that are in the pool before the call."""
    assert run.intent is None, "one open intent per run"
    known: tuple[str, ...] = ()
    if isinstance(order, ReplaceWorker) and snapshot is not None:
        known = tuple(w.id for w in snapshot.workers_in(order.pool_id))
    op = f"{run.id}:op{run.ops + 1}"
    at = snapshot.at if snapshot is not None else run.created_at
    intent = Intent(op, order, step.key, at, attempt, known)
    return replace(run, intent=intent, ops=run.ops + 1)


def look_for(intent: Intent, snapshot: Snapshot) -> Found:
    """Tell by one snapshot what became of the call."""
    match intent.order:
        case ReplaceWorker():
            return _replaced(intent, intent.order, snapshot)
        case UpdateMaster():
            return _updated(intent.order, snapshot)
        case CreatePool(name=name):
            pools = [p for p in snapshot.iks.pools if p.name == name and p.state != "deleted"]
            return Found(Finding.ADOPT, pools[0].id) if pools else Found(Finding.NOTHING_YET)
        case RemovePool(pool_id=pool_id):
            pool = snapshot.pool(pool_id)
            gone = pool is None or pool.state in ("deleting", "deleted")
            leaving = bool(snapshot.workers_in(pool_id)) and all(w.leaving for w in snapshot.workers_in(pool_id))
            return Found(Finding.ADOPT if gone or leaving else Finding.NOTHING_YET)
        case InstallChart():
            return Found(Finding.ADOPT if snapshot.kubernetes.releases else Finding.NOTHING_YET)
        case CordonNode(uid=uid):
            return _closed(snapshot, uid, wanted=True)
        case UncordonNode(uid=uid):
            return _closed(snapshot, uid, wanted=False)
        case LabelNode() | EvictPod():
            return Found(Finding.ADOPT)  # idempotent by uid: `act` looks and repeats only what is missing


def _closed(snapshot: Snapshot, uid: str, *, wanted: bool) -> Found:
    """Whose a cordon is gets remembered, so it counts as set or lifted only when it shows."""
    other = any(n.uid == uid and n.unschedulable is not wanted for n in snapshot.kubernetes.nodes)
    return Found(Finding.NOTHING_YET if other else Finding.ADOPT)


def _replaced(intent: Intent, order: ReplaceWorker, snapshot: Snapshot) -> Found:
    worker = snapshot.worker(order.worker_id)
    strangers = tuple(w.id for w in snapshot.workers_in(order.pool_id) if w.id not in intent.known_workers)
    if len(strangers) > 1:
        why = reason(Code.POSSIBLE_DOUBLE, worker=order.worker_id, workers=strangers)
        return Found(Finding.POSSIBLE_DOUBLE, why=why)
    if worker is None or worker.leaving:
        return Found(Finding.ADOPT)
    if strangers:
        return Found(Finding.SOMEBODY_ELSE, why=reason(Code.STRANGER, workers=strangers, pool=order.pool_id))
    return Found(Finding.NOTHING_YET)


def _updated(order: UpdateMaster, snapshot: Snapshot) -> Found:
    master = snapshot.iks.master
    there = parse_version(master.version) == parse_version(order.version)
    moving = master.pending or master.state == "updating" or "update" in master.status.lower()
    return Found(Finding.ADOPT if there or moving else Finding.NOTHING_YET)


def settled(intent: Intent, snapshot: Snapshot, settle: timedelta) -> bool:
    """Whether the effect would have shown by now, had there been one.

    Counted from when the answer was known to be lost: between the intent and the call lie looks that may take long.
    """
    made = intent.unknown_at or intent.opened_at
    return snapshot.at >= made + CALL + settle and intent.seen + 1 >= LOOKS


def needs_settling(order: Order) -> bool:
    """Orders whose effect may show up late."""
    return isinstance(order, ReplaceWorker | UpdateMaster | CreatePool | RemovePool | InstallChart)
