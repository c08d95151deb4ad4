"""Who may answer what, and whether an answer still counts.

Ids only, never names; an empty list is nobody (B062). `approvers` answer questions; `operators` (default: the approvers)
may prepare, start, pause, resume, retry, abort and answer the plan itself; reading is free. The first valid click wins:
the transition that records it is stored by one script, so two clicks cannot both be first.
"""

from state.events import Approved, Rejected
from state.policy import Policy
from state.reasons import Code, Reason, reason
from state.run import Approval, Decision, Run


def may_approve(policy: Policy, user: str) -> bool:
    return bool(user) and user in policy.approvers


def may_operate(policy: Policy, user: str) -> bool:
    return bool(user) and user in (policy.operators or policy.approvers)


def refusal(run: Run, event: Approved | Rejected) -> Reason | None:
    """Why this answer does not count; None when it does."""
    approval = find(run, event.approval)
    if approval is None:
        return reason(Code.UNKNOWN_CARD)
    if approval.decision is not None:
        return _decided(approval)
    if approval.revision != event.revision:
        return reason(Code.STALE_CARD)
    plan = approval.step_key == ""
    allowed = may_approve(run.policy, event.by.user) or (plan and may_operate(run.policy, event.by.user))
    if not allowed:
        return reason(Code.NOT_APPROVER, user=event.by.user)
    if isinstance(event, Approved) and blocking(approval):
        return reason(Code.FACTS_CHANGED, blocking(approval)[0], step=approval.step_key)
    return None


def find(run: Run, approval_id: str) -> Approval | None:
    return next((a for a in run.approvals if a.id == approval_id), None)


def open_for(run: Run, step_key: str) -> Approval | None:
    """The open question about a step ("" for the plan)."""
    return next((a for a in run.approvals if a.step_key == step_key and a.decision is None), None)


CONSENT = frozenset({Code.BARE_PODS, Code.EMPTY_DIR, Code.JOBS_RUNNING, Code.HOST_LOCAL})
"""Lines of a card that keep its Approve button away until somebody has dealt with the pods."""


def blocking(approval: Approval) -> tuple[Reason, ...]:
    """What keeps the Approve button away. A plan only says it beforehand: nothing moves by beginning."""
    return tuple(line for line in approval.card if line.code in CONSENT and approval.step_key)


def _decided(approval: Approval) -> Reason:
    if approval.decision is Decision.WITHDRAWN:
        return reason(Code.STALE_CARD)
    at = approval.decided_at.isoformat() if approval.decided_at else ""
    decision = approval.decision.value if approval.decision else ""
    return reason(Code.ALREADY_DECIDED, by=approval.decided_by, at=at, decision=decision)
