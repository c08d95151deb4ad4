"""Make a plan: snapshot and policy → baseline, ordered steps, blockers and warnings.

Several GPU workers: one after the other (guide, example 2). A single one: a temporary pool takes its work meanwhile
(example 1). The newest supported patch of the target minor is fixed here and never a literal (IKS sheet 0.6); without one
only `prepare` is possible. Half-done migrations are found by looking: what is already so is skipped by each step's
`verify`, and the plan says what was found.
"""

from dataclasses import replace

from state import preflight
from state.gpu_workers import advertised, expected_gpus, gpu_workers, old_gpu_workers
from state.marks import foreign_mark
from state.migrated import migrated
from state.opt_out import OPERANDS
from state.reasons import Code, Reason, reason
from state.run import (
    Baseline,
    BaselineWorkload,
    Goal,
    GpuWorker,
    Run,
    StepKind,
    StepRun,
    TemporaryPool,
)
from state.shortfall import of_plan
from state.snapshot import Snapshot, Worker
from state.steps.temporary import is_temporary, left_over
from state.versions import KubeVersion, runs_minor


def plan(run: Run, snapshot: Snapshot) -> Run:
    """Fill in everything that planning decides. The phase is the machine's business."""
    policy = run.policy
    target = newest_patch(snapshot, policy.target_minor)
    found = replace(
        run,
        cluster_id=snapshot.iks.cluster_id,
        cluster_name=snapshot.iks.cluster_name,
        target_version=target,
        baseline=baseline(snapshot),
        temporary_pool=_left_over_pool(snapshot),
        blockers=_blockers(run, snapshot, target),
        warnings=preflight.warnings(snapshot, policy) + _half_done(run, snapshot),
    )
    if migrated(found, snapshot):
        return replace(found, blockers=(reason(Code.ALREADY_MIGRATED),), warnings=())
    planned = replace(found, steps=_steps(found, snapshot))
    return replace(planned, warnings=planned.warnings + of_plan(planned, snapshot))


def newest_patch(snapshot: Snapshot, minor: str) -> str:
    """`1.36.3`: the newest patch of `minor` that IKS offers and still supports; "" when there is none."""
    offered = [
        KubeVersion(v.major, v.minor, v.patch)
        for v in snapshot.iks.versions
        if f"{v.major}.{v.minor}" == minor and not _ended(v.end_of_service, snapshot)
    ]
    return str(max(offered)) if offered else ""


def _ended(end_of_service: str, snapshot: Snapshot) -> bool:
    """Whether a date such as 2026-11-01T12:00:00+0000 lies in the past; text compares as dates do."""
    return bool(end_of_service) and end_of_service[:10] <= snapshot.at.date().isoformat()


def baseline(snapshot: Snapshot) -> Baseline:
    """Fix who and what belongs to the run (B018)."""
    members = tuple(_member(snapshot, w) for w in gpu_workers(snapshot) if not is_temporary(w.pool_name))
    pools = {m.pool_id for m in members}
    ids = {w.id for w in gpu_workers(snapshot)}
    return Baseline(
        taken_at=snapshot.at,
        workers=members,
        workloads=tuple(
            BaselineWorkload(w.owner, w.desired, w.available, w.gpus)
            for w in snapshot.kubernetes.workloads
            if w.available > 0 and not w.finished
        ),
        pool_sizes={p.id: p.size for p in snapshot.iks.pools if p.id in pools},
        pool_workers={pool: tuple(w.id for w in snapshot.workers_in(pool)) for pool in sorted(pools)},
        pending=tuple(p.uid for p in snapshot.kubernetes.pods if p.gpus and p.phase == "Pending"),
        others=tuple(w.id for w in snapshot.iks.workers if w.id not in ids and w.state != "deleted"),
        master_version=snapshot.iks.master.version,
    )


def _member(snapshot: Snapshot, worker: Worker) -> GpuWorker:
    node = snapshot.node_of(worker.id)
    return GpuWorker(
        worker_id=worker.id,
        pool_id=worker.pool_id,
        pool_name=worker.pool_name,
        flavor=worker.flavor,
        zone=worker.zone,
        node=node.name if node else "",
        node_uid=node.uid if node else "",
        version=worker.version,
        gpus=expected_gpus(worker.flavor, advertised(node)),
        cordoned=node.unschedulable if node else False,
    )


