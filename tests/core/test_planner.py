"""A plan fixes who belongs to it, goes on from what is there already, and never names a machine without GPUs."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from state import marks
from state.opt_out import OPERANDS
from state.planner import newest_patch, plan
from state.reasons import Code, Fact, Reason, reason
from state.run import Goal, Run, StepKind
from state.snapshot import OfferedVersion, Snapshot
from tests.builders import NEW, START, master, node, one_worker, policy, run, two_workers, worker
from tests.core.half_done import TEMPORARY, cpu, temporary
from tests.core.worlds import change_node, change_worker, iks, join, kubernetes

LABEL, INSTALL, MASTER, VERIFY = (
    StepKind.LABEL_NODES,
    StepKind.INSTALL_OPERATOR,
    StepKind.UPDATE_MASTER,
    StepKind.VERIFY_MIGRATION,
)
MOVE, REPLACE = StepKind.MOVE_WORKLOADS, StepKind.REPLACE_WORKER
ADD, REMOVE = StepKind.ADD_TEMPORARY_POOL, StepKind.REMOVE_TEMPORARY_POOL


def keys(planned: Run) -> list[str]:
    return [step.key for step in planned.steps]


UPDATED = iks(two_workers(), master=master("1.36.0_1506"))
HEAD = ["label-nodes", "install-operator", "update-master"]
W1, W2 = ["move-workloads/w1", "replace-worker/w1"], ["move-workloads/w2", "replace-worker/w2"]
TAIL = ["verify-migration"]


@pytest.mark.parametrize(
    ("world", "expected"),
    [
        (two_workers(), [*HEAD, *W1, *W2, *TAIL]),
        (one_worker(), [*HEAD, "add-temporary-pool", *W1, "remove-temporary-pool", *TAIL]),
        (UPDATED, [*HEAD, *W1, *W2, *TAIL]),
        (change_worker(UPDATED, "w1", version=NEW), [*HEAD, *W2, *TAIL]),
        (change_worker(change_worker(UPDATED, "w1", version=NEW), "w2", version=NEW), [*HEAD, *TAIL]),
        (change_worker(iks(one_worker(), master=master(NEW)), "w1", version=NEW), [*HEAD, *TAIL]),
        (change_worker(UPDATED, "w1", desired_state="deleted", state="deleting"), [*HEAD, *W2, *TAIL]),
        (temporary(two_workers()), [*HEAD, "add-temporary-pool", *W1, *W2, "remove-temporary-pool", *TAIL]),
        (
            change_worker(temporary(one_worker()), "w1", version=NEW),
            [*HEAD, "remove-temporary-pool", *TAIL],
        ),
        (cpu(two_workers()), [*HEAD, *W1, *W2, *TAIL]),
        (
            iks(two_workers(), workers=(*two_workers().iks.workers, worker("g1", flavor="gx3d.160x1792.8gaudi3"))),
            [*HEAD, *W1, *W2, *TAIL],
        ),
    ],
    ids=[
        "example 2",
        "example 1",
        "control plane already there",
        "one worker already there",
        "all workers already there",
        "the only worker already there",
        "one worker leaving",
        "temporary pool left over",
        "only the temporary pool left over",
        "a worker without GPUs",
        "another maker's accelerator",
    ],
)
def test_given_a_cluster_then_the_steps_that_are_left_are_planned_one_after_the_other(
    world: Snapshot, expected: list[str]
) -> None:
    planned = plan(run(), world)

    assert keys(planned) == expected
    assert [step.after for step in planned.steps] == [(), *((key,) for key in expected[:-1])]


def test_given_one_worker_among_leaving_ones_then_the_temporary_pool_is_not_forgotten() -> None:
    """Example 1 begun by somebody, who has then lost the place: the pool exists, its worker does not yet."""
    world = iks(one_worker(), pools=(*one_worker().iks.pools, TEMPORARY))

    planned = plan(run(), world)

    assert planned.temporary_pool is not None
    assert (planned.temporary_pool.name, planned.temporary_pool.id) == ("temp-gpu-pool", "pool-t")
    assert ADD in [s.kind for s in planned.steps]
    assert REMOVE in [s.kind for s in planned.steps]


@pytest.mark.parametrize("state", ["deleted", "deleting"])
def test_given_a_temporary_pool_that_is_going_then_it_is_not_taken_up(state: str) -> None:
    world = iks(two_workers(), pools=(*two_workers().iks.pools, replace(TEMPORARY, state=state)))

    assert plan(run(), world).temporary_pool is None


@pytest.mark.parametrize(
    ("name", "ours"),
    [("temp-gpu-pool", True), ("temp-gpu-r-0a1b2c3d", True), ("temp-gpu-research", False), ("temp-gpu-pool-2", False)],
)
def test_given_a_pool_with_such_a_name_then_only_a_migrations_own_is_temporary(name: str, ours: bool) -> None:
    """A pool that is taken for temporary is not migrated, and its removal is asked for in the end."""
    world = iks(join(UPDATED, "t1"), pools=(*UPDATED.iks.pools, replace(TEMPORARY, name=name)))
    planned = plan(run(), change_worker(world, "t1", pool_id="pool-t", pool_name=name, version="1.35.4_1528"))

    assert (planned.temporary_pool is not None) is ours
    assert ("replace-worker/t1" in keys(planned)) is not ours
    assert ("remove-temporary-pool" in keys(planned)) is ours


def test_given_a_worker_step_then_it_names_worker_pool_and_node() -> None:
    step = plan(run(), two_workers()).steps[3]

    assert (step.kind, step.worker_id, step.pool_id, step.node) == (MOVE, "w1", "pool-1", "10.240.0.64")


@pytest.mark.parametrize("goal", list(Goal))
def test_given_no_target_is_offered_then_only_preparing_is_possible(goal: Goal) -> None:
    world = iks(two_workers(), versions=(OfferedVersion(1, 35, 4),))
    planned = plan(run(goal=goal), world)

    assert planned.target_version == ""
    assert planned.blockers == (() if goal is Goal.PREPARE else (reason(Code.NO_TARGET_YET, minor="1.36"),))
    if goal is Goal.PREPARE:
        assert [s.kind for s in planned.steps] == [LABEL, INSTALL]


def test_given_the_control_plane_is_there_then_no_target_has_to_be_offered() -> None:
    assert plan(run(), iks(UPDATED, versions=())).blockers == ()


ENDED = "2026-11-30T12:00:00+0000"


@pytest.mark.parametrize(
    ("offered", "newest"),
    [
        ([(36, 0, "")], "1.36.0"),
        ([(36, 9, ""), (36, 10, ""), (36, 2, "")], "1.36.10"),
        ([(36, 0, ""), (36, 1, ENDED)], "1.36.0"),
        ([(36, 1, "2026-12-24T12:00:00+0000")], "1.36.1"),
        ([(36, 1, "2026-12-01T23:00:00+0000")], ""),
        ([(37, 0, ""), (35, 9, ""), (3, 6, "")], ""),
        ([], ""),
    ],
    ids=["one", "numbers, not text", "not supported any more", "ends later", "ends today", "other minors", "none"],
)
def test_given_offered_versions_then_the_newest_supported_patch_is_the_target(
    offered: list[tuple[int, int, str]], newest: str
) -> None:
    world = iks(two_workers(), versions=tuple(OfferedVersion(1, minor, patch, end) for minor, patch, end in offered))

    assert newest_patch(world, "1.36") == newest
    assert plan(run(), world).target_version == newest


OPTED = change_node(two_workers(), "w2", labels={OPERANDS: "false"})
MARK = {marks.RUN: "r-0", marks.INSTANCE: "i-0"}


@pytest.mark.parametrize(
    ("world", "traces"),
    [
        (UPDATED, {"master": "1.36.0_1506"}),
        (change_worker(UPDATED, "w1", version=NEW), {"master": "1.36.0_1506", "workers": ("w1",)}),
        (temporary(two_workers()), {"workers": ("t1",), "pools": ("temp-gpu-pool",)}),
        (OPTED, {"nodes": ("10.240.0.66",)}),
        (kubernetes(two_workers(), marker=MARK), {"mark": "r-0"}),
    ],
    ids=["control plane", "worker", "temporary pool", "labels", "B085 lost journal"],
)
def test_given_traces_of_a_migration_then_the_plan_says_where_it_goes_on(
    world: Snapshot, traces: Mapping[str, Fact]
) -> None:
    planned = plan(run(), world)

    assert Reason(Code.HALF_DONE, traces) in planned.warnings


def test_given_a_mark_that_somebody_renews_then_it_forbids_a_second_run() -> None:
    fresh = {**MARK, marks.RENEWED: (START - timedelta(seconds=30)).isoformat()}

    planned = plan(run(), kubernetes(two_workers(), marker=fresh))

    assert [r.code for r in planned.blockers] == [Code.OTHER_RUN_IN_CLUSTER]
    assert Code.HALF_DONE not in [r.code for r in planned.warnings]


def test_given_a_fresh_mark_on_a_node_then_it_forbids_a_second_run_though_the_lease_is_gone() -> None:
    fresh = {**MARK, marks.RENEWED: (START - timedelta(seconds=30)).isoformat()}
    planned = plan(run(), change_node(two_workers(), "w2", annotations=fresh))

    assert planned.blockers == (reason(Code.OTHER_RUN_IN_CLUSTER, run="r-0", instance="i-0"),)


def test_given_an_old_mark_on_a_node_then_the_plan_goes_on_from_there() -> None:
    planned = plan(run(), change_node(two_workers(), "w2", annotations=MARK))

    assert planned.blockers == ()
    assert reason(Code.HALF_DONE, mark="r-0") in planned.warnings


def test_given_our_own_mark_then_it_is_no_trace() -> None:
    planned = plan(run(), kubernetes(two_workers(), marker={marks.RUN: "r-1"}))

    assert planned.blockers == ()
    assert Code.HALF_DONE not in [r.code for r in planned.warnings]


def test_given_only_watching_is_allowed_then_the_plan_says_so_unless_more_forbids_it() -> None:
    watching = run(policy=policy(observe=True))

    assert [r.code for r in plan(watching, two_workers()).blockers] == [Code.MODE_OBSERVE]
    assert [r.code for r in plan(watching, iks(two_workers(), provider="classic")).blockers] == [Code.NOT_VPC]


def test_given_a_node_with_the_label_of_a_gpu_only_then_its_worker_is_not_planned() -> None:
    """B022."""
    world = cpu(two_workers())
    labelled = node("10.240.0.70", "c1", gpus=0, labels={"nvidia.com/gpu.present": "true"})
    planned = plan(run(), kubernetes(world, nodes=(*world.kubernetes.nodes, labelled)))

    assert "c1" not in {step.worker_id for step in planned.steps}
    assert Code.GPU_LABEL_WITHOUT_GPU in [r.code for r in planned.warnings]
