"""Is this a cluster that the procedure is for, and may it be changed now?"""

from state.gpu_workers import gpu_workers
from state.policy import Policy
from state.reasons import Code, Reason, reason
from state.snapshot import Snapshot
from state.versions import parse_version, runs_minor


def kind_of_cluster(snapshot: Snapshot, _policy: Policy) -> tuple[Reason, ...]:
    """IKS on VPC only; OpenShift clusters are recognised by what IKS or the kubelets say (B056)."""
    found: list[Reason] = []
    if snapshot.iks.offering not in ("kubernetes", ""):
        found.append(reason(Code.NOT_IKS, offering=snapshot.iks.offering))
    if snapshot.iks.provider not in ("vpc-gen2", ""):
        found.append(reason(Code.NOT_VPC, provider=snapshot.iks.provider))
    if not gpu_workers(snapshot):
        found.append(reason(Code.NO_GPU_WORKERS))
    return tuple(found)


def minors(snapshot: Snapshot, policy: Policy) -> tuple[Reason, ...]:
    """One minor at a time; workers at most one behind the control plane (B053)."""
    master = snapshot.iks.master.version
    if not (runs_minor(master, policy.source_minor) or runs_minor(master, policy.target_minor)):
        return (reason(Code.WRONG_MINOR, version=master, wanted=policy.source_minor),)
    source = parse_version(policy.source_minor)
    old = [(w, parse_version(w.version)) for w in snapshot.iks.workers if w.state != "deleted"]
    return tuple(
        reason(Code.WORKER_TOO_OLD, worker=w.id, version=w.version)
        for w, version in old
        if version is not None and source is not None and (version.major, version.minor) < (source.major, source.minor)
    )


def master(snapshot: Snapshot, policy: Policy) -> tuple[Reason, ...]:
    """The control plane must be at rest, or already on its way to the target."""
    found = snapshot.iks.master
    if found.state in ("update_cancelled", "update_failed", "deploy_failed"):
        return (reason(Code.MASTER_BLOCKED, state=found.state, status=found.status),)
    busy = found.pending or found.state != "deployed"
    if busy and not runs_minor(found.version, policy.target_minor):
        return (reason(Code.MASTER_BUSY, state=found.state, status=found.status, health=found.health),)
    return ()


def rights(snapshot: Snapshot, _policy: Policy) -> tuple[Reason, ...]:
    """Verbs the API server would refuse us: better known before than in the middle (B072)."""
    missing = snapshot.kubernetes.may_not
    return (reason(Code.MISSING_RIGHTS, rights=missing),) if missing else ()
