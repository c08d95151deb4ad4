"""What a question remembers of its facts, and when it is renewed."""

from datetime import timedelta

import pytest

from state.asking import ask, changed, marker, withdraw_all
from state.reasons import Code, Reason, reason
from state.run import Decision, StepKind, StepPhase, StepRun
from tests.builders import START, run

STEP = StepRun("move-workloads/w1", StepKind.MOVE_WORKLOADS, worker_id="w1")
WORKER = reason(Code.CARD_WORKER, worker="w1", node="10.240.0.64")
LATER = START + timedelta(minutes=5)


def moving(*pods: str) -> tuple[Reason, ...]:
    return (WORKER, reason(Code.CARD_PODS_MOVE, pods=pods))


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        (moving("default/burn-7c-aaaaa"), moving("default/burn-7c-zzzzz"), True),
        (moving("default/db-0"), moving("default/db-1"), True),
        (moving("a/burn-7c-a", "a/x-1-b"), moving("a/x-1-c", "a/burn-7c-d"), True),
        (moving("a/burn-7c-a"), moving("b/burn-7c-a"), False),
        (moving("a/burn-7c-a"), moving("a/burn-7c-a", "a/burn-7c-b"), False),
        (moving("a/burn-7c-a"), (WORKER,), False),
        (moving("team-a/notebook"), moving("team-b/notebook"), False),
        (moving("notebook"), moving("other"), False),
        ((WORKER, reason(Code.CARD_COST, pool="p")), (reason(Code.CARD_COST, pool="p"), WORKER), True),
        ((WORKER,), (reason(Code.CARD_WORKER, worker="w1", node="10.240.0.99"),), False),
        ((WORKER,), changed((WORKER,), (reason(Code.NEW_PODS),)), True),
        ((WORKER,), (WORKER, reason(Code.PDB_BLOCKS, pod="a/b-c")), True),
        ((WORKER,), (WORKER, reason(Code.CARD_PODS_PENDING, pods=("a/b-c",))), True),
        ((WORKER,), (WORKER, reason(Code.BARE_PODS, pods=("a/b",))), False),
        ((), (), True),
    ],
)
def test_given_two_cards_when_compared_then_only_what_matters_makes_them_differ(
    before: tuple[Reason, ...], after: tuple[Reason, ...], same: bool
) -> None:
    assert (marker(before) == marker(after)) is same


def test_given_no_question_when_asked_then_one_opens_under_the_next_id() -> None:
    after, step = ask(run(asked=4), STEP, (WORKER,), START)

    opened = after.approvals[-1]
    assert (opened.id, opened.revision, opened.step_key, opened.marker) == ("r-1:5", 1, STEP.key, marker((WORKER,)))
    assert (step.phase, step.approval, after.asked) == (StepPhase.AWAITING_APPROVAL, "r-1:5", 5)


def test_given_an_open_question_when_a_pod_restarts_then_the_card_is_refreshed_and_the_button_stays_good() -> None:
    first, step = ask(run(), STEP, moving("a/burn-7c-a"), START)

    after, _ = ask(first, step, moving("a/burn-7c-b"), LATER)

    found = after.approvals[-1]
    assert (len(after.approvals), found.revision, found.opened_at) == (1, 1, START)
    assert found.card == moving("a/burn-7c-b")


def test_given_an_open_question_when_its_facts_change_then_the_old_button_is_no_longer_good() -> None:
    first, step = ask(run(), STEP, moving("a/burn-7c-a"), START)

    after, again = ask(first, step, moving("a/burn-7c-a", "a/other-1-a"), LATER)

    found = after.approvals[-1]
    assert (len(after.approvals), found.id, found.revision) == (1, step.approval, 2)
    assert (found.marker, again.approval) == (marker(found.card), found.id)


def test_given_an_answered_question_when_asked_again_then_a_new_one_opens() -> None:
    first, step = ask(run(), STEP, (WORKER,), START)

    after, again = ask(withdraw_all(first, LATER), step, (WORKER,), LATER)

    assert [a.id for a in after.approvals] == ["r-1:1", "r-1:2"]
    assert again.approval == "r-1:2"


def test_given_a_question_that_was_asked_again_when_refreshed_then_it_still_says_why() -> None:
    why = reason(Code.CORDON_LIFTED, node="10.240.0.64", by="somebody")
    first, step = ask(run(), STEP, changed(moving("a/burn-7c-a"), (why,)), START)

    after, _ = ask(first, step, moving("a/burn-7c-b"), LATER)

    assert after.approvals[-1].card == changed(moving("a/burn-7c-b"), (why,))


def test_given_open_and_answered_questions_when_withdrawn_then_answers_stay() -> None:
    first, _ = ask(run(), STEP, (WORKER,), START)
    answered = withdraw_all(first, START)
    open_too, _ = ask(answered, STEP, (WORKER,), LATER)

    after = withdraw_all(open_too, LATER + timedelta(minutes=1))

    assert [a.decision for a in after.approvals] == [Decision.WITHDRAWN, Decision.WITHDRAWN]
    assert [a.decided_at for a in after.approvals] == [START, LATER + timedelta(minutes=1)]
