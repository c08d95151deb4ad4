"""Clusters as an earlier, lost migration leaves them, and what else stands beside GPU workers."""

from typing import Any

from state.snapshot import Snapshot
from tests.builders import pool, worker
from tests.core.worlds import change_worker, iks, join

TEMPORARY = pool("pool-t", 1, name="temp-gpu-pool")


def temporary(world: Snapshot, worker_id: str = "t1") -> Snapshot:
    """The world with a temporary pool of one worker on the target."""
    world = iks(join(world, worker_id), pools=(*world.iks.pools, TEMPORARY))
    return change_worker(world, worker_id, pool_id="pool-t", pool_name="temp-gpu-pool")


def cpu(world: Snapshot, **changes: Any) -> Snapshot:
    """The world with a worker without GPUs."""
    return iks(world, workers=(*world.iks.workers, worker("c1", flavor="bx2.4x16", pool_id="pool-c", **changes)))
