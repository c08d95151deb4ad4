"""Make one call: the order of an intent that is already in the journal, once, and say what became of it.

The last looks happen here, right before the call: the brake, for calls that must not be doubled one more look at IKS, our
lease and the run's fence. After them the clock alone is asked whether the lease is good for the whole call, so that a
process which stood still since the last look makes none. In mode `observe` nothing mutating passes this file. Waiting and
repeating never happen here.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from bot.points import Place, Points
from bot.ports import Clock, Helm, Iks, Kubernetes, Ownership
from state import marks
from state.errors import GpuMigrateError, OutcomeUnknown, PermanentError, TransientError
from state.events import Ordered, OutcomeKind
from state.journal import StoredRun
from state.orders import (
    ONCE,
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
from state.reasons import Code, Reason, reason
from state.run import Intent

CALL_SECONDS = 8.0
MARGIN_SECONDS = 2.0
HELM_SECONDS = 180.0  # chart download and CRDs; `helm install` under a fixed name cannot double


class NotOurs(Exception):  # noqa: N818 (a finding, not a failure)
    """The lease or the fence is gone: make no call, say no outcome, let the new owner look."""


@dataclass(frozen=True, slots=True)
class Hands:
    """What a call needs.

    Attributes:
        instance: this process, as the mark in the cluster names it.
        brake: why every run of the fleet is stopped, None when it is not.
    """

    instance: str
    iks: Iks
    kubernetes: Kubernetes
    helm: Helm
    ownership: Ownership
    clock: Clock
    kubeconfig: Callable[[], Awaitable[bytes]]
    brake: Callable[[], Awaitable[Reason | None]]
    points: Points = field(default_factory=Points)


async def give(hands: Hands, stored: StoredRun, intent: Intent) -> Ordered:
    """Make the call of `intent`. Raises NotOurs when this replica may no longer act for the run."""
    withheld = await _withheld(hands, stored, intent.order, intent)
    if withheld is not None:
        return Ordered(hands.clock.now(), intent.op, OutcomeKind.WITHHELD, withheld)
    if isinstance(intent.order, ONCE) and (foreign := await _claimed(hands, stored, intent.order)) is not None:
        return Ordered(hands.clock.now(), intent.op, OutcomeKind.WITHHELD, foreign)
    await hands.points.reach(Place.MARKED, natural_key(intent.order))
    if not await hands.ownership.still_owns(stored):
        raise NotOurs
    await hands.points.reach(Place.BEFORE_CALL, natural_key(intent.order))
    if not hands.ownership.holds(CALL_SECONDS + MARGIN_SECONDS):  # stood still since the last look, for however long
        raise NotOurs
    kind, why, detail = await _outcome(hands, intent.order)
    await hands.points.reach(Place.CALLED, natural_key(intent.order))
    return Ordered(hands.clock.now(), intent.op, kind, why, detail)


async def _claimed(hands: Hands, stored: StoredRun, order: Order) -> Reason | None:
    """Leave our marks in the cluster before a call that cannot be taken back; why not, when somebody else's is there.

    The API server decides between two bots: each write names the revision that was read.
    """
    facts = marks.facts(stored.run, stored.fence, hands.instance, hands.clock.now())
    try:
        there = await hands.kubernetes.claim(facts, hands.instance)
        if isinstance(order, ReplaceWorker) and not marks.is_strange(there, stored.run.id):
            there = await hands.kubernetes.claim_worker(order.worker_id, facts) or there
    except GpuMigrateError as error:
        return error.reason
    return marks.stranger(there) if marks.is_strange(there, stored.run.id) else None


async def _outcome(hands: Hands, order: Order) -> tuple[OutcomeKind, Reason | None, str]:
    limit = HELM_SECONDS if isinstance(order, InstallChart) else CALL_SECONDS
    try:
        async with asyncio.timeout(limit):
            return OutcomeKind.ACCEPTED, None, await _call(hands, order)
    except TimeoutError:
        return OutcomeKind.UNKNOWN, reason(Code.WAIT_SETTLE, order=type(order).__name__), ""
    except OutcomeUnknown as unknown:
        return OutcomeKind.UNKNOWN, unknown.reason, ""
    except TransientError as later:
        return OutcomeKind.POSTPONED, later.reason, ""
    except PermanentError as no:
        return OutcomeKind.REFUSED, no.reason, ""


async def _withheld(hands: Hands, stored: StoredRun, order: Order, intent: Intent) -> Reason | None:
    if stored.run.policy.observe:
        return reason(Code.MODE_OBSERVE, cluster=stored.run.cluster)
    try:
        return await hands.brake() or (await _changed(hands, order, intent) if isinstance(order, ONCE) else None)
    except GpuMigrateError as error:
        return error.reason


async def _changed(hands: Hands, order: Order, intent: Intent) -> Reason | None:
    """One more look at IKS: is the world still the one the decision was made in?"""
    match order:
        case ReplaceWorker():
            view = await hands.iks.look(order.cluster_id)
            worker = next((w for w in view.workers if w.id == order.worker_id), None)
            if worker is None or worker.leaving:
                return reason(Code.FACTS_CHANGED, step=order.worker_id)
            there = {w.id for w in view.workers if w.pool_id == order.pool_id and w.state != "deleted"}
            new = tuple(sorted(there - set(intent.known_workers)))
            return reason(Code.STRANGER, workers=new, pool=order.pool_id) if new else None
        case UpdateMaster():
            master = (await hands.iks.look(order.cluster_id)).master
            busy = master.pending or master.state != "deployed"
            return (
                reason(Code.MASTER_BUSY, state=master.state, status=master.status, health=master.health)
                if busy
                else None
            )
        case CreatePool():
            pools = (await hands.iks.look(order.cluster_id)).pools
            there_already = any(p.name == order.name and p.state != "deleted" for p in pools)
            return reason(Code.FACTS_CHANGED, step=order.name) if there_already else None
        case _:
            return None


async def _call(hands: Hands, order: Order) -> str:
    """The one place where something outside is changed; the answer's id where there is one."""
    match order:
        case LabelNode():
            await hands.kubernetes.label(order)
        case CordonNode():
            await hands.kubernetes.cordon(order)
        case UncordonNode():
            await hands.kubernetes.uncordon(order)
        case EvictPod():
            await hands.kubernetes.evict(order)
        case InstallChart():
            await hands.helm.install(order, await hands.kubeconfig())
        case UpdateMaster():
            await hands.iks.update_master(order)
        case ReplaceWorker():
            await hands.iks.replace_worker(order)
        case CreatePool():
            return await hands.iks.create_pool(order)
        case RemovePool():
            await hands.iks.remove_pool(order)
    return ""
