"""Do the cluster's add-ons support the target? The autoscaler add-on is the one that forbids 1.36 today (IKS sheet 0.1).

Ranges come from IKS, nothing is hard-coded: a later add-on may lift it.
"""

import re

from state.gpu_workers import gpu_workers
from state.policy import Policy
from state.reasons import Code, Reason, reason
from state.snapshot import Snapshot
from state.versions import KubeVersion, parse_version

_BOUND = re.compile(r"(>=|<=|>|<|=)?\s*v?(\d+\.\d+(?:\.\d+)?)")


def ranges(snapshot: Snapshot, policy: Policy) -> tuple[Reason, ...]:
    """Add-ons whose supported range ends below the target."""
    target = parse_version(policy.target_minor)
    found = []
    for addon in snapshot.iks.addons:
        if addon.supported_range and target is not None and not supports(addon.supported_range, target):
            code = Code.AUTOSCALER if "autoscaler" in addon.name else Code.ADDON_RANGE
            found.append(reason(code, addon=addon.name, version=addon.version, range=addon.supported_range))
    return tuple(found)


def supports(text: str, target: KubeVersion) -> bool:
    """Whether `target` lies in a range such as `>=1.31.0 <1.36.0`; what cannot be read forbids nothing."""
    for operator, bound_text in _BOUND.findall(text):
        bound = parse_version(bound_text)
        if bound is None:
            continue
        fits = {
            ">=": target >= bound,
            "<=": target <= bound,
            ">": target > bound,
            "<": target < bound,
            "=": target == bound,
        }
        if not fits.get(operator, True):
            return False
    return True


def autoscaled_pools(snapshot: Snapshot, _policy: Policy) -> tuple[Reason, ...]:
    """The autoscaler could remove an emptied GPU node, and refuses resize and rebalance."""
    ours = {w.pool_id for w in gpu_workers(snapshot)}
    pools = tuple(p.name for p in snapshot.iks.pools if p.id in ours and p.autoscaled)
    return (reason(Code.AUTOSCALER, pools=pools),) if pools else ()
