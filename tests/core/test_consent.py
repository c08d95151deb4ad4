"""What needs consent later is said in the plan already."""

from dataclasses import replace

from state.preflight import warnings
from state.reasons import Code
from tests.builders import pod, policy, two_workers


def test_given_a_bare_pod_and_scratch_data_when_planned_then_the_plan_warns() -> None:
    world = two_workers()
    bare = pod("notebook", "10.240.0.64", owner=None)
    scratch = pod("training-1", "10.240.0.66", empty_dir=("scratch",))
    world = replace(world, kubernetes=replace(world.kubernetes, pods=(*world.kubernetes.pods, bare, scratch)))

    found = {r.code: r.facts["pods"] for r in warnings(world, policy()) if "pods" in r.facts}

    assert found[Code.BARE_PODS] == ("default/notebook",)
    assert found[Code.EMPTY_DIR] == ("default/training-1",)


def test_given_ordinary_workloads_when_planned_then_nothing_needs_consent() -> None:
    codes = {r.code for r in warnings(two_workers(), policy())}

    assert codes.isdisjoint({Code.BARE_PODS, Code.EMPTY_DIR, Code.JOBS_RUNNING, Code.HOST_LOCAL})
