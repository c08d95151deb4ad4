"""Abort: no new order, the open one is watched to its end, and only what the run did and is safe is given back."""

from dataclasses import replace

import pytest

from state.events import AbortRequested, Approved, ContinueRequested, OutcomeKind, PauseRequested, Rejected
from state.opt_out import DRIVER, OPERANDS
from state.reasons import Code
from state.run import Goal, RunPhase, StepKind, StepPhase
from tests.builders import one_worker, run, two_workers
from tests.core.driving import codes, drive, in_phase, kinds, ordered, outcome, phase, settle, until_open
from tests.core.model import APPROVER, OPERATOR, Drive, Model
from tests.core.worlds import change_node, kubernetes


def closed(d: Drive) -> list[str]:
    return [n.name for n in d.model.snapshot.kubernetes.nodes if n.unschedulable]


@pytest.mark.parametrize("ticks", [0, 1], ids=["planning", "planned"])
def test_given_no_approved_plan_when_aborted_then_it_ends_at_once(ticks: int) -> None:
    d = Drive(Model(two_workers()), run())
    d.approve = False
    d.go(ticks=ticks) if ticks else None

    d.say(AbortRequested)

    assert (d.run.phase, d.model.journal) == (RunPhase.ABORTED, [])
    assert not any(a.decision is None for a in d.run.approvals)


def test_given_a_prepared_run_whose_new_plan_is_aborted_then_what_prepare_did_is_given_back_or_named() -> None:
    d = drive(two_workers(), lambda d: d.run.phase is RunPhase.PREPARED, goal=Goal.PREPARE)
    d.approve = False
    d.say(ContinueRequested)
    assert phase(d) is RunPhase.PLANNED

    d.say(AbortRequested)

    assert phase(d) is RunPhase.ABORTED
    assert Code.LABELS_KEPT in codes(d)
    assert not any(a.decision is None for a in d.run.approvals)


def test_given_labels_and_no_operator_when_aborted_then_the_labels_come_off() -> None:
    d = drive(two_workers(), ordered("LabelNode"))
    d.model.snapshot = kubernetes(d.model.snapshot, releases=(), cluster_policies=())

    d.say(AbortRequested)
    settle(d)

    assert phase(d) is RunPhase.ABORTED
    assert all(OPERANDS not in n.labels and DRIVER not in n.labels for n in d.model.snapshot.kubernetes.nodes)
    assert Code.LABELS_KEPT not in codes(d)
    told = [n.reason.text("node") for n in d.run.notes if n.reason.code is Code.UNLABELLED]
    assert told == ["10.240.0.64", "10.240.0.66"]


@pytest.mark.parametrize("left", ["releases", "cluster_policies"], ids=["only a policy", "only a release"])
def test_given_an_operator_or_its_policy_when_aborted_then_the_labels_stay_and_it_is_said(left: str) -> None:
    """Without them operands would start over IBM's driver."""
    d = drive(two_workers(), ordered("InstallChart"))
    d.model.snapshot = kubernetes(d.model.snapshot, **{left: ()})

    d.say(AbortRequested)
    settle(d)

    assert phase(d) is RunPhase.ABORTED
    assert [n.labels[OPERANDS] for n in d.model.snapshot.kubernetes.nodes] == ["false", "false"]
    kept = next(n.reason for n in d.run.notes if n.reason.code is Code.LABELS_KEPT)
    assert kept.facts["nodes"] == ("10.240.0.64", "10.240.0.66")


def test_given_a_drain_half_done_when_aborted_then_our_cordons_are_lifted_before_the_run_ends() -> None:
    """B093: one pod is evicted, a second one is not, two nodes are closed."""
    d = drive(two_workers(), in_phase(StepKind.MOVE_WORKLOADS, StepPhase.AWAITING_APPROVAL))
    until_open(d, "EvictPod")
    assert len(closed(d)) == 2

    d.say(AbortRequested)
    assert phase(d) is RunPhase.ABORTING
    settle(d, ticks=3)
    assert phase(d) is RunPhase.ABORTING  # the open eviction is first watched to its outcome
    outcome(d, OutcomeKind.ACCEPTED)
    settle(d)

    assert phase(d) is RunPhase.ABORTED
    assert closed(d) == []
    assert d.run.cordons == {}
    assert kinds(d)[-2:] == ["UncordonNode", "UncordonNode"]
    assert "ReplaceWorker" not in kinds(d)


