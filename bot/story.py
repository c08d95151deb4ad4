"""Say what a transition did, for the run's log and the process's own: flat values, no snapshot, no sentence."""

from state.events import Event
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


def told(event: Event, before: Run, after: Run) -> dict[str, object]:
    """The log entry of a transition."""
    row: dict[str, object] = {"event": type(event).__name__, "at": event.at.isoformat()}
    by = getattr(event, "by", None)
    if by is not None:
        row["actor"] = by.user
    for name in ("approval", "revision", "op", "kind"):
        if hasattr(event, name):
            row[name] = str(getattr(event, name))
    why = getattr(event, "reason", None)
    if why is not None:
        row["reason"] = str(why)
    row["phase"] = after.phase.value
    row["steps"] = moved(before, after)
    if after.intent is not None and after.intent != before.intent:
        row["intent"] = f"{after.intent.op} {type(after.intent.order).__name__} attempt {after.intent.attempt}"
    return row
