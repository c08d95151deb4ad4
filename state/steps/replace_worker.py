"""Replace one GPU worker, so that its successor runs the target version.

Source: guide, example 1 step 5.2 to 5.5, example 2 steps 4 and 5. The successor gets a new id and a new IP, so it cannot be
named in advance: the old id is gone and the pool has a worker that was not there at plan time. Successors are judged per
pool: new ids must not outnumber the replacements that this run ordered. The approval is that of moving its workloads.
"""

from state.approval import find as find_approval
from state.fleet import missing_from_pools, new_workers, others_unready, overdue, unwell
from state.gpu_workers import running_version
from state.opt_out import opting_out
from state.orders import Order, ReplaceWorker
from state.placing import movable
from state.preflight.pools import pool_blockers
from state.reasons import Code, Reason, reason
from state.recovery import still_away, turned_off
from state.run import Decision, StepKind
from state.snapshot import Snapshot, Worker
from state.steps.move_workloads import alarms
from state.steps.step import Broken, Done, Scope, Step, Verdict, Waiting
from state.steps.successors import before, strangers
from state.versions import runs_minor

FAILED_STATES = ("provision_failed", "deploy_failed", "reload_failed", "reloading_failed", "delete_failed")


def check(snapshot: Snapshot, scope: Scope) -> tuple[Reason, ...]:
    """The last look before a machine is deleted for good."""
    found: list[Reason] = []
    if not runs_minor(snapshot.iks.master.version, scope.target) or snapshot.iks.master.pending:
        found.append(reason(Code.MASTER_NOT_THERE, version=snapshot.iks.master.version, target=scope.target))
    worker, node = snapshot.worker(scope.step.worker_id), snapshot.node_of(scope.step.worker_id)
    if node is not None and not node.unschedulable:
        found.append(reason(Code.CORDON_LIFTED, node=node.name, by=node.cordoned_by))
    if node is not None and (left := movable(snapshot, node)):
        found.append(reason(Code.NEW_PODS, node=node.name, pods=tuple(p.key for p in left)))
    if worker is not None and worker.pending_operation:
        found.append(reason(Code.WAIT_WORKER, worker=worker.id, state=worker.state, message=worker.pending_operation))
    pool = snapshot.pool(scope.step.pool_id)
    found.extend(pool_blockers(pool) if pool else ())
    if worker is not None and not worker.leaving and not _approved(scope):
        found.append(reason(Code.WAIT_APPROVAL, step=scope.step.key))
    found.extend(strangers(snapshot, scope))
    found.extend(alarms(snapshot, scope.target))
    found.extend(missing_from_pools(snapshot, scope.run))
    found.extend(others_unready(snapshot, scope.run, scope.step.worker_id))
    return tuple(found)


def _approved(scope: Scope) -> bool:
    """Whether somebody said yes to this very worker; the question is asked with the move of its workloads."""
    moves = (s for s in scope.run.steps if s.kind is StepKind.MOVE_WORKLOADS and s.worker_id == scope.step.worker_id)
    answers = (find_approval(scope.run, s.approval) for s in moves)
    return any(a is not None and a.decision is Decision.APPROVED for a in answers)


def act(snapshot: Snapshot, scope: Scope) -> tuple[Order, ...]:
    worker = snapshot.worker(scope.step.worker_id)
    if worker is None or worker.leaving:
        return ()
    return (ReplaceWorker(snapshot.iks.cluster_id, worker.id, worker.pool_id),)


def verify(snapshot: Snapshot, scope: Scope) -> Verdict:
    old = snapshot.worker(scope.step.worker_id)
    for found in strangers(snapshot, scope):
        return Broken(found)
    fresh = new_workers(snapshot, scope.run, scope.step.pool_id)
    for worker in fresh:
        if broken := _broken(snapshot, scope, worker):
            return Broken(broken)
    if old is not None and old.state != "deleted":
        return Waiting(reason(Code.WAIT_OLD_WORKER_GONE, worker=old.id, state=old.state))
    if len(fresh) < before(scope) + 1:
        return Waiting(reason(Code.WAIT_SUCCESSOR, pool=scope.step.pool_id, worker=scope.step.worker_id))
    for worker in fresh:
        if waiting := unwell(snapshot, scope.run, worker):
            return Waiting(waiting)
    away = still_away(snapshot, scope.run)
    if away is None:
        return Done()
    refused = turned_off(snapshot, scope.run, fresh)
    return Broken(refused) if refused else Waiting(away)


def _broken(snapshot: Snapshot, scope: Scope, worker: Worker) -> Reason | None:
    if worker.state in FAILED_STATES:
        return reason(Code.PROVISION_FAILED, worker=worker.id, state=worker.state, message=worker.message)
    node = snapshot.node_of(worker.id)
    version = running_version(worker, node)
    if worker.normal and version and not runs_minor(version, scope.target):
        return reason(Code.SUCCESSOR_WRONG_MINOR, worker=worker.id, version=version)
    if node is not None and (opted := opting_out(node.labels)):
        return reason(Code.SUCCESSOR_OPTED_OUT, node=node.name, labels=opted)
    return overdue(snapshot, scope.run, worker, scope.patient_since(scope.run.policy.durations.replace))


STEP = Step(StepKind.REPLACE_WORKER, lambda d: d.replace, check, act, verify)
