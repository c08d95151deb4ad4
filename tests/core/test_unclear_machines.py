"""A GPU machine that cannot be judged for sure keeps the plan from beginning: it would be left out, and then harmed."""

from dataclasses import replace

from state.planner import plan
from state.reasons import Code, reason
from state.snapshot import Snapshot
from tests.builders import node, run, two_workers, worker


def with_workers(**changes: object) -> Snapshot:
    """The second worker as IKS tells it when fields are missing."""
    world = two_workers()
    first, second = world.iks.workers
    bare = replace(second, **changes)  # type: ignore[arg-type]  # names are checked by replace itself
    return replace(world, iks=replace(world.iks, workers=(first, bare)))


def test_given_a_worker_without_a_version_when_planned_then_it_blocks() -> None:
    blockers = plan(run(), with_workers(version="")).blockers

    assert [b.code for b in blockers] == [Code.WORKER_UNHEALTHY]
    assert (blockers[0].text("worker"), blockers[0].text("message")) == ("w2", "kubeVersion: -")


def test_given_a_worker_without_a_flavor_when_its_node_has_gpus_then_it_is_one_of_ours() -> None:
    planned = plan(run(), with_workers(flavor=""))

    assert planned.blockers == ()
    assert planned.baseline is not None
    assert [w.worker_id for w in planned.baseline.workers] == ["w1", "w2"]


def test_given_a_gpu_node_that_names_no_worker_when_planned_then_it_blocks() -> None:
    world = two_workers()
    stray = node("10.240.0.99", "")
    world = replace(world, kubernetes=replace(world.kubernetes, nodes=(*world.kubernetes.nodes, stray)))

    assert plan(run(), world).blockers == (reason(Code.NODE_WORKER_MISMATCH, worker="", node="10.240.0.99"),)


def test_given_a_worker_with_no_fields_but_its_id_when_its_node_has_no_gpus_then_it_is_none_of_ours() -> None:
    world = two_workers()
    empty = worker("w3", "", flavor="", state="", desired_state="", health="", ip="", pool_id="", pool_name="")
    world = replace(world, iks=replace(world.iks, workers=(*world.iks.workers, empty)))

    assert plan(run(), world).blockers == ()
