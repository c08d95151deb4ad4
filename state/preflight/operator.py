"""Is there a GPU Operator already, and can we live with it?"""

from state.policy import Policy
from state.reasons import Code, Reason, reason
from state.snapshot import Snapshot
from state.versions import KubeVersion, parse_version


def foreign(snapshot: Snapshot, _policy: Policy) -> tuple[Reason, ...]:
    """Stacks that exclude this procedure, or an operator that is not Helm's (B006, B089)."""
    found = [reason(Code.FOREIGN_OPERATOR, what=name, owner="") for name in snapshot.kubernetes.foreign]
    if not snapshot.kubernetes.releases:
        found += [
            reason(Code.FOREIGN_OPERATOR, what=f"ClusterPolicy {p.name}", owner=p.release)
            for p in snapshot.kubernetes.cluster_policies
        ]
    return tuple(found)


def releases(snapshot: Snapshot, _policy: Policy) -> tuple[Reason, ...]:
    found = snapshot.kubernetes.releases
    if len(found) > 1:
        return (reason(Code.RELEASES_MANY, releases=tuple(f"{r.namespace}/{r.name}" for r in found)),)
    return ()


def adopted(snapshot: Snapshot, policy: Policy) -> tuple[Reason, ...]:
    """A release that is there is adopted; an untested chart version is said, beginning means accepting it."""
    found = [
        reason(Code.RELEASE_ELSEWHERE, release=r.name, namespace=r.namespace, version=r.chart_version)
        for r in snapshot.kubernetes.releases
    ]
    versions = [r.chart_version for r in snapshot.kubernetes.releases] or [policy.chart.version]
    low, high = policy.chart.tested
    found += [
        reason(Code.CHART_UNTESTED, version=v, low=low, high=high) for v in versions if not _between(v, low, high)
    ]
    return tuple(found)


def _between(text: str, low: str, high: str) -> bool:
    version, bottom, top = (parse_version(t) or KubeVersion(0, 0, 0) for t in (text, low, high))
    return bottom <= version <= top
