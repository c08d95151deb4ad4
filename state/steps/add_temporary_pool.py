"""Create a temporary pool of one GPU worker, so that the only GPU worker can be replaced without losing capacity.

Source: guide, example 1 step 4. Zone and subnet are those of the pool it stands in for (the guide's command has no zone
that works, IKS sheet 0.5); the opt-out labels are left out; its name carries the run, so that it can be found again. IKS
says "created" before there is a worker (B044): done means worker normal, node Ready, GPUs usable for a while.
"""

from state.fleet import overdue, unwell
from state.opt_out import without_opt_out
from state.orders import CreatePool, Order
from state.reasons import Code, Reason, reason
from state.run import StepKind
from state.snapshot import Pool, Snapshot
from state.steps.replace_worker import FAILED_STATES
from state.steps.step import Broken, Done, Scope, Step, Verdict, Waiting
from state.steps.temporary import find, pool_name
from state.versions import runs_minor


def model(snapshot: Snapshot, scope: Scope) -> Pool | None:
    return snapshot.pool(scope.step.pool_id)


def check(snapshot: Snapshot, scope: Scope) -> tuple[Reason, ...]:
    found: list[Reason] = []
    if not runs_minor(snapshot.iks.master.version, scope.target) or snapshot.iks.master.pending:
        found.append(reason(Code.MASTER_NOT_THERE, version=snapshot.iks.master.version, target=scope.target))
    like = model(snapshot, scope)
    if like is None or not _zones(snapshot, scope, like):
        found.append(reason(Code.WAIT_POOL_WORKERS, pool=scope.step.pool_id, have=0, want=1))
    return tuple(found)


def _zones(snapshot: Snapshot, scope: Scope, like: Pool) -> tuple[tuple[str, str], ...]:
    """Zone and subnet of the worker it stands in for, first; volumes are zonal."""
    worker = snapshot.worker(scope.step.worker_id)
    zones = sorted(like.zones, key=lambda z: worker is None or z.id != worker.zone)
    return tuple((z.id, z.subnet) for z in zones if z.subnet)


def act(snapshot: Snapshot, scope: Scope) -> tuple[Order, ...]:
    like = model(snapshot, scope)
    if find(snapshot, scope) is not None or like is None:
        return ()
    zone, subnet = _zones(snapshot, scope, like)[0]
    return (
        CreatePool(
            cluster_id=snapshot.iks.cluster_id,
            name=pool_name(scope.run.id),
            like_pool=like.id,
            flavor=like.flavor,
            vpc=like.vpc,
            zone=zone,
            subnet=subnet,
            size=1,
            operating_system=like.operating_system,
            labels=without_opt_out(like.labels),
        ),
    )


def verify(snapshot: Snapshot, scope: Scope) -> Verdict:
    pool = find(snapshot, scope)
    if pool is None:
        return Waiting(reason(Code.WAIT_POOL_WORKERS, pool=pool_name(scope.run.id), have=0, want=1))
    workers = snapshot.workers_in(pool.id)
    for worker in workers:
        if worker.state in FAILED_STATES:
            return Broken(reason(Code.PROVISION_FAILED, worker=worker.id, state=worker.state, message=worker.message))
        if late := overdue(snapshot, scope.run, worker, scope.patient_since(scope.run.policy.durations.pool)):
            return Broken(late)
    if len(workers) < max(pool.size, 1):
        return Waiting(reason(Code.WAIT_POOL_WORKERS, pool=pool.name, have=len(workers), want=max(pool.size, 1)))
    for worker in workers:
        if waiting := unwell(snapshot, scope.run, worker):
            return Waiting(waiting)
    return Done()


def card(snapshot: Snapshot, scope: Scope) -> tuple[Reason, ...]:
    like = model(snapshot, scope)
    if like is None or not (zones := _zones(snapshot, scope, like)):
        return ()
    name = pool_name(scope.run.id)
    return (
        reason(Code.CARD_POOL, pool=name, flavor=like.flavor, zone=zones[0][0], size=1),
        reason(Code.CARD_COST, pool=name),
        reason(Code.CARD_NOTHING_HAPPENS),
    )


STEP = Step(StepKind.ADD_TEMPORARY_POOL, lambda d: d.pool, check, act, verify, card, asks=True)
