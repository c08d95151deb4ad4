"""What looking says about a call whose answer was lost: the table of the protocol, row by row."""

from dataclasses import replace
from datetime import timedelta

import pytest

from state.intents import CALL, LOOKS, Finding, look_for, settled
from state.orders import (
    CordonNode,
    CreatePool,
    EvictPod,
    InstallChart,
    LabelNode,
    Order,
    RemovePool,
    ReplaceWorker,
    UncordonNode,
    UpdateMaster,
)
from state.run import Intent
from state.snapshot import Snapshot
from tests.builders import CLUSTER, POOL, START, master, pool, release, two_workers, worker
from tests.core.worlds import at, change_worker, iks, join, kubernetes, leave

REPLACE = ReplaceWorker(CLUSTER, "w1", POOL)
UPDATE = UpdateMaster(CLUSTER, "1.36.0")
CREATE = CreatePool(CLUSTER, "temp-gpu-r-1", POOL, "gx3.16x80.l4", "vpc", "us-south-1", "subnet", 1, "UBUNTU_24_64")
REMOVE = RemovePool(CLUSTER, "pool-temp", "temp-gpu-r-1")


def intent(order: Order, **changes: object) -> Intent:
    given = Intent("r-1:op1", order, "replace-worker/w1", START, 1, ("w1", "w2"))
    return replace(given, **changes)  # type: ignore[arg-type]


def successor(world: Snapshot, worker_id: str = "n1") -> Snapshot:
    fresh = worker(worker_id, "", state="provisioning", health="")
    return iks(world, workers=(*world.iks.workers, fresh))


def temporary(world: Snapshot, **changes: object) -> Snapshot:
    made = replace(pool("pool-temp", name="temp-gpu-r-1", size=1), **changes)  # type: ignore[arg-type]
    return iks(world, pools=(*world.iks.pools, made))


def in_temporary(world: Snapshot, **changes: object) -> Snapshot:
    member = replace(worker("t1", pool_id="pool-temp"), **changes)  # type: ignore[arg-type]
    return temporary(iks(world, workers=(*world.iks.workers, member)))


def going(world: Snapshot) -> Snapshot:
    return change_worker(world, "w1", desired_state="deleted")


def mastered(**changes: object) -> Snapshot:
    return iks(two_workers(), master=master(**changes))  # type: ignore[arg-type]


WORLD = two_workers()
ROWS: dict[str, tuple[Order, Snapshot, Finding]] = {
    "replace: leaving, no new one yet": (REPLACE, going(WORLD), Finding.ADOPT),
    "replace: leaving, one new one": (REPLACE, successor(going(WORLD)), Finding.ADOPT),
    "replace: state deleting": (REPLACE, change_worker(WORLD, "w1", state="deleting"), Finding.ADOPT),
    "replace: gone": (REPLACE, leave(WORLD, "w1"), Finding.ADOPT),
    "replace: gone, one new one": (REPLACE, successor(leave(WORLD, "w1")), Finding.ADOPT),
    "replace: untouched": (REPLACE, WORLD, Finding.NOTHING_YET),
    "replace: untouched, one new one": (REPLACE, successor(WORLD), Finding.SOMEBODY_ELSE),
    "replace: two new ones": (REPLACE, successor(successor(WORLD), "n2"), Finding.POSSIBLE_DOUBLE),
    "replace: gone, two new ones": (REPLACE, successor(successor(leave(WORLD, "w1")), "n2"), Finding.POSSIBLE_DOUBLE),
    "master: there": (UPDATE, mastered(version="1.36.0_1506"), Finding.ADOPT),
    "master: pending": (UPDATE, mastered(pending=True), Finding.ADOPT),
    "master: updating": (UPDATE, mastered(state="updating"), Finding.ADOPT),
    "master: says so in words": (UPDATE, mastered(status="Version update in progress"), Finding.ADOPT),
    "master: untouched": (UPDATE, WORLD, Finding.NOTHING_YET),
    "pool: there": (CREATE, temporary(WORLD), Finding.ADOPT),
    "pool: not there": (CREATE, WORLD, Finding.NOTHING_YET),
    "pool: an older one, deleted": (CREATE, temporary(WORLD, state="deleted"), Finding.NOTHING_YET),
    "removal: gone": (REMOVE, WORLD, Finding.ADOPT),
    "removal: deleting": (REMOVE, temporary(WORLD, state="deleting"), Finding.ADOPT),
    "removal: its workers leave": (REMOVE, in_temporary(WORLD, desired_state="deleted"), Finding.ADOPT),
    "removal: untouched": (REMOVE, in_temporary(WORLD), Finding.NOTHING_YET),
    "removal: an empty pool": (REMOVE, temporary(WORLD), Finding.NOTHING_YET),
    "chart: a release": (
        InstallChart("g", "g", "g", "1", "r"),
        kubernetes(WORLD, releases=(release(),)),
        Finding.ADOPT,
    ),
    "chart: nothing": (InstallChart("g", "g", "g", "1", "r"), WORLD, Finding.NOTHING_YET),
    "label": (LabelNode("n", "u", "w1", {}), WORLD, Finding.ADOPT),
    "cordon": (CordonNode("n", "u", "w1"), WORLD, Finding.ADOPT),
    "uncordon": (UncordonNode("n", "u", "w1"), WORLD, Finding.ADOPT),
    "evict": (EvictPod("d", "p", "u", "n"), WORLD, Finding.ADOPT),
}


@pytest.mark.parametrize(("order", "world", "finding"), ROWS.values(), ids=ROWS)
def test_given_a_lost_answer_when_looked_for_then_one_of_four_things_is_found(
    order: Order, world: Snapshot, finding: Finding
) -> None:
    assert look_for(intent(order), world).finding is finding


@pytest.mark.parametrize(
    ("seconds", "seen", "enough"),
    [(127, LOOKS, False), (128, LOOKS - 1, True), (128, LOOKS - 2, False), (9999, 0, False), (9999, LOOKS, True)],
    ids=["too early", "just enough", "too few looks", "late, first look", "late"],
)
def test_given_no_effect_when_looked_then_time_and_several_looks_are_needed(
    seconds: int, seen: int, enough: bool
) -> None:
    """8 s for the call, 120 s for its effect to show."""
    settle_time = timedelta(seconds=120)
    assert CALL + settle_time == timedelta(seconds=128)

    assert settled(intent(REPLACE, seen=seen), at(WORLD, START + timedelta(seconds=seconds)), settle_time) is enough


def test_given_one_more_healthy_worker_when_joined_then_it_is_seen_as_a_stranger() -> None:
    assert look_for(intent(REPLACE), join(WORLD)).finding is Finding.SOMEBODY_ELSE
