"""What the GPU Operator writes into a ClusterPolicy's status. Pure; reasons and texts of v26.7.0 and v26.3.3."""

from dataclasses import dataclass

from sandbox.controllers.desk import stamp
from sandbox.controllers.gpu_labels import is_gpu_node
from sandbox.controllers.operands import chart_label, facts, state_of
from sandbox.controllers.pods import condition
from sandbox.kubernetes_client import Json

RELEASE_ID, RELEASE_VERSION = (f"feature.node.kubernetes.io/system-os_release.{name}" for name in ("ID", "VERSION_ID"))
RECONCILED = "ClusterPolicy is ready as all resources have been successfully reconciled"
NO_GPU_NODE = "No GPU node found, watching for new nodes to join the cluster."
NO_LABELS = "No NFD labels found"
NO_SYSTEM = "failed to retrieve GPU node OS info: unable to retrieve OS name from label {label}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One outcome of the operator's round. `system`: suffix of the driver's tag, "" when it makes no operands."""

    state: str
    reason: str
    message: str
    system: str = ""


def outlook(nodes: tuple[Json, ...]) -> Verdict:
    """What the nodes alone say; a verdict of state "" lets the operands decide."""
    labels = [node["metadata"].get("labels") or {} for node in nodes]
    if not any(key.startswith("feature.node.kubernetes.io/") for row in labels for key in row):
        return Verdict("ready", "NFDLabelsMissing", NO_LABELS)
    gpu_node = next((node for node in nodes if is_gpu_node(node)), None)
    if gpu_node is None:
        return Verdict("ready", "NoGPUNodes", NO_GPU_NODE)
    found = gpu_node["metadata"]["labels"]
    for label in (RELEASE_ID, RELEASE_VERSION):
        if label not in found:
            return Verdict("notReady", "ReconcileFailed", NO_SYSTEM.format(label=label))
    return Verdict("", "", "", f"{found[RELEASE_ID]}{found[RELEASE_VERSION]}")


def judged(policy: Json, daemon_sets: list[Json], system: str) -> Verdict:
    """What the operands' DaemonSets say: one with nothing desired counts as ready."""
    late = {state_of(one["metadata"]["name"]) for one in daemon_sets if not _ready(one)}
    if not late:
        return Verdict("ready", "Reconciled", RECONCILED, system)
    names = " ".join(name for name in facts().states if name in late)
    old = "26.3" in chart_label(policy).get("helm.sh/chart", "")
    text = f"ClusterPolicy is not ready{',' if old else ';'} states not ready: [{names}]"
    return Verdict("notReady", "OperandNotReady", text, system)


def conditions(policy: Json, verdict: Verdict) -> list[Json]:
    """The pair of conditions for a verdict; times of unchanged ones are kept."""
    if verdict.state == "ready":
        return [
            _row(policy, "Ready", "True", (verdict.reason, verdict.message)),
            _row(policy, "Error", "False", ("Ready", "")),
        ]
    return [
        _row(policy, "Ready", "False", ("Error", "")),
        _row(policy, "Error", "True", (verdict.reason, verdict.message)),
    ]


def _row(policy: Json, kind: str, status: str, why: tuple[str, str]) -> Json:
    known = condition(policy, kind) or {}
    at = known["lastTransitionTime"] if known.get("status") == status else stamp()
    return {"type": kind, "status": status, "reason": why[0], "message": why[1], "lastTransitionTime": at}


def _ready(one: Json) -> bool:
    status = one.get("status") or {}
    if status.get("observedGeneration") != one["metadata"].get("generation"):
        return False
    desired = int(status.get("desiredNumberScheduled") or 0)
    on_delete = (one["spec"].get("updateStrategy") or {}).get("type") == "OnDelete"
    fresh = desired if on_delete else int(status.get("updatedNumberScheduled") or 0)
    return desired == int(status.get("numberAvailable") or 0) and desired == fresh
