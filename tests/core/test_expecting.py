"""What a new machine has to offer is told by its pool and its flavor, not by one member that was odd."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from state.baseline import Baseline
from state.expecting import expected_of
from state.planner import baseline
from tests.builders import two_workers, worker
from tests.core.worlds import change_node, new_worker

Offer = Mapping[str, int]
ONE, TWO, FOUR = ({"nvidia.com/gpu": count} for count in (1, 2, 4))
SLICES = {"nvidia.com/mig-1g.18gb": 7}
MIXED = {"nvidia.com/gpu": 4, "nvidia.com/mig-1g.18gb": 28}
SHARED = {"nvidia.com/gpu.shared": 8}


def members(flavor: str, *offers: Offer) -> Baseline:
    taken = baseline(two_workers())
    like = taken.workers[0]
    made = (replace(like, worker_id=f"m{n}", flavor=flavor, gpus=offer) for n, offer in enumerate(offers))
    return replace(taken, workers=tuple(made))


@pytest.mark.parametrize(
    ("flavor", "offers", "expected"),
    [
        ("gx3.16x80.l4", (ONE, ONE), ONE),
        ("gx3.64x320.4l4", ({}, FOUR), FOUR),
        ("gx3.64x320.4l4", ({"nvidia.com/gpu": 3}, FOUR), FOUR),
        ("gx3.64x320.4l4", ({"nvidia.com/gpu": 3},), FOUR),
        ("gx3.32x160.2l4", ({}, {}), TWO),
        ("mygpu.special", ({}, TWO, ONE), TWO),
        ("gx3d.160x1792.8h200", (SLICES, {"nvidia.com/gpu": 8}), {"nvidia.com/gpu": 8}),
        ("gx3d.160x1792.8h200", (SLICES, SLICES, {"nvidia.com/gpu": 8}), SLICES),
        ("gx3d.160x1792.8h200", ({"nvidia.com/mig-1g.18gb": 6}, SLICES), SLICES),
        ("gx3d.160x1792.8h200", (MIXED, MIXED), MIXED),
        ("gx3.16x80.l4", (SHARED, SHARED), SHARED),
        ("gx3.16x80.l4", ({"nvidia.com/gpu": 8},), {"nvidia.com/gpu": 8}),
        ("gx3.16x80.l4", (), ONE),
    ],
    ids=[
        "all alike",
        "the first had no GPU left",
        "the first had a dead GPU",
        "the only one had a dead GPU",
        "nobody had one",
        "an unknown flavor",
        "slices on one of two",
        "slices on most",
        "fewer slices on one",
        "slices beside whole GPUs",
        "shared under a name of its own",
        "shared under the plain name",
        "nobody alike",
    ],
)
def test_given_a_pool_when_a_machine_joins_then_it_must_offer_what_the_pool_and_its_flavor_give(
    flavor: str, offers: tuple[Offer, ...], expected: Offer
) -> None:
    assert expected_of(new_worker("n1", flavor=flavor), members(flavor, *offers)) == expected


def test_given_another_pool_of_the_same_flavor_when_a_machine_joins_then_that_flavor_tells() -> None:
    fresh = new_worker("t1", pool_id="pool-t", flavor="mygpu.special")

    assert expected_of(fresh, members("mygpu.special", TWO)) == TWO


def test_given_a_member_when_judged_then_it_must_offer_what_it_did() -> None:
    taken = members("gx3.64x320.4l4", {"nvidia.com/gpu": 3}, FOUR)

    assert expected_of(worker("m0", flavor="gx3.64x320.4l4"), taken) == {"nvidia.com/gpu": 3}


def test_given_a_first_worker_without_usable_gpus_when_planned_then_a_successor_still_needs_its_own() -> None:
    world = change_node(two_workers(), "w1", allocatable={"nvidia.com/gpu": 0})

    assert expected_of(new_worker("n1"), baseline(world)) == ONE
