"""Which workers have NVIDIA GPUs, and how many: IKS's word first, then the node's, a label's never (B022)."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from state.gpu_workers import (
    advertised,
    expected_gpus,
    flavor_gpus,
    gpu_workers,
    has_gpus,
    old_gpu_nodes,
    old_gpu_workers,
    other_accelerator,
)
from state.snapshot import Node, Worker
from tests.builders import NEW, node, two_workers, worker

PRESENT = {"nvidia.com/gpu.present": "true"}


@pytest.mark.parametrize(
    ("flavor", "gpus"),
    [
        ("gx3.16x80.l4", 1),
        ("gx3.32x160.2l4", 2),
        ("gx3.64x320.4l4", 4),
        ("gx3.24x120.l40s", 1),
        ("gx3.48x240.2l40s", 2),
        ("gx3d.160x1792.8h200", 8),
        ("gx2.16x128.2v100", 2),
        (" GX3.16x80.L4 ", 1),
        ("gx3d.160x1792.8gaudi3", 0),
        ("gx3d.208x1792.8mi300x", 0),
        ("bx2.4x16", 0),
        ("cx3d.8x20", 0),
        ("gx3.16x80", 0),
        ("", 0),
    ],
)
def test_given_a_flavor_then_its_name_tells_the_gpus(flavor: str, gpus: int) -> None:
    assert flavor_gpus(flavor) == gpus


@pytest.mark.parametrize(
    ("flavor", "other"),
    [
        ("gx3d.160x1792.8gaudi3", True),
        ("gx3d.208x1792.8mi300x", True),
        ("gx3.16x80.l4", False),
        ("bx2.4x16", False),
    ],
)
def test_given_a_flavor_then_accelerators_of_other_makers_are_known(flavor: str, other: bool) -> None:
    assert other_accelerator(flavor) is other


CPU, L4, ODD = (worker("c1", flavor=f) for f in ("bx2.4x16", "gx3.16x80.l4", "mygpu.special"))


@pytest.mark.parametrize(
    ("machine", "its_node", "member"),
    [
        (L4, None, True),
        (L4, node("a", "c1", gpus=0), True),
        (CPU, node("a", "c1", gpus=0), False),
        (CPU, node("a", "c1", gpus=0, labels=PRESENT), False),
        (CPU, None, False),
        (ODD, node("a", "c1", gpus=2), True),
        (ODD, node("a", "c1", gpus=0), False),
        (ODD, node("a", "c1", gpus=0, allocatable={"nvidia.com/mig-1g.5gb": 7}), True),
        (replace(CPU, flavor="gx3d.160x1792.8gaudi3"), node("a", "c1", gpus=8), False),
    ],
    ids=[
        "flavor alone",
        "flavor, GPUs not there yet",
        "CPU worker",
        "CPU worker with a GPU label",
        "CPU worker without node",
        "unknown flavor that offers GPUs",
        "unknown flavor without",
        "unknown flavor that offers slices",
        "another maker's accelerator",
    ],
)
def test_given_worker_and_node_then_membership_follows_flavor_or_what_is_offered(
    machine: Worker, its_node: Node | None, member: bool
) -> None:
    assert has_gpus(machine, its_node) is member


def test_given_workers_of_all_ages_then_only_those_that_run_something_old_are_old() -> None:
    world = two_workers()
    others = (
        worker("new", NEW),
        worker("fresh", "", state="provisioning", health=""),
        worker("leaving", desired_state="deleted", state="deleting"),
        worker("gone", state="deleted"),
        worker("cpu", flavor="bx2.4x16"),
    )
    world = replace(world, iks=replace(world.iks, workers=(*world.iks.workers, *others)))

    assert [w.id for w in gpu_workers(world)] == ["w1", "w2", "new", "fresh", "leaving"]
    assert [w.id for w in old_gpu_workers(world, "1.36")] == ["w1", "w2"]


def test_given_an_old_worker_without_a_node_then_only_the_others_nodes_are_named() -> None:
    world = two_workers()
    world = replace(world, kubernetes=replace(world.kubernetes, nodes=world.kubernetes.nodes[1:]))

    assert [n.worker_id for n in old_gpu_nodes(world, "1.36")] == ["w2"]


@pytest.mark.parametrize(
    ("flavor", "before", "expected"),
    [
        ("gx3.16x80.l4", {"nvidia.com/gpu": 1}, {"nvidia.com/gpu": 1}),
        ("gx3.32x160.2l4", {}, {"nvidia.com/gpu": 2}),
        ("gx3.32x160.2l4", {"nvidia.com/gpu": 0}, {"nvidia.com/gpu": 2}),
        ("gx3.32x160.2l4", {"nvidia.com/gpu.shared": 8}, {"nvidia.com/gpu.shared": 8}),
        (
            "gx3d.160x1792.8h200",
            {"nvidia.com/gpu": 0, "nvidia.com/mig-1g.18gb": 7, "nvidia.com/mig-3g.71gb": 2},
            {"nvidia.com/mig-1g.18gb": 7, "nvidia.com/mig-3g.71gb": 2},
        ),
        ("mygpu.special", {}, {"nvidia.com/gpu": 1}),
    ],
    ids=["as before", "flavor", "flavor when none were seen", "shared", "slices", "unknown flavor"],
)
def test_given_what_was_offered_before_then_a_successor_must_offer_the_same(
    flavor: str, before: Mapping[str, int], expected: Mapping[str, int]
) -> None:
    assert expected_gpus(flavor, before) == expected


def test_given_no_node_then_nothing_is_advertised() -> None:
    assert advertised(None) == {}
