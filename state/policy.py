"""How a run behaves: durations, limits and choices of one cluster, fixed in the run when it starts.

Every wait of the product stands here as a duration, so that the same code runs in a world that is sixty times faster.
Leases, HTTP timeouts and Slack's limits are not policy and are never scaled.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class ChartChoice:
    """Where the GPU Operator comes from.

    Attributes:
        repository: https://…, oci://… or a path of a mirror.
        version: pinned chart version, without a leading v.
        tested: lowest and highest version that this product was tested with; outside means ask.
        release, namespace: fixed names, so that a second install meets the first.
        values: extra chart values.
    """

    repository: str = "https://helm.ngc.nvidia.com/nvidia"
    chart: str = "gpu-operator"
    version: str = "26.7.0"
    tested: tuple[str, str] = ("26.3.2", "26.7.99")
    release: str = "gpu-operator"
    namespace: str = "gpu-operator"
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Durations:
    """All waits, as in life.

    Attributes:
        poll: between two looks while something is expected.
        idle: between two looks while nothing is (waiting for a button, prepared).
        stable: how long a node has to stay healthy before it counts.
        settle: how long after a call of unknown outcome its effect may still show up.
        evict_retry: between two eviction attempts of one pod.
        drain, label, install, master, pool, replace, gpus, remove, verify: deadlines of the steps
            (gpus: from Node Ready until its GPUs are allocatable).
        quiet: how long an unreachable API is expected before it is spoken of.
        typical_replace: how long a replacement usually takes, for forecasts only.
        stale: how long our mark in a cluster counts after its last renewal; then another bot may go on there.
    """

    poll: timedelta = timedelta(seconds=20)
    idle: timedelta = timedelta(seconds=60)
    stable: timedelta = timedelta(seconds=90)
    settle: timedelta = timedelta(seconds=120)
    evict_retry: timedelta = timedelta(seconds=15)
    label: timedelta = timedelta(minutes=5)
    install: timedelta = timedelta(minutes=20)
    master: timedelta = timedelta(minutes=90)
    pool: timedelta = timedelta(minutes=60)
    drain: timedelta = timedelta(minutes=30)
    replace: timedelta = timedelta(minutes=90)
    gpus: timedelta = timedelta(minutes=30)
    remove: timedelta = timedelta(minutes=45)
    verify: timedelta = timedelta(minutes=30)
    quiet: timedelta = timedelta(minutes=3)
    stale: timedelta = timedelta(minutes=3)
    typical_replace: timedelta = timedelta(minutes=25)


@dataclass(frozen=True, slots=True)
class Policy:
    """All choices of one cluster.

    Attributes:
        target_minor: the minor to go to.
        close_old_nodes: the first worker's approval cordons all old GPU workers, so that each workload moves once.
        approvers, operators: Slack user ids. Empty approvers means nobody.
        observe: nothing mutating leaves the product.
        attempts: tries of one not-started call before a human is asked.
    """

    target_minor: str = "1.36"
    source_minor: str = "1.35"
    close_old_nodes: bool = True
    approvers: tuple[str, ...] = ()
    operators: tuple[str, ...] = ()
    observe: bool = True
    attempts: int = 2
    chart: ChartChoice = field(default_factory=ChartChoice)
    durations: Durations = field(default_factory=Durations)
