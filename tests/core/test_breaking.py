"""What breaks a step, what stops the run, and what heals by itself."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from state.events import PauseRequested
from state.opt_out import OPERANDS
from state.reasons import Code
from state.run import RunPhase, StepKind, StepPhase
from state.snapshot import Snapshot
from tests.builders import NEW, OLD, START, node, operand, pod, two_workers, worker
from tests.core.driving import codes, drive, in_phase, kinds, look, ordered, settle, step
from tests.core.midway import emptied, fresh, replaced, replacing, twist, wait
from tests.core.worlds import change_node, change_worker, iks, join, kubernetes, with_pods

# --- breaks


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda w: change_worker(w, fresh(w), state="provision_failed", health="critical"), Code.PROVISION_FAILED),
        (lambda w: change_worker(w, fresh(w), version=OLD), Code.SUCCESSOR_WRONG_MINOR),
        (lambda w: change_node(w, fresh(w), labels={OPERANDS: "false"}), Code.SUCCESSOR_OPTED_OUT),
        (lambda w: join(join(w, "x1", "10.240.9.1"), "x2", "10.240.9.2"), Code.STRANGER),
    ],
    ids=["not provisioned", "old minor again", "B055 opted out by its pool", "more than ordered"],
)
def test_given_a_successor_that_will_not_do_when_seen_then_the_step_fails_at_once(
    change: Callable[[Snapshot], Snapshot], code: Code
) -> None:
    d = replaced()
    twist(d, change)

    look(d)

    assert (replacing(d).phase, replacing(d).note.code) == (StepPhase.FAILED, code)
    assert Code.STEP_FAILED in codes(d)
    settle(d, ticks=10)
    assert kinds(d).count("ReplaceWorker") == 1


def test_given_a_node_without_gpus_for_too_long_when_seen_then_the_last_cause_is_named() -> None:
    """B095: a phase with its own deadline, long before the step's."""
    d = replaced()
    twist(d, lambda w: change_node(w, fresh(w), allocatable={}, capacity={}))
    look(d)
    wait(d, d.run.policy.durations.gpus + timedelta(seconds=1))

    look(d)

    note = replacing(d).note
    assert (replacing(d).phase, note.code) == (StepPhase.FAILED, Code.DEADLINE)
    assert note.cause.facts["stage"] == "not-registered"
    assert note.facts["seconds"] > 1800


def test_given_a_kubelet_that_refuses_pods_when_the_workload_waits_then_the_step_breaks() -> None:
    """B037."""
    d = replaced()

    def refuse(world: Snapshot) -> Snapshot:
        found = world.node_of(fresh(world))
        assert found is not None
        facts: dict[str, Any] = {
            "phase": "Failed",
            "ready": False,
            "reason": "UnexpectedAdmissionError",
            "created_at": world.at,
        }
        rejected = (pod(f"gpu-burn-7d-r{n}", found.name, **facts) for n in range(5))
        short = tuple(replace(w, available=1) for w in world.kubernetes.workloads)
        return kubernetes(with_pods(world, *rejected), workloads=short)

    twist(d, refuse)
    wait(d, d.run.policy.durations.stable)
    look(d)

    assert (replacing(d).phase, replacing(d).note.code) == (StepPhase.FAILED, Code.ADMISSION_REFUSED)


# --- deadlines


def test_given_a_deadline_when_it_passes_then_the_step_is_stuck_with_its_last_cause_and_heals_by_itself() -> None:
    d = drive(two_workers(), in_phase(StepKind.UPDATE_MASTER, StepPhase.VERIFYING))
    d.approve = False
    wait(d, timedelta(minutes=91))

    look(d)

    updating = step(d, StepKind.UPDATE_MASTER)
    assert updating.phase is StepPhase.FAILED
    assert updating.note is not None
    assert (updating.note.code, updating.note.facts["seconds"]) == (Code.DEADLINE, 5490)
    assert updating.note.cause is not None
    assert updating.note.cause.code is Code.WAIT_MASTER
    assert Code.STEP_STUCK in codes(d)
    settle(d, ticks=3)
    assert step(d, StepKind.UPDATE_MASTER).phase is StepPhase.DONE
    assert kinds(d).count("UpdateMaster") == 1


def test_given_a_broken_webhook_when_the_master_is_updated_then_it_is_a_block_and_no_slow_progress() -> None:
    """B051."""
    d = drive(two_workers(), in_phase(StepKind.UPDATE_MASTER, StepPhase.VERIFYING))
    told = "Cluster has a broken webhook application. See https://ibm.biz/master_webhook"
    twist(d, lambda w: iks(w, master=replace(w.iks.master, state="update_failed", status=told)))

    look(d)

    note = step(d, StepKind.UPDATE_MASTER).note
    assert note is not None
    assert (note.code, note.facts["status"]) == (Code.MASTER_BLOCKED, told)


