"""Ways to make a cluster unfit for a migration, one at a time."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from state.snapshot import Budget, Pool, Snapshot, Taint
from tests.builders import worker
from tests.core.worlds import change_node, iks

Change = Callable[[Snapshot], Snapshot]
GUARD = Budget("default", "burn", allowed=0, healthy=2, wanted=2, pods=("uid-gpu-burn-7d-46pml",))
"""A budget over the pod on the first worker that allows nothing now."""


def pools(**changes: Any) -> Change:
    def change(world: Snapshot) -> Snapshot:
        fresh: tuple[Pool, ...] = tuple(replace(p, **changes) for p in world.iks.pools)
        return iks(world, pools=fresh)

    return change


def tainted(key: str, value: str, effect: str) -> Change:
    return lambda world: change_node(world, "w1", taints=(Taint(key, value, effect),))


def add_worker(**changes: Any) -> Change:
    return lambda world: iks(world, workers=(*world.iks.workers, worker("x", **changes)))
