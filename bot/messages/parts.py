"""Parts that several messages share: title, small print, steps with their times, who is asked."""

from datetime import datetime, timedelta

from bot.messages.markup import code, harmless, moment, user
from bot.messages.spans import duration
from bot.messages.speech import Speech
from state.run import Approval, Decision, Run, StepRun


def title(speech: Speech, run: Run) -> str:
    """Plain text: cluster and what is done to it."""
    minor = run.policy.target_minor
    goal = speech.phrase(f"goal:{run.goal.value}", minor=minor)
    return speech.phrase("title", cluster=plain_name(run), goal=goal)


def plain_name(run: Run) -> str:
    """The cluster's name for plain text."""
    return " ".join((run.cluster or run.cluster_name or run.cluster_id).split())[:80]


def here(run: Run) -> str:
    """The cluster as it is typed into a command."""
    return harmless(run.cluster)


def small_print(speech: Speech, run: Run) -> tuple[str, ...]:
    """Run id, who asked, target."""
    by = user(run.requested_by) or speech.phrase("unknown")
    first = speech.phrase("footer", run=harmless(run.id), who=by, time=moment(run.created_at))
    target = speech.phrase("footer:target", version=code(run.target_version)) if run.target_version else ""
    return tuple(text for text in (first, target) if text)


def step_title(speech: Speech, step: StepRun) -> str:
    """What it does and to whom; beside a worker's id the name of its node."""
    text = speech.step(step.key)
    if step.node and "/" in step.key and step.node not in step.key:
        return f"{text} ({code(step.node)})"
    return text


def took(step: StepRun) -> timedelta | None:
    """Time from its first order or wait to its end; None while it runs or when it never began."""
    if step.started_at is None or step.finished_at is None:
        return None
    return step.finished_at - step.started_at


def times(speech: Speech, run: Run) -> tuple[str, ...]:
    """A line for each finished step with the time it took, under the total."""
    lines = [
        f"• {step_title(speech, step)}: {duration(span)}" for step in run.steps if (span := took(step)) is not None
    ]
    total = speech.phrase("total", time=duration(ended(run) - run.created_at))
    return (total, *lines)


def ended(run: Run) -> datetime:
    """When it ended; else when the last thing happened to it."""
    finished = (step.finished_at for step in run.steps if step.finished_at)
    return run.ended_at or max((*finished, *(note.at for note in run.notes)), default=run.created_at)


def open_approvals(run: Run) -> tuple[Approval, ...]:
    return () if run.phase.ended else tuple(approval for approval in run.approvals if approval.decision is None)


def decided(approval: Approval) -> tuple[Decision, datetime] | None:
    """The decision and when it fell."""
    if approval.decision is None:
        return None
    return approval.decision, approval.decided_at or approval.opened_at


def answerers(run: Run, approval: Approval) -> tuple[str, ...]:
    """Who may answer: the approvers, and the plan itself also the operators."""
    plan = approval.step_key == ""
    return tuple(dict.fromkeys((*run.policy.approvers, *(operators(run) if plan else ()))))


def operators(run: Run) -> tuple[str, ...]:
    """Who may steer: operators, by default the approvers."""
    return run.policy.operators or run.policy.approvers