def _left_over_pool(snapshot: Snapshot) -> TemporaryPool | None:
    """A temporary pool that an earlier, lost migration made."""
    pools = left_over(snapshot)
    return TemporaryPool(pools[0].name, pools[0].id) if pools else None


def _blockers(run: Run, snapshot: Snapshot, target: str) -> tuple[Reason, ...]:
    found = list(preflight.blockers(snapshot, run.policy))
    mark = foreign_mark(run, snapshot, fresh=True)
    if mark is not None:
        found.append(mark)
    if not target and run.goal is Goal.MIGRATE and not runs_minor(snapshot.iks.master.version, run.policy.target_minor):
        found.append(reason(Code.NO_TARGET_YET, minor=run.policy.target_minor))
    if found:
        return tuple(found)
    return (reason(Code.MODE_OBSERVE, cluster=run.cluster),) if run.policy.observe else ()


def _half_done(run: Run, snapshot: Snapshot) -> tuple[Reason, ...]:
    """Traces of a migration that somebody began (B085): the plan goes on from there."""
    target, master = run.policy.target_minor, snapshot.iks.master.version
    mark = foreign_mark(run, snapshot, fresh=False)
    nodes = (snapshot.node_of(w.id) for w in old_gpu_workers(snapshot, target))
    traces: dict[str, str | tuple[str, ...]] = {
        "mark": mark.text("run") if mark is not None else "",
        "master": master if runs_minor(master, target) else "",
        "workers": tuple(w.id for w in gpu_workers(snapshot) if runs_minor(w.version, target)),
        "pools": tuple(p.name for p in snapshot.iks.pools if is_temporary(p.name)),
        "nodes": tuple(n.name for n in nodes if n is not None and n.labels.get(OPERANDS) == "false"),
    }
    found = {name: value for name, value in traces.items() if value}
    return (reason(Code.HALF_DONE, **found),) if found else ()


def _steps(run: Run, snapshot: Snapshot) -> tuple[StepRun, ...]:
    kinds = [StepRun(StepKind.LABEL_NODES.value, StepKind.LABEL_NODES)]
    kinds.append(StepRun(StepKind.INSTALL_OPERATOR.value, StepKind.INSTALL_OPERATOR))
    if run.goal is Goal.MIGRATE:
        kinds.append(StepRun(StepKind.UPDATE_MASTER.value, StepKind.UPDATE_MASTER))
        kinds += _worker_steps(run, snapshot)
        kinds.append(StepRun(StepKind.VERIFY_MIGRATION.value, StepKind.VERIFY_MIGRATION))
    return _chained(kinds)


def _worker_steps(run: Run, snapshot: Snapshot) -> list[StepRun]:
    old = [w for w in old_gpu_workers(snapshot, run.policy.target_minor) if not is_temporary(w.pool_name)]
    alone = len(gpu_workers(snapshot)) == 1
    temporary = run.temporary_pool is not None or (alone and bool(old))
    steps: list[StepRun] = []
    if temporary and old:
        steps.append(_about(StepKind.ADD_TEMPORARY_POOL, old[0], snapshot, bare=True))
    for worker in old:
        steps.append(_about(StepKind.MOVE_WORKLOADS, worker, snapshot))
        steps.append(_about(StepKind.REPLACE_WORKER, worker, snapshot))
    if temporary:
        steps.append(StepRun(StepKind.REMOVE_TEMPORARY_POOL.value, StepKind.REMOVE_TEMPORARY_POOL))
    return steps


def _about(kind: StepKind, worker: Worker, snapshot: Snapshot, *, bare: bool = False) -> StepRun:
    node = snapshot.node_of(worker.id)
    key = kind.value if bare else f"{kind.value}/{worker.id}"
    return StepRun(key, kind, worker_id=worker.id, pool_id=worker.pool_id, node=node.name if node else "")


def _chained(steps: list[StepRun]) -> tuple[StepRun, ...]:
    """One after the other: each waits for the one before."""
    return tuple(replace(s, after=(steps[i - 1].key,) if i else ()) for i, s in enumerate(steps))