def test_given_iks_and_the_api_server_disagree_when_looked_then_the_master_is_not_done() -> None:
    """B039."""
    d = drive(two_workers(), in_phase(StepKind.UPDATE_MASTER, StepPhase.VERIFYING))
    d.approve = False
    there = replace(d.model.snapshot.iks.master, version="1.36.0_1506", pending=False, state="deployed")
    twist(d, lambda w: iks(w, master=there))

    look(d)

    waiting = step(d, StepKind.UPDATE_MASTER)
    assert waiting.phase is StepPhase.VERIFYING
    assert waiting.note is not None
    assert waiting.note.code is Code.WAIT_API_VERSION


# --- stops


def test_given_a_worker_that_nobody_ordered_when_the_replacement_is_due_then_the_run_stops() -> None:
    d = emptied()
    twist(d, lambda w: iks(w, workers=(*w.iks.workers, worker("x1", NEW, state="provisioning", health=""))))

    look(d)

    assert d.run.pause is not None
    assert (d.run.pause.by, d.run.pause.reason.code) == ("", Code.STRANGER)
    settle(d, ticks=5)
    assert "ReplaceWorker" not in kinds(d)
    assert codes(d).count(Code.STRANGER) == 1


def newcomer(world: Snapshot) -> Snapshot:
    """Somebody grew the pool: one more 1.35 worker, its node without the labels."""
    grown = iks(world, workers=(*world.iks.workers, worker("w3", ip="10.240.0.99")))
    return kubernetes(grown, nodes=(*grown.kubernetes.nodes, node("10.240.0.99", "w3")))


def test_given_an_old_node_without_labels_in_the_middle_when_seen_then_it_is_labelled_at_once_and_said() -> None:
    """B004: operands would start over IBM's driver."""
    d = drive(two_workers(), in_phase(StepKind.UPDATE_MASTER, StepPhase.AWAITING_APPROVAL))
    d.approve = False
    twist(d, newcomer)

    settle(d, ticks=2)

    assert d.model.journal[-1] == "LabelNode(10.240.0.99 uid-w3)"
    assert [n.reason.text("node") for n in d.run.notes if n.reason.code is Code.OLD_NODE_LABELLED] == ["10.240.0.99"]
    assert step(d, StepKind.LABEL_NODES).phase is StepPhase.DONE


@pytest.mark.parametrize("component", ["", "nvidia-driver"], ids=["by app", "by component"])
@pytest.mark.parametrize("kind", [StepKind.UPDATE_MASTER, StepKind.MOVE_WORKLOADS])
def test_given_an_operand_on_an_old_node_when_seen_then_everything_stops_and_it_is_told(
    kind: StepKind, component: str
) -> None:
    d = drive(two_workers(), in_phase(kind, StepPhase.AWAITING_APPROVAL))
    app = "nvidia-gpu-driver-ubuntu24.04-7c9f" if component else "nvidia-container-toolkit-daemonset"
    twist(d, lambda w: with_pods(w, operand(app, "10.240.0.66", created_at=START, component=component)))
    before = list(d.model.journal)

    d.go(ticks=10)

    assert d.run.pause is not None
    assert d.run.pause.reason.code is Code.OPERAND_ON_OLD_NODE
    assert d.run.pause.reason.facts["node"] == "10.240.0.66"
    assert d.model.journal == before
    assert codes(d).count(Code.OPERAND_ON_OLD_NODE) == 1


def test_given_a_paused_run_when_an_operand_shows_on_an_old_node_then_it_is_told_all_the_same() -> None:
    d = drive(two_workers(), ordered("UpdateMaster"))
    d.say(PauseRequested)
    twist(d, lambda w: with_pods(w, operand("nvidia-driver-daemonset", "10.240.0.66", created_at=START)))

    look(d)

    assert Code.OPERAND_ON_OLD_NODE in codes(d)
    assert d.run.pause is not None
    assert d.run.pause.by == "U0OPERATOR1"


def test_given_a_bare_old_node_that_runs_operands_already_when_seen_then_it_is_labelled_before_the_run_stops() -> None:
    d = drive(two_workers(), in_phase(StepKind.UPDATE_MASTER, StepPhase.AWAITING_APPROVAL))
    twist(d, lambda w: with_pods(newcomer(w), operand("nvidia-dcgm-exporter", "10.240.0.99", created_at=START)))

    d.go(ticks=2)

    assert d.model.journal[-1] == "LabelNode(10.240.0.99 uid-w3)"
    assert d.run.pause is not None
    assert d.run.pause.reason.text("node") == "10.240.0.99"


def test_given_operands_on_old_nodes_at_the_start_when_labelled_then_they_are_waited_for_and_no_alarm() -> None:
    """Somebody installed the operator first: the labels are the remedy, so nothing may stop them."""
    d = drive(two_workers(), in_phase(StepKind.LABEL_NODES, StepPhase.DONE))
    twist(d, lambda w: with_pods(w, operand("nvidia-dcgm-exporter", "10.240.0.66", created_at=START)))
    settle(d, ticks=1)

    if step(d, StepKind.INSTALL_OPERATOR).phase is not StepPhase.DONE:
        note = step(d, StepKind.INSTALL_OPERATOR).note
        assert note is not None
        assert note.code is Code.WAIT_NODE_CLEAN
        assert d.run.phase is RunPhase.ACTIVE
