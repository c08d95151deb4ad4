"""Runs to make words of: the guide's second example, in any phase."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from state.policy import Policy
from state.reasons import Code, Reason, reason
from state.run import (
    Approval,
    Baseline,
    BaselineWorkload,
    Decision,
    Goal,
    GpuWorker,
    Note,
    Run,
    RunPhase,
    StepKind,
    StepPhase,
    StepRun,
)
from state.snapshot import Owner

NOON = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
FIRST = "test-d8397vk20kb65iocenn0-btspstggput-default-000001e4"
SECOND = "test-d8397vk20kb65iocenn0-btspstggput-default-0000024b"
SUCCESSOR = "test-d8397vk20kb65iocenn0-btspstggput-default-00000371"
POLICY = Policy(approvers=("U0APPROVER1", "U0APPROVER2"), operators=("U0OPERATOR1",), observe=False)


def after(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


def step(kind: StepKind, target: str = "", phase: StepPhase = StepPhase.DUE, note: Reason | None = None) -> StepRun:
    key = f"{kind.value}/{target}" if target else kind.value
    started = None if phase is StepPhase.DUE else after(1)
    finished = after(9.5) if phase is StepPhase.DONE else None
    return StepRun(
        key,
        kind,
        phase=phase,
        worker_id=target,
        note=note,
        started_at=started,
        finished_at=finished,
        node="10.240.0.64",
    )


def steps(done: int = 0) -> tuple[StepRun, ...]:
    """The plan of example 2; the first `done` steps are over."""
    kinds = [
        (StepKind.LABEL_NODES, ""),
        (StepKind.INSTALL_OPERATOR, ""),
        (StepKind.UPDATE_MASTER, ""),
        (StepKind.MOVE_WORKLOADS, FIRST),
        (StepKind.REPLACE_WORKER, FIRST),
        (StepKind.MOVE_WORKLOADS, SECOND),
        (StepKind.REPLACE_WORKER, SECOND),
        (StepKind.VERIFY_MIGRATION, ""),
    ]
    return tuple(
        step(kind, target, StepPhase.DONE if index < done else StepPhase.DUE)
        for index, (kind, target) in enumerate(kinds)
    )


def run(phase: RunPhase = RunPhase.ACTIVE, **changes: object) -> Run:
    made = Run(
        id="r-20261201-1200",
        cluster="gpu-multi",
        goal=Goal.MIGRATE,
        phase=phase,
        policy=POLICY,
        requested_by="U0OPERATOR1",
        channel="C0MIGRATION",
        created_at=NOON,
        cluster_id="d8397vk20kb65iocenn0",
        target_version="1.36.0",
        steps=steps(),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def question(step_key: str = "", *card: Reason, **changes: object) -> Approval:
    made = Approval(id="r-20261201-1200:1", revision=2, step_key=step_key, opened_at=after(2), card=card)
    return replace(made, **changes)  # type: ignore[arg-type]


def worker_card() -> tuple[Reason, ...]:
    return (
        reason(Code.CARD_WORKER, worker=FIRST, node="10.240.0.64", flavor="gx3.16x80.l4", gpus=("1 nvidia.com/gpu",)),
        reason(Code.CARD_CLOSE_OLD, nodes=("10.240.0.64", "10.240.0.66")),
        reason(Code.CARD_PODS_MOVE, pods=("default/gpu-burn-46pml",)),
        reason(Code.CARD_PODS_PENDING, pods=("default/gpu-burn-46pml",)),
        reason(Code.CARD_DELETED_FOR_GOOD, worker=FIRST),
        reason(Code.CARD_NOTHING_HAPPENS),
    )


def finished() -> Run:
    """Example 2, over."""
    return run(
        RunPhase.DONE,
        steps=steps(done=8),
        ended_at=after(75),
        ending=reason(Code.MIGRATION_DONE, reason(Code.DCGM_FOUND, pods=("gpu-operator/dcgm-1",))),
        approvals=(
            question(decision=Decision.APPROVED, decided_by="U0APPROVER1", decided_at=after(3)),
            question(
                f"move-workloads/{FIRST}", decision=Decision.APPROVED, decided_by="U0APPROVER2", decided_at=after(30)
            ),
        ),
        baseline=Baseline(
            taken_at=NOON,
            workers=tuple(
                GpuWorker(w, "pool-1", "default", "gx3.16x80.l4", "us-south-1", "10.240.0.64", "u", "1.35.4", {"g": 1})
                for w in (FIRST, SECOND)
            ),
            workloads=(BaselineWorkload(Owner("Deployment", "default", "gpu-burn"), 2, 2, {"nvidia.com/gpu": 1}),),
            pool_sizes={"pool-1": 2},
            pool_workers={"pool-1": (FIRST, SECOND)},
            others=("cpu-worker-1",),
        ),
        notes=(
            Note("n1", after(5), reason(Code.NODE_READY, worker=SUCCESSOR, node="10.240.0.72", version="v1.36.0+IKS")),
            Note(
                "n2",
                after(8),
                reason(Code.GPUS_READY, worker=SUCCESSOR, node="10.240.0.72", gpus=("1 nvidia.com/gpu",)),
            ),
            Note("n3", after(9), reason(Code.WORKLOADS_RECOVERED, workloads=("Deployment default/gpu-burn",))),
            Note("done", after(75), reason(Code.MIGRATION_DONE, reason(Code.DCGM_MISSING))),
        ),
    )
