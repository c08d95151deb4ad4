"""The one sign in front of a line: what state it is in, readable at a glance and for the colour blind (shapes differ)."""

from state.reasons import Code
from state.run import Run, RunPhase, StepPhase

STEP = {
    StepPhase.DUE: "⚪",
    StepPhase.AWAITING_APPROVAL: "✋",
    StepPhase.APPROVED: "🔵",
    StepPhase.ACTING: "🔵",
    StepPhase.VERIFYING: "⏳",
    StepPhase.FAILED: "❌",
    StepPhase.DONE: "✅",
}

_RUN = {
    RunPhase.PLANNING: "🔎",
    RunPhase.PLANNED: "✋",
    RunPhase.ACTIVE: "⏳",
    RunPhase.PREPARED: "🧰",
    RunPhase.ABORTING: "🛑",
    RunPhase.DONE: "✅",
    RunPhase.ABORTED: "🛑",
}

_NEWS = {
    Code.NODE_READY: "🟢",
    Code.GPUS_READY: "🟢",
    Code.WORKLOADS_RECOVERED: "🟢",
    Code.GPUS_LOST: "🚨",
    Code.OPERAND_ON_OLD_NODE: "🚨",
    Code.STRANGER: "🚨",
    Code.POSSIBLE_DOUBLE: "🚨",
    Code.STORE_REWOUND: "🚨",
    Code.OTHER_RUN_IN_CLUSTER: "🚨",
    Code.BRAKE: "🚨",
    Code.WORKLOAD_UNRECOVERED: "⚠️",
    Code.STEP_STUCK: "⚠️",
    Code.TEMPORARY_POOL_LEFT: "⚠️",
    Code.STEP_FAILED: "❌",
    Code.DEADLINE: "❌",
    Code.ALREADY_MIGRATED: "✅",
    Code.MIGRATION_DONE: "✅",
    Code.PREPARED: "✅",
    Code.RUN_ABORTED: "🛑",
}


def run_mark(run: Run) -> str:
    """Paused and failing runs show that before anything else."""
    if run.phase.ended:
        return _RUN[run.phase]
    if any(step.phase is StepPhase.FAILED for step in run.steps):
        return "❌"
    if run.held:
        return "⏸"
    if any(_open(step.phase) for step in run.steps):
        return "✋"
    return _RUN[run.phase]


def news_mark(code: Code) -> str:
    return _NEWS.get(code, "🔹")


def _open(phase: StepPhase) -> bool:
    return phase is StepPhase.AWAITING_APPROVAL
