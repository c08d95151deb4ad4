"""A baseline fixes who and what belongs to a run, once."""

from dataclasses import replace
from typing import Any

import pytest

from state.planner import baseline
from state.run import BaselineWorkload
from tests.builders import START, pod, two_workers, workload
from tests.core.half_done import cpu, temporary
from tests.core.worlds import change_node, change_worker, kubernetes, with_pods


def test_given_the_first_look_then_members_gpus_and_workloads_are_fixed() -> None:
    world = with_pods(change_node(two_workers(), "w2", unschedulable=True), pod("waiting"))

    found = baseline(cpu(world))

    assert [(m.worker_id, m.node_uid, m.gpus, m.cordoned) for m in found.workers] == [
        ("w1", "uid-w1", {"nvidia.com/gpu": 1}, False),
        ("w2", "uid-w2", {"nvidia.com/gpu": 1}, True),
    ]
    assert found.workloads == (BaselineWorkload(workload().owner, 2, 2, {"nvidia.com/gpu": 1}),)
    assert found.pool_sizes == {"pool-1": 2}
    assert found.pool_workers == {"pool-1": ("w1", "w2")}
    assert found.pending == ("uid-waiting",)
    assert found.others == ("c1",)
    assert (found.master_version, found.taken_at) == ("1.35.4_1528", START)


def test_given_workers_of_the_temporary_pool_then_they_are_no_members() -> None:
    found = baseline(temporary(two_workers()))

    assert [m.worker_id for m in found.workers] == ["w1", "w2"]
    assert found.others == ()


@pytest.mark.parametrize(
    ("workloads", "names"),
    [
        ((workload("a", 2, 2), workload("b", 3, 1)), ["a", "b"]),
        ((workload("down", 1, 0), workload("zero", 0, 0)), []),
        ((replace(workload("job", 1, 1), finished=True),), []),
    ],
    ids=["running", "nothing runs", "B016 finished"],
)
def test_given_workloads_then_only_those_that_run_will_be_missed(workloads: tuple[Any, ...], names: list[str]) -> None:
    found = baseline(kubernetes(two_workers(), workloads=workloads))

    assert [w.owner.name for w in found.workloads] == names


def test_given_a_node_whose_gpus_are_not_offered_then_the_flavor_says_what_to_expect() -> None:
    world = change_worker(
        change_node(two_workers(), "w1", allocatable={"nvidia.com/gpu": 0}), "w1", flavor="gx3.32x160.2l4"
    )

    assert baseline(world).workers[0].gpus == {"nvidia.com/gpu": 2}
