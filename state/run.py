"""One migration of one cluster: everything that is remembered about it.

A run is a list of step instances, each with its own phase and worker. Membership (which workers, how many GPUs, which
workloads) is fixed in the baseline at plan time. Phases say what is due next. Plain values only; `state/machine.py` is
the one place that makes a new run out of an old one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from state.baseline import Baseline, BaselineWorkload, GpuWorker
from state.orders import Order
from state.policy import Policy
from state.reasons import Reason


class Goal(StrEnum):
    """What was asked for."""

    MIGRATE = "migrate"
    PREPARE = "prepare"


class RunPhase(StrEnum):
    """What is due for the whole run."""

    PLANNING = "planning"  # look and plan
    PLANNED = "planned"  # the plan is posted; its button (or its blockers) wait for a human
    ACTIVE = "active"  # steps are being worked on
    PREPARED = "prepared"  # labels and operator are in place; watched at a low rate until `start`
    ABORTING = "aborting"  # the open order is watched to its end, then undone what is safe
    DONE = "done"
    ABORTED = "aborted"

    @property
    def ended(self) -> bool:
        return self in (RunPhase.DONE, RunPhase.ABORTED)


class StepKind(StrEnum):
    LABEL_NODES = "label-nodes"
    INSTALL_OPERATOR = "install-operator"
    UPDATE_MASTER = "update-master"
    ADD_TEMPORARY_POOL = "add-temporary-pool"
    MOVE_WORKLOADS = "move-workloads"
    REPLACE_WORKER = "replace-worker"
    REMOVE_TEMPORARY_POOL = "remove-temporary-pool"
    VERIFY_MIGRATION = "verify-migration"
    UNDO = "undo"


class StepPhase(StrEnum):
    """What is due for one step."""

    DUE = "due"
    AWAITING_APPROVAL = "awaiting-approval"
    APPROVED = "approved"
    ACTING = "acting"
    VERIFYING = "verifying"
    FAILED = "failed"  # past its deadline or broken; `retry` makes it due again
    DONE = "done"


@dataclass(frozen=True, slots=True)
class StepRun:
    """One chapter of the guide for one target.

    Attributes:
        key: unique in the run: kind, or kind/worker id. after: keys that have to be done first.
        worker_id, pool_id, node: the target, where there is one.
        queue: orders decided and not given yet; the first one is next.
        note: what it waits for, is blocked by, or failed of; spoken when it changes.
        started_at: first order or first wait. deadline_at: when patience ends. rested: how long its clock stood still.
        retry_at: no order of this step before then (eviction retries).
        ordered_at: when its last once-only order was given.
        approval: id of the approval that covers it.
    """

    key: str
    kind: StepKind
    after: tuple[str, ...] = ()
    phase: StepPhase = StepPhase.DUE
    worker_id: str = ""
    pool_id: str = ""
    node: str = ""
    queue: tuple[Order, ...] = ()
    note: Reason | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    deadline_at: datetime | None = None
    retry_at: datetime | None = None
    ordered_at: datetime | None = None
    approval: str = ""
    rested: timedelta = timedelta(0)


class Decision(StrEnum):
    APPROVED = "approved"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"  # the world changed, the run was aborted, or a newer card replaced it


@dataclass(frozen=True, slots=True)
class Approval:
    """One question to a human.

    Attributes:
        id: random-free: run id and a counter. revision: raised when the facts changed; buttons carry both.
        step_key: "" for the plan itself.
        card: what will happen, to whom, what may be lost; lines as reasons.
        marker: digest of the facts the human saw; compared at the click.
    """

    id: str
    revision: int
    step_key: str
    opened_at: datetime
    card: tuple[Reason, ...]
    marker: str = ""
    decision: Decision | None = None
    decided_by: str = ""
    decided_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Intent:
    """A call that is about to be made, or was made and has no recorded outcome. At most one per run.

    Attributes:
        op: operation id, unique per attempt. attempt: 1, 2 …
        opened_at: when it was saved.
        known_workers: ids in the pool before the first attempt (successors are those not in it).
        seen: equal looks in a row that showed nothing. since: first of them.
        unknown: the call's answer was lost; only looking helps now. unknown_at: since when; it was made before that.
    """

    op: str
    order: Order
    step_key: str
    opened_at: datetime
    attempt: int = 1
    known_workers: tuple[str, ...] = ()
    seen: int = 0
    unknown: bool = False
    unknown_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """Something to tell once. `key`: natural key, so that it is told once however often it is seen."""

    key: str
    at: datetime
    reason: Reason


@dataclass(frozen=True, slots=True)
class Pause:
    by: str
    at: datetime
    reason: Reason


@dataclass(frozen=True, slots=True)
class TemporaryPool:
    """The pool this run created. `id` is known once IKS answered or lists it."""

    name: str
    id: str = ""
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One migration.

    Attributes:
        cluster: name as configured and typed. cluster_id: IKS id once resolved, "" before.
        target_version: exact version the control plane goes to; "" while no 1.36 is offered (only prepare then).
        blockers: what forbids beginning, found at plan time or since.
        warnings: what a human should know.
        cordons: node uid -> worker id of cordons this run set.
        labelled: node uids whose opt-out labels this run set.
        healthy_since: worker id -> since when its GPUs look good without a dip. dips: since when they do not again.
        notes: told once each, oldest first.
        pause: somebody, or a finding, stopped this run. brake: why the whole fleet is stopped, None while it is not.
        still_since: since when our clocks stand still (see `state/clocks.py`); None while they run.
        asked: how many approvals were opened so far (ids count up).
    """

    id: str
    cluster: str
    goal: Goal
    phase: RunPhase
    policy: Policy
    requested_by: str
    channel: str
    created_at: datetime
    cluster_id: str = ""
    cluster_name: str = ""
    target_version: str = ""
    steps: tuple[StepRun, ...] = ()
    approvals: tuple[Approval, ...] = ()
    intent: Intent | None = None
    baseline: Baseline | None = None
    blockers: tuple[Reason, ...] = ()
    warnings: tuple[Reason, ...] = ()
    notes: tuple[Note, ...] = ()
    pause: Pause | None = None
    brake: Reason | None = None
    temporary_pool: TemporaryPool | None = None
    cordons: Mapping[str, str] = field(default_factory=dict)
    labelled: tuple[str, ...] = ()
    healthy_since: Mapping[str, datetime] = field(default_factory=dict)
    dips: Mapping[str, datetime] = field(default_factory=dict)
    trouble: Reason | None = None
    trouble_since: datetime | None = None
    still_since: datetime | None = None
    asked: int = 0
    ops: int = 0
    ended_at: datetime | None = None
    ending: Reason | None = None

    @property
    def held(self) -> bool:
        """Whether nothing new may be ordered or asked: this run is paused, or the fleet's brake is set."""
        return self.pause is not None or self.brake is not None


__all__ = [
    "Approval",
    "Baseline",
    "BaselineWorkload",
    "Decision",
    "Goal",
    "GpuWorker",
    "Intent",
    "Note",
    "Pause",
    "Run",
    "RunPhase",
    "StepKind",
    "StepPhase",
    "StepRun",
    "TemporaryPool",
]
