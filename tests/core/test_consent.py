"""What needs consent later is said in the plan already."""

from dataclasses import replace

from state.preflight import warnings
from state.reasons import Code
from state.run import RunPhase, StepKind, StepPhase
from tests.builders import pod, policy, run, two_workers
from tests.core.model import Drive, Model


def test_given_a_bare_pod_and_scratch_data_when_planned_then_the_plan_warns() -> None:
    world = two_workers()
    bare = pod("notebook", "10.240.0.64", owner=None)
    scratch = pod("training-1", "10.240.0.66", empty_dir=("scratch",))
    world = replace(world, kubernetes=replace(world.kubernetes, pods=(*world.kubernetes.pods, bare, scratch)))

    found = {r.code: r.facts["pods"] for r in warnings(world, policy()) if "pods" in r.facts}

    assert found[Code.BARE_PODS] == ("default/notebook",)
    assert found[Code.EMPTY_DIR] == ("default/training-1",)


def test_given_a_plan_that_warns_when_begun_then_it_begins_and_only_the_workers_card_waits() -> None:
    world = two_workers()
    bare = pod("notebook", "10.240.0.64", owner=None, gpus=0)
    world = replace(world, kubernetes=replace(world.kubernetes, pods=(*world.kubernetes.pods, bare)))
    drive = Drive(Model(world), run())
    drive.go(12)

    moving = next(step for step in drive.run.steps if step.kind is StepKind.MOVE_WORKLOADS)
    assert drive.run.phase is RunPhase.ACTIVE
    assert moving.phase is StepPhase.AWAITING_APPROVAL
    assert drive.answers[-1].code is Code.FACTS_CHANGED


def test_given_ordinary_workloads_when_planned_then_nothing_needs_consent() -> None:
    codes = {r.code for r in warnings(two_workers(), policy())}

    assert codes.isdisjoint({Code.BARE_PODS, Code.EMPTY_DIR, Code.JOBS_RUNNING, Code.HOST_LOCAL})
