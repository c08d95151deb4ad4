"""Say what a transition did, for the run's log and the process's own: flat values, no snapshot, no sentence."""

from state.approval import find
from state.effects import Answer
from state.events import Event, Ordered
from state.machine import Transition
from state.orders import natural_key
from state.run import Run, StepKind, StepPhase


def moved(before: Run, after: Run) -> list[str]:
    """`replace-worker/…: approved -> acting` for each step whose phase changed."""
    old = {s.key: s.phase for s in before.steps}
    return [f"{s.key}: {old.get(s.key, 'new')} -> {s.phase}" for s in after.steps if old.get(s.key) != s.phase]


def master_moved(before: Run, after: Run) -> bool:
    """The control plane was ordered to move, or has arrived: old credentials and connections are worth nothing."""
    now = _master_phase(after)
    return _master_phase(before) != now and now in (StepPhase.VERIFYING, StepPhase.DONE)


def _master_phase(run: Run) -> StepPhase | None:
    return next((s.phase for s in run.steps if s.kind is StepKind.UPDATE_MASTER), None)


def told(event: Event, before: Run, step: Transition) -> dict[str, object]:
    """The log entry of a transition, flat: who, what was answered or ordered, and what it changed.

    `answer` is what the person was told, which is why a click changed nothing; `call` is an intent's operation.
    """
    row: dict[str, object] = {"event": type(event).__name__, "at": event.at.isoformat()}
    row |= _said(event, before, step)
    row |= _outcome(event, before, step.run)
    row["phase"] = step.run.phase.value
    row["steps"] = moved(before, step.run)
    opened = step.run.intent
    if opened is not None and (before.intent is None or before.intent.op != opened.op):
        row |= {"intent": opened.op, "intends": natural_key(opened.order), "attempt": opened.attempt}
    return row


def _said(event: Event, before: Run, step: Transition) -> dict[str, object]:
    """The words of a person, the question they were about, and the answer."""
    row: dict[str, object] = {}
    by = getattr(event, "by", None)
    if by is not None:
        row["actor"] = by.user
    for name in ("approval", "revision", "wanted"):
        if getattr(event, name, ""):
            row[name] = str(getattr(event, name))
    question = find(before, str(row.get("approval", "")))
    if question is not None:
        row["question"] = question.step_key or "plan"
    answer = next((effect for effect in step.effects if isinstance(effect, Answer)), None)
    if answer is not None:
        row["answer"] = str(answer.reason)
    why = getattr(event, "reason", None)
    if why is not None:
        row["reason"] = str(why)
    return row


def _outcome(event: Event, before: Run, after: Run) -> dict[str, object]:
    """What became of the open intent, be it by an answer or by looking."""
    intent = before.intent
    if intent is None:
        return {}
    row: dict[str, object] = {"call": intent.op, "order": natural_key(intent.order)}
    if isinstance(event, Ordered) and event.op == intent.op:
        return {**row, "kind": event.kind.value, **({"detail": event.detail} if event.detail else {})}
    if after.intent is not None and after.intent.op == intent.op:
        return {}
    step = next((s for s in after.steps if s.key == intent.step_key), None)
    again = after.intent is not None and after.intent.order == intent.order
    adopted = step is not None and step.phase in _GOING and not again
    return {**row, "kind": "adopted" if adopted else "not-started"}


_GOING = (StepPhase.ACTING, StepPhase.VERIFYING, StepPhase.DONE)
