"""Who and what belongs to a run, as it was at plan time. Fixed once, compared for the rest of the run."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from state.snapshot import Owner


@dataclass(frozen=True, slots=True)
class GpuWorker:
    """A member of the run, as it was when planned. `cordoned`: it already was; then it is not ours to lift (B091)."""

    worker_id: str
    pool_id: str
    pool_name: str
    flavor: str
    zone: str
    node: str
    node_uid: str
    version: str
    gpus: Mapping[str, int]
    cordoned: bool = False


@dataclass(frozen=True, slots=True)
class BaselineWorkload:
    """A workload that used GPUs when planned. `available`: pods that were; recovered means that many again."""

    owner: Owner
    desired: int
    available: int
    gpus: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Baseline:
    """What was there at plan time.

    Attributes:
        pool_sizes: workers per pool of GPU workers.
        pending: uids of GPU pods that were Pending already; they never block (spike trap).
        others: worker ids without GPUs, listed at the end, never touched.
    """

    taken_at: datetime
    workers: tuple[GpuWorker, ...]
    workloads: tuple[BaselineWorkload, ...]
    pool_sizes: Mapping[str, int]
    pool_workers: Mapping[str, tuple[str, ...]]
    pending: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    master_version: str = ""
