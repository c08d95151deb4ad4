"""Open, renew and withdraw questions to humans.

A question shows the facts it was asked on; its marker is a digest of those that matter (owners, not pod names, so that a
pod that restarts does not ask again). When they change while nobody has answered, the card is renewed under a higher
revision; when they change after the click, the click no longer counts and the card says what changed.
"""

import hashlib
from dataclasses import replace
from datetime import datetime

from state.approval import open_for
from state.reasons import Code, Reason, reason
from state.run import Approval, Decision, Run, StepPhase, StepRun

_VOLATILE = frozenset(
    {
        Code.CARD_CHANGED,
        Code.CARD_PODS_PENDING,
        Code.CARD_FORECAST,
        Code.PDB_BLOCKS,
        Code.EVICTION_BLOCKED,
        Code.EVICTION_MISCONFIGURED,
    }
)
_POD_FACTS = ("pods", "pod")


def marker(card: tuple[Reason, ...]) -> str:
    """Digest of the facts that matter. Pod names lose their random endings: what counts is whose pods they are."""
    lines = sorted(_line(line) for line in card if line.code not in _VOLATILE)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def _line(line: Reason) -> str:
    facts = []
    for name, value in sorted(line.facts.items()):
        if name in _POD_FACTS:
            names = value if isinstance(value, tuple) else (str(value),)
            facts.append(f"{name}={sorted(_owner_part(pod) for pod in names)}")
        else:
            facts.append(f"{name}={value}")
    return f"{line.code}:{facts}"


def _owner_part(pod: str) -> str:
    """`default/gpu-burn-7c9d5-46pml` → `default/gpu-burn-7c9d5`; dashes of the namespace stay."""
    namespace, slash, name = pod.rpartition("/")
    return f"{namespace}{slash}{name.rpartition('-')[0] or name}"


def ask(run: Run, step: StepRun, card: tuple[Reason, ...], at: datetime) -> tuple[Run, StepRun]:
    """Open a question about a step, or renew the open one when its facts changed."""
    found = open_for(run, step.key)
    if found is not None:
        if found.marker == marker(card):
            run = with_approval(run, replace(found, card=_refreshed(found.card, card)))
            return run, replace(step, phase=StepPhase.AWAITING_APPROVAL, approval=found.id)
        renewed = replace(found, revision=found.revision + 1, card=card, marker=marker(card))
        return with_approval(run, renewed), replace(step, phase=StepPhase.AWAITING_APPROVAL, approval=found.id)
    approval = Approval(f"{run.id}:{run.asked + 1}", 1, step.key, at, card, marker(card))
    asked = replace(run, approvals=(*run.approvals, approval), asked=run.asked + 1)
    return asked, replace(step, phase=StepPhase.AWAITING_APPROVAL, approval=approval.id)


def _refreshed(shown: tuple[Reason, ...], card: tuple[Reason, ...]) -> tuple[Reason, ...]:
    """Keep a card true in what needs no new consent; why it was asked again stays on top."""
    if any(line.code is Code.CARD_CHANGED for line in card):
        return card
    return (*(line for line in shown if line.code is Code.CARD_CHANGED), *card)


def changed(card: tuple[Reason, ...], why: tuple[Reason, ...]) -> tuple[Reason, ...]:
    """A card that opens with what changed since the last answer."""
    return (*(reason(Code.CARD_CHANGED, r) for r in why), *card)


def with_approval(run: Run, approval: Approval) -> Run:
    """The run with this approval in the place of its older self."""
    return replace(run, approvals=tuple(approval if a.id == approval.id else a for a in run.approvals))


def withdraw_all(run: Run, at: datetime) -> Run:
    """Close every open question without an answer."""
    return replace(
        run,
        approvals=tuple(
            replace(a, decision=Decision.WITHDRAWN, decided_at=at) if a.decision is None else a for a in run.approvals
        ),
    )
