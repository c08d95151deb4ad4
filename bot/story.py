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
    """The log entry of a transition. `answer`: what the person was told, which is why their click changed nothing."""
    after = step.run
    row: dict[str, object] = {"event": type(event).__name__, "at": event.at.isoformat()}
    by = getattr(event, "by", None)
    if by is not None:
        row["actor"] = by.user
    for name in ("approval", "revision", "wanted", "op", "kind", "detail"):
        if getattr(event, name, ""):
            row[name] = str(getattr(event, name))
    answer = next((effect for effect in step.effects if isinstance(effect, Answer)), None)
    if answer is not None:
        row["answer"] = str(answer.reason)
    if isinstance(event, Ordered) and before.intent is not None and before.intent.op == event.op:
        row["order"] = natural_key(before.intent.order)
    question = find(before, str(row.get("approval", "")))
    if question is not None:
        row["question"] = question.step_key or "plan"
    why = getattr(event, "reason", None)
    if why is not None:
        row["reason"] = str(why)
    row["phase"] = after.phase.value
    row["steps"] = moved(before, after)
    if after.intent is not None and after.intent != before.intent:
        row["intent"] = f"{after.intent.op} {type(after.intent.order).__name__} attempt {after.intent.attempt}"
        row["intends"] = natural_key(after.intent.order)
        row["attempt"] = after.intent.attempt
    return row
