"""A node is well only when the GPUs of before are back, by name and number, and it is our node."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from state.readiness import Stage, judge
from state.reasons import Code
from state.snapshot import KubernetesView, Node
from tests.core.gpu_node import (
    MACHINE,
    NAME,
    healthy,
    on_node,
    verdict,
)

SLICES = {"nvidia.com/mig-1g.18gb": 7}


@pytest.mark.parametrize(
    ("expected", "offered", "stage", "told"),
    [
        ({"nvidia.com/gpu": 2}, {"nvidia.com/gpu": 2}, Stage.HEALTHY, None),
        ({"nvidia.com/gpu": 4}, {"nvidia.com/gpu": 3}, Stage.FEWER_GPUS, (3, 4, "nvidia.com/gpu")),
        ({"nvidia.com/gpu": 1}, {"nvidia.com/gpu": 2}, Stage.HEALTHY, None),
        (SLICES, SLICES, Stage.HEALTHY, None),
        (SLICES, {"nvidia.com/gpu": 1}, Stage.NOT_REGISTERED, (0, 7, "nvidia.com/mig-1g.18gb")),
        ({"nvidia.com/gpu.shared": 8}, {"nvidia.com/gpu": 1}, Stage.NOT_REGISTERED, (0, 8, "nvidia.com/gpu.shared")),
    ],
    ids=["as before", "one is missing", "more than before", "slices", "slices lost", "sharing lost"],
)
def test_given_what_was_offered_before_then_names_and_numbers_must_come_back(
    expected: Mapping[str, int], offered: Mapping[str, int], stage: Stage, told: tuple[int, int, str] | None
) -> None:
    found = verdict(on_node(allocatable=offered, capacity=offered)(healthy()), expected)

    assert found.stage is stage
    assert found.evidence == (dict(zip(("have", "want", "resource"), told, strict=True)) if told else {})


def test_given_an_unready_node_then_its_reason_carries_the_stage_and_what_shows_it_as_facts() -> None:
    told = verdict(on_node(allocatable={"nvidia.com/gpu": 0})(healthy())).reason

    assert told.code is Code.WAIT_GPUS
    assert told.facts == {"node": NAME, "stage": "unhealthy-gpu", "have": 0, "want": 1, "resource": "nvidia.com/gpu"}


def test_given_a_missing_node_then_the_machines_own_words_are_shown() -> None:
    empty = replace(healthy(), kubernetes=KubernetesView("v1.36.0+IKS", (), ()))
    late = replace(MACHINE, message="Waiting for IP address assignment")

    assert judge(empty, late, {}).evidence == {"message": "Waiting for IP address assignment"}


def test_given_a_node_of_another_worker_with_the_same_name_then_it_is_not_taken_for_ours() -> None:
    """B026: names come back, worker ids do not."""
    world = healthy()
    stranger: Node = replace(world.kubernetes.nodes[0], worker_id="n2")
    world = replace(world, kubernetes=replace(world.kubernetes, nodes=(stranger,)))

    assert verdict(world).stage is Stage.NODE_MISSING
