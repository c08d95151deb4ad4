"""Update the control plane to the newest offered patch of the target minor. It cannot be rolled back.

Source: guide, examples step 3. Done only when IKS and the API server agree: IKS has shown a target version that was not
running (B039). A broken webhook or a cancelled update is a block to be shown, not slow progress (B051).
"""

from state.gpu_workers import old_gpu_nodes
from state.opt_out import operator_present, traces
from state.orders import Order, UpdateMaster
from state.reasons import Code, Reason, reason
from state.run import StepKind
from state.snapshot import Master, Snapshot
from state.steps.label_nodes import unlabelled
from state.steps.step import Broken, Done, Scope, Step, Verdict, Waiting
from state.versions import runs_minor

_BLOCKED = ("update_cancelled", "update_failed", "deploy_failed")


def check(snapshot: Snapshot, scope: Scope) -> tuple[Reason, ...]:
    master = snapshot.iks.master
    found: list[Reason] = []
    if master.pending or master.state != "deployed" or master.health not in ("normal", ""):
        found.append(reason(Code.MASTER_BUSY, state=master.state, status=master.status, health=master.health))
    if not scope.run.target_version:
        found.append(reason(Code.NO_TARGET_YET, minor=scope.target))
    if not operator_present(snapshot):
        found.append(reason(Code.WAIT_RELEASE, release=scope.run.policy.chart.release))
    found.extend(reason(Code.OLD_NODE_UNLABELLED, node=n.name) for n in unlabelled(snapshot, scope.target))
    dirty = ((n, traces(snapshot, n)) for n in old_gpu_nodes(snapshot, scope.target))
    found.extend(reason(Code.OPERATOR_LABELLED_NODE_DIRTY, node=n.name, what=left) for n, left in dirty if left)
    return tuple(found)


def act(snapshot: Snapshot, scope: Scope) -> tuple[Order, ...]:
    master = snapshot.iks.master
    if master.pending or runs_minor(master.version, scope.target):
        return ()
    return (UpdateMaster(snapshot.iks.cluster_id, scope.run.target_version),)


def verify(snapshot: Snapshot, scope: Scope) -> Verdict:
    master = snapshot.iks.master
    if master.state in _BLOCKED:
        return Broken(reason(Code.MASTER_BLOCKED, state=master.state, status=master.status))
    if "webhook" in master.status.lower() or "cannot complete" in master.status.lower():
        return Broken(reason(Code.MASTER_BLOCKED, state=master.state, status=master.status))
    if not _settled(master, scope.target):
        return Waiting(reason(Code.WAIT_MASTER, version=master.version, status=master.status))
    if not runs_minor(snapshot.kubernetes.version, scope.target):
        return Waiting(reason(Code.WAIT_API_VERSION, iks=master.version, api=snapshot.kubernetes.version))
    return Done()


def _settled(master: Master, target: str) -> bool:
    running = runs_minor(master.version, target) and not master.pending
    return running and master.state == "deployed" and master.health in ("normal", "")


def card(snapshot: Snapshot, scope: Scope) -> tuple[Reason, ...]:
    return (
        reason(Code.CARD_MASTER, version=snapshot.iks.master.version, target=scope.run.target_version),
        reason(Code.CARD_NO_ROLLBACK),
        reason(Code.CARD_NOTHING_HAPPENS),
    )


STEP = Step(StepKind.UPDATE_MASTER, lambda d: d.master, check, act, verify, card, asks=True)
