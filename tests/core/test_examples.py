"""Both worked examples of the guide, driven through the machine alone."""

from state.run import RunPhase, StepKind, StepPhase
from tests.builders import one_worker, run, two_workers
from tests.core.model import Drive, Model


def test_given_two_workers_when_all_questions_are_approved_then_each_call_is_made_once_in_order() -> None:
    """Guide, example 2."""
    drive = Drive(Model(two_workers()), run())

    drive.go()

    assert drive.run.phase is RunPhase.DONE
    assert drive.model.journal == [
        "LabelNode(10.240.0.64 uid-w1)",
        "LabelNode(10.240.0.66 uid-w2)",
        "InstallChart(gpu-operator/gpu-operator 26.7.0)",
        "UpdateMaster(d8397vk20kb65iocenn0 1.36.0)",
        "CordonNode(10.240.0.64 uid-w1)",
        "CordonNode(10.240.0.66 uid-w2)",
        "EvictPod(default/gpu-burn-7d-46pml uid-gpu-burn-7d-46pml)",
        "ReplaceWorker(d8397vk20kb65iocenn0 w1)",
        "EvictPod(default/gpu-burn-7d-z6xnh uid-gpu-burn-7d-z6xnh)",
        "ReplaceWorker(d8397vk20kb65iocenn0 w2)",
    ]


def test_given_one_worker_when_all_questions_are_approved_then_a_temporary_pool_comes_and_goes() -> None:
    """Guide, example 1."""
    drive = Drive(Model(one_worker()), run(cluster="gpu-single"))

    drive.go()

    assert drive.run.phase is RunPhase.DONE
    kinds = [line.split("(")[0] for line in drive.model.journal]
    assert kinds == [
        "LabelNode",
        "InstallChart",
        "UpdateMaster",
        "CreatePool",
        "CordonNode",
        "EvictPod",
        "ReplaceWorker",
        "CordonNode",
        "EvictPod",
        "RemovePool",
    ]


def test_given_no_click_when_time_passes_then_nothing_disruptive_happens() -> None:
    drive = Drive(Model(two_workers()), run())
    drive.approve = False

    drive.go(ticks=30)

    assert drive.model.journal == []
    assert drive.run.phase is RunPhase.PLANNED


def test_given_only_the_plan_is_approved_when_time_passes_then_labels_and_operator_come_and_no_more() -> None:
    drive = Drive(Model(two_workers()), run())
    drive.approve = False
    drive.go(ticks=1)

    drive.click()
    drive.go(ticks=30)

    assert [line.split("(")[0] for line in drive.model.journal] == ["LabelNode", "LabelNode", "InstallChart"]
    waiting = [s.kind for s in drive.run.steps if s.phase is StepPhase.AWAITING_APPROVAL]
    assert waiting == [StepKind.UPDATE_MASTER]
