"""Who may answer a question, and which answers still count (B057, B062)."""

from datetime import timedelta

import pytest

from state.approval import CONSENT, may_approve, may_operate, refusal
from state.events import Approved, Person, Rejected
from state.policy import Policy
from state.reasons import Code, Reason, reason
from state.run import Approval, Decision, Run
from tests.builders import START, policy, run
from tests.core.model import APPROVER, OPERATOR

CARD = (reason(Code.CARD_WORKER, worker="w1"),)


def question(step: str = "move-workloads/w1", **changes: object) -> Approval:
    given: dict[str, object] = {"revision": 2, "card": CARD, **changes}
    return Approval("r-1:1", step_key=step, opened_at=START, **given)  # type: ignore[arg-type]


def asking(approval: Approval, rules: Policy | None = None) -> Run:
    return run(approvals=(approval,), policy=rules or policy())


def yes(by: Person = APPROVER, approval: str = "r-1:1", revision: int = 2) -> Approved:
    return Approved(START, "t1", by, approval, revision)


def no(by: Person = APPROVER, revision: int = 2) -> Rejected:
    return Rejected(START, "t1", by, "r-1:1", revision)


def code(found: Reason | None) -> Code | None:
    return found.code if found is not None else None


@pytest.mark.parametrize(
    ("approvers", "operators", "user", "approve", "operate"),
    [
        (("U1",), (), "U1", True, True),
        (("U1",), ("U2",), "U1", True, False),
        (("U1",), ("U2",), "U2", False, True),
        ((), (), "U1", False, False),
        ((), ("U2",), "U1", False, False),
        (("U1",), (), "u1", False, False),
        (("U1",), (), "", False, False),
        (("",), ("",), "", False, False),
    ],
)
def test_given_lists_of_ids_when_asked_for_rights_then_only_the_very_id_has_them(
    approvers: tuple[str, ...],
    operators: tuple[str, ...],
    user: str,
    approve: bool,
    operate: bool,
) -> None:
    rules = policy(approvers=approvers, operators=operators)

    assert (may_approve(rules, user), may_operate(rules, user)) == (approve, operate)


@pytest.mark.parametrize("answer", [yes(), no()])
def test_given_an_approver_when_the_card_is_current_then_the_answer_counts(answer: Approved | Rejected) -> None:
    assert refusal(asking(question()), answer) is None


@pytest.mark.parametrize("user", ["U0OPERATOR1", "U0STRANGER1", ""])
def test_given_somebody_else_when_they_answer_a_step_then_it_does_not_count(user: str) -> None:
    asked = asking(question())

    assert code(refusal(asked, yes(Person(user)))) is Code.NOT_APPROVER
    assert code(refusal(asked, no(Person(user)))) is Code.NOT_APPROVER


@pytest.mark.parametrize("answer", [yes(OPERATOR), no(OPERATOR)])
def test_given_an_operator_when_they_answer_the_plan_then_it_counts(answer: Approved | Rejected) -> None:
    assert refusal(asking(question("")), answer) is None


def test_given_nobody_on_the_lists_when_the_plan_is_answered_then_nobody_may() -> None:
    nobody = policy(approvers=(), operators=())

    assert code(refusal(asking(question(""), nobody), yes())) is Code.NOT_APPROVER


@pytest.mark.parametrize("revision", [0, 1, 3, -1])
def test_given_a_button_of_another_revision_when_clicked_then_the_card_is_stale(revision: int) -> None:
    assert code(refusal(asking(question()), yes(revision=revision))) is Code.STALE_CARD


def test_given_a_button_of_no_question_when_clicked_then_the_card_is_unknown() -> None:
    assert code(refusal(asking(question()), yes(approval="r-9:1"))) is Code.UNKNOWN_CARD


@pytest.mark.parametrize("decision", [Decision.APPROVED, Decision.REJECTED])
def test_given_an_answer_when_somebody_clicks_again_then_they_hear_who_was_first(decision: Decision) -> None:
    at = START + timedelta(minutes=2)
    decided = question(decision=decision, decided_by="U7", decided_at=at)

    found = refusal(asking(decided), yes())

    assert found == reason(Code.ALREADY_DECIDED, by="U7", at=at.isoformat(), decision=decision.value)


def test_given_an_answered_card_when_its_old_revision_is_clicked_then_the_answer_is_told_and_not_staleness() -> None:
    decided = question(decision=Decision.APPROVED, decided_by="U7", decided_at=START)

    assert code(refusal(asking(decided), yes(revision=1))) is Code.ALREADY_DECIDED


def test_given_a_withdrawn_question_when_clicked_then_the_card_is_stale() -> None:
    withdrawn = question(decision=Decision.WITHDRAWN, decided_at=START)

    assert code(refusal(asking(withdrawn), yes())) is Code.STALE_CARD


@pytest.mark.parametrize("line", sorted(CONSENT))
def test_given_a_line_that_needs_consent_when_approved_then_it_blocks_the_yes_but_not_the_no(line: Code) -> None:
    held = asking(question(card=(*CARD, reason(line, pods=("default/db",)))))

    found = refusal(held, yes())

    assert found is not None
    assert (found.code, found.cause) == (Code.FACTS_CHANGED, reason(line, pods=("default/db",)))
    assert refusal(held, no()) is None
