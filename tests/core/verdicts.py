"""Ask a step of the guide's example 2 how far a cluster is."""

from state.planner import plan
from state.reasons import Code
from state.run import Run, StepKind
from state.snapshot import Snapshot
from state.steps import STEPS
from state.steps.step import Broken, Done, Scope, Verdict, Waiting
from tests.builders import run, two_workers


def ask(kind: StepKind, world: Snapshot, subject: Run | None = None, worker_id: str = "") -> Verdict:
    planned = subject or plan(run(), two_workers())
    step = next(s for s in planned.steps if s.kind is kind and worker_id in ("", s.worker_id))
    return STEPS[kind].verify(world, Scope(planned, step))


def outcome(verdict: Verdict) -> tuple[type[Verdict], Code | None]:
    match verdict:
        case Done():
            return Done, None
        case Waiting(on):
            return Waiting, on.code
        case Broken(why):
            return Broken, why.code