def test_given_a_node_closed_by_somebody_else_when_aborted_then_it_stays_closed() -> None:
    """B091."""
    d = drive(change_node(two_workers(), "w2", unschedulable=True, cordoned_by="kubectl"), ordered("CordonNode"))

    d.say(AbortRequested)
    settle(d)

    assert phase(d) is RunPhase.ABORTED
    assert "10.240.0.66" in closed(d)
    assert not any(line.startswith("UncordonNode(10.240.0.66") for line in d.model.journal)


def test_given_another_node_of_the_same_name_when_aborted_then_its_cordon_is_not_ours() -> None:
    d = drive(two_workers(), ordered("CordonNode"))
    d.say(PauseRequested)
    d.model.snapshot = change_node(d.model.snapshot, "w2", uid="uid-another")

    d.say(AbortRequested)
    settle(d)

    assert phase(d) is RunPhase.ABORTED
    assert not any(line.endswith("uid-another)") for line in d.model.journal)


@pytest.mark.parametrize("yes", [True, False], ids=["removed", "left"])
def test_given_a_temporary_pool_when_aborted_then_its_removal_is_offered_and_never_taken(yes: bool) -> None:
    d = drive(one_worker(), in_phase(StepKind.MOVE_WORKLOADS, StepPhase.AWAITING_APPROVAL))

    d.say(AbortRequested)
    settle(d)

    assert phase(d) is RunPhase.ABORTING
    question = d.run.approvals[-1]
    assert (question.step_key, question.decision) == (StepKind.REMOVE_TEMPORARY_POOL.value, None)
    assert Code.CARD_REMOVE_POOL in {line.code for line in question.card}
    assert "RemovePool" not in kinds(d)
    d.say(Approved if yes else Rejected, APPROVER, approval=question.id, revision=question.revision)
    settle(d)
    assert phase(d) is RunPhase.ABORTED
    assert ("RemovePool" in kinds(d)) is yes
    assert (Code.TEMPORARY_POOL_LEFT in codes(d)) is not yes


def test_given_a_replacement_under_way_when_aborted_then_it_is_not_undone_and_nothing_follows() -> None:
    d = drive(two_workers(), ordered("ReplaceWorker"))

    d.say(AbortRequested)
    settle(d)

    assert phase(d) is RunPhase.ABORTED
    assert kinds(d).count("ReplaceWorker") == 1
    assert closed(d) == []


def test_given_an_unanswered_replacement_when_aborted_then_looking_settles_it_first() -> None:
    """Whether the worker is going is found out before the run lets go; it is never asked for a second time."""
    d = drive(two_workers(), in_phase(StepKind.MOVE_WORKLOADS, StepPhase.AWAITING_APPROVAL))
    until_open(d, "ReplaceWorker")
    outcome(d, OutcomeKind.UNKNOWN)

    d.say(AbortRequested)
    settle(d, ticks=1)
    assert phase(d) is RunPhase.ABORTING
    settle(d)

    assert phase(d) is RunPhase.ABORTED
    assert d.run.intent is None
    assert kinds(d).count("ReplaceWorker") == 0


def test_given_an_abort_when_aborted_again_then_there_is_nothing_to_do() -> None:
    d = drive(one_worker(), in_phase(StepKind.MOVE_WORKLOADS, StepPhase.AWAITING_APPROVAL))
    d.say(AbortRequested)
    before = replace(d.run)

    d.say(AbortRequested, OPERATOR)

    assert d.run == before
    assert d.answers[-1].code is Code.NOTHING_TO_DO


def test_given_a_paused_run_when_aborted_then_it_ends_all_the_same() -> None:
    d = drive(two_workers(), ordered("CordonNode"))
    d.say(PauseRequested)

    d.say(AbortRequested)
    settle(d)

    assert (d.run.phase, closed(d)) == (RunPhase.ABORTED, [])


def test_given_a_target_that_is_gone_when_aborted_then_it_ends() -> None:
    """B090: the worker is in no list any more."""
    d = drive(two_workers(), in_phase(StepKind.MOVE_WORKLOADS, StepPhase.AWAITING_APPROVAL))
    world = d.model.snapshot
    d.model.snapshot = kubernetes(world, nodes=(), pods=())
    d.model.snapshot = replace(d.model.snapshot, iks=replace(world.iks, workers=()))

    d.say(AbortRequested)
    settle(d)

    assert phase(d) is RunPhase.ABORTED
