"""Install the NVIDIA GPU Operator while the control plane is still on the old minor, or adopt the one that is there.

Source: guide, "Prepare before 1.36 is available" steps 2 and 3, examples step 2.2 and 2.3. The release name is fixed, so a
second install meets the first; any release of the chart counts, people may have followed the guide earlier (B089). Done
means: release deployed, operator and NFD pods ready, nothing of the operator on labelled nodes.
"""

from datetime import timedelta

from state.gpu_workers import old_gpu_nodes
from state.opt_out import traces
from state.orders import InstallChart, Order
from state.reasons import Code, Reason, reason
from state.run import StepKind
from state.snapshot import Pod, Release, Snapshot
from state.steps.label_nodes import unlabelled
from state.steps.step import Broken, Done, Scope, Step, Verdict, Waiting

_FRESH = timedelta(minutes=15)  # a helm command that old is no longer running (its own limit is 5 min a wait)


def check(snapshot: Snapshot, scope: Scope) -> tuple[Reason, ...]:
    """No operator may start while an old GPU node lacks the labels; no second operator ever."""
    found = [reason(Code.OLD_NODE_UNLABELLED, node=n.name) for n in unlabelled(snapshot, scope.target)]
    releases = snapshot.kubernetes.releases
    if len(releases) > 1:
        found.append(reason(Code.RELEASES_MANY, releases=tuple(f"{r.namespace}/{r.name}" for r in releases)))
    if not releases and snapshot.kubernetes.cluster_policies:
        policy = snapshot.kubernetes.cluster_policies[0]
        found.append(reason(Code.FOREIGN_OPERATOR, what=f"ClusterPolicy {policy.name}", owner=policy.release))
    return tuple(found)


def act(snapshot: Snapshot, scope: Scope) -> tuple[Order, ...]:
    if snapshot.kubernetes.releases:
        return ()
    chart = scope.run.policy.chart
    return (InstallChart(chart.release, chart.namespace, chart.chart, chart.version, chart.repository, chart.values),)


def verify(snapshot: Snapshot, scope: Scope) -> Verdict:
    releases = snapshot.kubernetes.releases
    if not releases:
        return Waiting(reason(Code.WAIT_RELEASE, release=scope.run.policy.chart.release))
    release = releases[0]
    if release.status != "deployed":
        return _unfinished(snapshot, release)
    if unready := _unready_pods(snapshot, release):
        return Waiting(reason(Code.WAIT_OPERATOR_PODS, pods=unready))
    for node in old_gpu_nodes(snapshot, scope.target):
        if left := traces(snapshot, node):
            return Waiting(reason(Code.WAIT_NODE_CLEAN, node=node.name, what=left))
    return Done()


def _unfinished(snapshot: Snapshot, release: Release) -> Verdict:
    name = f"{release.namespace}/{release.name}"
    if not release.status.startswith(("pending", "uninstalling")):
        return Broken(reason(Code.RELEASE_FAILED, release=name, status=release.status, chart=release.chart))
    age = snapshot.at - release.updated_at if release.updated_at else timedelta(0)
    if age > _FRESH:
        minutes = int(age.total_seconds() // 60)
        return Broken(reason(Code.RELEASE_STUCK, release=name, status=release.status, minutes=minutes))
    return Waiting(reason(Code.WAIT_RELEASE, release=name, status=release.status))


def _unready_pods(snapshot: Snapshot, release: Release) -> tuple[str, ...]:
    """Pods of operator and NFD that are not ready; a placeholder for those not created yet."""
    pods = [p for p in snapshot.kubernetes.pods if p.namespace == release.namespace and not p.finished]
    operator = [p for p in pods if p.app == "gpu-operator"]
    if not operator:
        return (f"{release.namespace}/gpu-operator",)
    parts = [p for p in pods if p.part in ("master", "worker", "gc")]
    return tuple(p.key for p in (*operator, *parts) if not _fine(p))


def _fine(pod: Pod) -> bool:
    return pod.ready or pod.deleting_since is not None


STEP = Step(StepKind.INSTALL_OPERATOR, lambda d: d.install, check, act, verify)
