"""Why: blockers, waits, failures, news and card lines as codes with facts.

Sentences are made in `bot/messages` only; tests key on codes. A fact is a string, an integer or a tuple of strings,
named by what it is. Codes are grouped by who reads them; values are stable, since they are stored.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

Fact = str | int | tuple[str, ...]


class Code(StrEnum):
    """Every reason of the product. Facts in brackets."""

    # --- preflight: what forbids or warns
    NOT_IKS = "not-iks"  # [offering] OpenShift or something else
    NOT_VPC = "not-vpc"  # [provider]
    WRONG_MINOR = "wrong-minor"  # [version, wanted]
    WORKER_TOO_OLD = "worker-too-old"  # [worker, version]
    MASTER_BUSY = "master-busy"  # [state, status, health]
    MASTER_BLOCKED = "master-blocked"  # [state, status] update_cancelled, update_failed, broken webhook …
    NO_GPU_WORKERS = "no-gpu-workers"
    NO_TARGET_YET = "no-target-yet"  # [minor] no such version is offered: only prepare
    AUTOSCALER = "autoscaler"  # [addon, version, range] or [pools]
    ADDON_RANGE = "addon-range"  # [addon, version, range]
    REBALANCE_OFF = "rebalance-off"  # [pool]
    POOL_SHORT = "pool-short"  # [pool, have, want]
    POOL_LABELS = "pool-labels"  # [pool, labels] opt-out labels on a pool
    MIXED_OS = "mixed-os"  # [systems]
    TAINT_NOT_TOLERATED = "taint-not-tolerated"  # [node, taint, by]
    UPGRADE_FAILED = "upgrade-failed"  # [node, label] the driver manager gave up there
    FOREIGN_OPERATOR = "foreign-operator"  # [what]
    RELEASE_ELSEWHERE = "release-elsewhere"  # [release, namespace, version] adopted
    RELEASE_STUCK = "release-stuck"  # [release, namespace, status, minutes]
    RELEASE_FAILED = "release-failed"  # [release, namespace, version]
    RELEASES_MANY = "releases-many"  # [releases]
    CHART_UNTESTED = "chart-untested"  # [version, low, high]
    OPERATOR_LABELLED_NODE_DIRTY = "operator-node-dirty"  # [node, what] operand or deploy key on an opted-out node
    MISSING_RIGHTS = "missing-rights"  # [rights]
    NODE_WORKER_MISMATCH = "node-worker-mismatch"  # [worker, node]
    GPU_LABEL_WITHOUT_GPU = "gpu-label-without-gpu"  # [worker, flavor]
    NOT_NVIDIA = "not-nvidia"  # [worker, flavor]
    ALREADY_CORDONED = "already-cordoned"  # [node, by]
    WORKER_UNHEALTHY = "worker-unhealthy"  # [worker, state, health, message]
    PDB_BLOCKS = "pdb-blocks"  # [pod, budget, allowed]
    SINGLE_REPLICA = "single-replica"  # [workload]
    ALREADY_MIGRATED = "already-migrated"  # every GPU worker runs the target, with GPUs; the run ends at once
    HALF_DONE = "half-done"  # [master, workers, pools, nodes, mark] traces of a migration without a run record
    OTHER_RUN_IN_CLUSTER = "other-run-in-cluster"  # [run, instance]
    MODE_OBSERVE = "mode-observe"  # nothing mutating leaves the product

    # --- consent: what blocks a worker's card until a human agrees
    BARE_PODS = "bare-pods"  # [pods]
    EMPTY_DIR = "empty-dir"  # [pods]
    JOBS_RUNNING = "jobs-running"  # [pods]
    HOST_LOCAL = "host-local"  # [pods]

    # --- waits
    WAIT_LABELS = "wait-labels"  # [nodes]
    WAIT_OPERATOR_PODS = "wait-operator-pods"  # [pods]
    WAIT_RELEASE = "wait-release"  # [release, status]
    WAIT_NODE_CLEAN = "wait-node-clean"  # [node, what]
    WAIT_MASTER = "wait-master"  # [version, status]
    WAIT_API_VERSION = "wait-api-version"  # [iks, api]
    WAIT_POOL_WORKERS = "wait-pool-workers"  # [pool, have, want]
    WAIT_WORKER = "wait-worker"  # [worker, state, message]
    WAIT_OLD_WORKER_GONE = "wait-old-worker-gone"  # [worker, state]
    WAIT_SUCCESSOR = "wait-successor"  # [pool, worker]
    WAIT_NODE_READY = "wait-node-ready"  # [worker, node]
    WAIT_GPUS = "wait-gpus"  # [node, stage; labels taints pod container state message restarts have want resource]
    WAIT_STABLE = "wait-stable"  # [node, seconds]
    WAIT_PODS_GONE = "wait-pods-gone"  # [node, pods]
    WAIT_CORDON = "wait-cordon"  # [node]
    WAIT_WORKLOADS = "wait-workloads"  # [workloads] several, with the first one as `cause`
    WAIT_POOL_GONE = "wait-pool-gone"  # [pool, workers]
    WAIT_OTHER_STEP = "wait-other-step"  # [step]
    WAIT_SETTLE = "wait-settle"  # [order] outcome unknown, looking
    WAIT_APPROVAL = "wait-approval"  # [step]
    EVICTION_BLOCKED = "eviction-blocked"  # [pods, budget, allowed]
    EVICTION_THROTTLED = "eviction-throttled"  # [pod, seconds]
    EVICTION_MISCONFIGURED = "eviction-misconfigured"  # [pod] two budgets
    PAUSED = "paused"  # [by, here] here: the cluster, where only the answer can say it
    UNDO_WAITS = "undo-waits"  # [nodes] what an abort gives back, while the brake is set
    BRAKE = "brake"  # [by, detail, at] every run of the fleet is stopped

    # --- readiness stages of one GPU node (WAIT_GPUS) and what shows them are in state/readiness.py

    # --- failures
    DEADLINE = "deadline"  # [step, seconds] with the last wait as `cause` and its facts
    ADMISSION_REFUSED = "admission-refused"  # [node, count] the kubelet turns GPU pods away though GPUs are free
    PROVISION_FAILED = "provision-failed"  # [worker, message]
    STRANGER = "stranger"  # [workers] successors nobody of us ordered
    POSSIBLE_DOUBLE = "possible-double"  # [workers, worker]
    RUNS_FAILED = "runs-failed"  # [clusters] steps of several runs failed within a short time
    NOT_STARTED = "not-started"  # [order, attempts]
    ORDER_REFUSED = "order-refused"  # [order, status, code, message, incident]
    CORDON_LIFTED = "cordon-lifted"  # [node, by]
    NEW_PODS = "new-pods"  # [node, pods]
    HANDED_OVER = "handed-over"  # [] decided while this process was ending
    FACTS_CHANGED = "facts-changed"  # [step]
    MASTER_NOT_THERE = "master-not-there"  # [version, target]
    LAST_GPU_WORKER = "last-gpu-worker"  # [worker] nothing else can take the workloads
    OLD_NODE_UNLABELLED = "old-node-unlabelled"  # [node] a pre-target GPU node without opt-out labels
    OPERAND_ON_OLD_NODE = "operand-on-old-node"  # [node, pod] alarm
    SUCCESSOR_OPTED_OUT = "successor-opted-out"  # [node, labels]
    SUCCESSOR_WRONG_MINOR = "successor-wrong-minor"  # [worker, version]
    REJECTED = "rejected"  # [by, step]
    PODS_WOULD_NOT_FIT = "pods-would-not-fit"  # [pods]
    OTHERS_UNREADY = "others-unready"  # [nodes] with the first one's wait as `cause`

    # --- access
    IKS_UNREACHABLE = "iks-unreachable"  # [status, detail]
    IKS_REFUSED = "iks-refused"  # [status, code, message, incident]
    IKS_BUSY = "iks-busy"  # [status, code, message, incident]
    IKS_LOGIN = "iks-login"  # [code, message]
    CLUSTER_NOT_FOUND = "cluster-not-found"  # [cluster, code, message, incident]
    CLUSTER_AMBIGUOUS = "cluster-ambiguous"  # [cluster, ids]
    API_UNREACHABLE = "api-unreachable"  # [detail]
    API_REFUSED = "api-refused"  # [status, message]
    API_LOGIN = "api-login"  # [status]
    HELM_FAILED = "helm-failed"  # [exit, detail]
    HELM_MISSING = "helm-missing"  # [path]
    STORE_UNREACHABLE = "store-unreachable"  # [detail]
    STORE_REFUSED = "store-refused"  # [detail]
    STORE_REWOUND = "store-rewound"  # [run, known, found] the journal lost versions that we had seen
    STORE_LOST = "store-lost"  # [run, cluster] the record of a run is gone
    STORE_UNREADABLE = "store-unreadable"  # [what] written by a newer version of this product, or damaged
    STORE_OVERTAKEN = "store-overtaken"  # [run, what, known, found] somebody else owns or changed it
    STORE_OLD = "store-old"  # [version] older than what we need
    STORE_EVICTS = "store-evicts"  # [policy] maxmemory-policy that throws keys away
    STORE_FORGETS = "store-forgets"  # [setting] what is acknowledged is not on a disk yet
    REPLICA_SUPERSEDED = "replica-superseded"  # [replica, epoch, found] another process runs under our name
    SLACK_UNREACHABLE = "slack-unreachable"  # [error]
    SLACK_REFUSED = "slack-refused"  # [error]
    CONFIG_WRONG = "config-wrong"  # [faults] each with its key and what to write instead
    UNEXPECTED = "unexpected"  # [where, what] a bug of ours, caught at the top of a task

    # --- answers to one person
    RECORDED = "recorded"  # the click or command is in the inbox
    ABORT_WAITS = "abort-waits"  # [cluster] recorded under the brake: what happens now, and what waits
    NOT_RECORDED = "not-recorded"  # press again
    ALREADY_DECIDED = "already-decided"  # [by, at, decision]
    STALE_CARD = "stale-card"  # an older revision
    UNKNOWN_CARD = "unknown-card"
    NOT_APPROVER = "not-approver"  # [user]
    NOT_OPERATOR = "not-operator"  # [user]
    WRONG_TEAM = "wrong-team"
    UNKNOWN_CLUSTER = "unknown-cluster"  # [cluster, known]
    UNKNOWN_COMMAND = "unknown-command"  # [word, suggestion]
    MISSING_CLUSTER = "missing-cluster"  # [command, known]
    NO_RUN = "no-run"  # [cluster]
    NO_SUCH_RUN = "no-such-run"  # [run]
    RUN_ENDED = "run-ended"  # [run, cluster, phase] nothing was recorded
    RUN_EXISTS = "run-exists"  # [run, cluster, phase]
    NOT_IN_CHANNEL = "not-in-channel"  # [channel]
    NOTHING_TO_DO = "nothing-to-do"  # [command, phase]
    STARTED_LOOKING = "started-looking"  # [cluster]
    EXTRA_WORDS = "extra-words"  # [command, words]
    STOPPED_ALL = "stopped-all"  # [clusters, refused]
    NOTHING_RUNS = "nothing-runs"
    LOOKING = "looking"  # [cluster] for a dry run
    BRAKE_SET = "brake-set"  # [by]
    BRAKE_LIFTED = "brake-lifted"  # [by]

    # --- news, told once
    RUN_BEGAN = "run-began"  # [by]
    NODE_READY = "node-ready"  # [worker, node, version]
    GPUS_READY = "gpus-ready"  # [worker, node, gpus]
    GPUS_LOST = "gpus-lost"  # [worker, node] with what is the matter as `cause`
    WORKLOADS_RECOVERED = "workloads-recovered"  # [workloads, after, rejected]
    WORKLOAD_UNRECOVERED = "workload-unrecovered"  # [workload, have, want, scheduling]
    SCHEDULER_NOT_RETRIED = "scheduler-not-retried"  # [pods] they fit, and still wait
    STEP_STUCK = "step-stuck"  # [step] with cause
    STEP_FAILED = "step-failed"  # [step] with cause
    OLD_NODE_LABELLED = "old-node-labelled"  # [node]
    UNCORDONED = "uncordoned"  # [node]
    UNLABELLED = "unlabelled"  # [node]
    LABELS_KEPT = "labels-kept"  # [nodes]
    TEMPORARY_POOL_LEFT = "temporary-pool-left"  # [pool, size, flavor]
    PREPARED = "prepared"
    MIGRATION_DONE = "migration-done"
    RUN_ABORTED = "run-aborted"  # [by]
    DECIDED = "decided"  # [by, decision, step]
    ADOPTED = "adopted"  # [order] effect found by looking
    DCGM_FOUND = "dcgm-found"  # [pods]
    DCGM_MISSING = "dcgm-missing"
    NEXT_STEPS = "next-steps"

    # --- lines of cards and plans
    CARD_PLAN = "card-plan"  # [steps]
    CARD_MASTER = "card-master"  # [version, target]
    CARD_NO_ROLLBACK = "card-no-rollback"
    CARD_POOL = "card-pool"  # [pool, flavor, zone, size]
    CARD_COST = "card-cost"  # [pool]
    CARD_REMOVE_POOL = "card-remove-pool"  # [pool, workers]
    CARD_WORKER = "card-worker"  # [worker, node, flavor, gpus]
    CARD_CLOSE_OLD = "card-close-old"  # [nodes]
    CARD_PODS_MOVE = "card-pods-move"  # [pods]
    CARD_PODS_PENDING = "card-pods-pending"  # [pods] no free GPU elsewhere: wait until the successor is ready
    CARD_FORECAST = "card-forecast"  # [gpus, seconds, lost] lost: GPU-minutes
    CARD_DELETED_FOR_GOOD = "card-deleted-for-good"  # [worker]
    CARD_NOTHING_HAPPENS = "card-nothing-happens"  # until somebody answers
    CARD_CHANGED = "card-changed"  # [what] since the last card


@dataclass(frozen=True, slots=True)
class Reason:
    """A code with its facts. `cause`: the reason behind it, if any."""

    code: Code
    facts: Mapping[str, Fact] = field(default_factory=dict)
    cause: "Reason | None" = None

    def text(self, name: str) -> str:
        """A fact as text, "" when absent; tuples are joined by comma."""
        value = self.facts.get(name, "")
        return ", ".join(value) if isinstance(value, tuple) else str(value)

    def __str__(self) -> str:
        facts = " ".join(f"{key}={value}" for key, value in self.facts.items())
        tail = f" <- {self.cause}" if self.cause else ""
        return f"{self.code.value}[{facts}]{tail}"


def reason(code: Code, cause: Reason | None = None, /, **facts: Fact) -> Reason:
    """Short form of Reason(code, facts, cause). Any name can be a fact's: `code` is one of IBM's, for example."""
    return Reason(code, facts, cause)
