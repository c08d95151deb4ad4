"""What forbids a migration, or a human should know before it begins. One question per file, each a pure function.

`blockers` keep the Begin button away; `warnings` stand in the plan. Each question takes a snapshot and the policy.
"""

from collections.abc import Callable

from state.policy import Policy
from state.preflight import addons, cluster, consent, nodes, operator, pools, workloads
from state.reasons import Reason
from state.snapshot import Snapshot

Question = Callable[[Snapshot, Policy], tuple[Reason, ...]]

BLOCKING: tuple[Question, ...] = (
    cluster.kind_of_cluster,
    cluster.minors,
    cluster.master,
    addons.ranges,
    addons.autoscaled_pools,
    pools.refill,
    pools.opt_out_labels,
    nodes.workers_and_nodes_agree,
    nodes.one_system,
    nodes.healthy,
    nodes.taints_tolerated,
    nodes.driver_upgrades,
    operator.foreign,
    operator.releases,
    cluster.rights,
)
WARNING: tuple[Question, ...] = (
    nodes.other_accelerators,
    nodes.labels_without_gpus,
    nodes.cordoned,
    operator.adopted,
    consent.needed,
    workloads.budgets,
    workloads.single_replicas,
)


def blockers(snapshot: Snapshot, policy: Policy) -> tuple[Reason, ...]:
    return tuple(r for question in BLOCKING for r in question(snapshot, policy))


def warnings(snapshot: Snapshot, policy: Policy) -> tuple[Reason, ...]:
    return tuple(r for question in WARNING for r in question(snapshot, policy))
