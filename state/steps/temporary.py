"""Know the temporary pool of a run: by the id that was recorded, or by its name, which carries the run.

Temporary pools are known by name: the guide's own, and those of earlier runs. Others are somebody's to keep.
"""

from datetime import datetime
from typing import Final

from state.news import tell
from state.reasons import Code, reason
from state.run import Run
from state.snapshot import Pool, Snapshot
from state.steps.step import Scope

GUIDES_POOL: Final = "temp-gpu-pool"
OUR_POOLS: Final = "temp-gpu-r-"
_GOING = ("deleting", "deleted")


def is_temporary(pool_name: str) -> bool:
    return pool_name == GUIDES_POOL or pool_name.startswith(OUR_POOLS)


def pool_name(run_id: str) -> str:
    """Name of a run's temporary pool."""
    return f"temp-gpu-{run_id}"


def find(snapshot: Snapshot, scope: Scope) -> Pool | None:
    """The pool this run created, by id or by its name."""
    ours = scope.run.temporary_pool
    name = ours.name if ours else pool_name(scope.run.id)
    pools = [p for p in snapshot.iks.pools if p.state != "deleted" and (p.name == name or (ours and p.id == ours.id))]
    return pools[0] if pools else None


def left_over(snapshot: Snapshot) -> tuple[Pool, ...]:
    """Temporary pools that are there to stay, whoever made them."""
    return tuple(p for p in snapshot.iks.pools if is_temporary(p.name) and p.state not in _GOING)


def tell_left(run: Run, snapshot: Snapshot, at: datetime) -> Run:
    """Nobody may be left with a pool that costs money unawares: each one is named as the run ends."""
    for pool in left_over(snapshot):
        what = reason(Code.TEMPORARY_POOL_LEFT, pool=pool.name, size=pool.size, flavor=pool.flavor)
        run = tell(run, f"pool-left:{pool.id}", at, what)
    return run
