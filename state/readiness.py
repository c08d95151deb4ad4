"""Say of one GPU node on the target version whether its GPUs can be used, and if not, the first cause in the chain.

The chain (GPU Operator sheet 2.2, 2.6): machine → node Ready → NFD label → gpu.present → deploy labels → driver →
toolkit → validator's init containers → device plugin → allocatable. Judged from the API alone: init container states,
not pod phases (B011); `allocatable`, not the validator's word (it looks at capacity); pods of an older node of the same
name do not count (B026). ClusterPolicy's `ready` proves nothing for one node and is not asked.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from state.opt_out import DEPLOY_PREFIX, DRIVER, opting_out
from state.reasons import Code, Fact, Reason, reason
from state.snapshot import Container, Node, Pod, Snapshot, Worker
from state.tolerating import NFD_WORKER, OPERANDS, lasting

PAUSED = "paused-for-driver-upgrade"
_PULL = frozenset({"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"})
_CRASH_RESTARTS = 3


class Stage(StrEnum):
    """Where a node is in the chain; the fact `stage` of WAIT_GPUS."""

    NODE_MISSING = "node-missing"
    NODE_NOT_READY = "node-not-ready"
    OPTED_OUT = "opted-out"
    NO_NFD_POD = "no-nfd-pod"
    NO_NFD_LABEL = "no-nfd-label"
    NOT_LABELLED = "not-labelled"
    DRIVER_LABEL = "driver-label"
    HELD_BACK = "held-back"
    NO_DRIVER_POD = "no-driver-pod"
    IMAGE_PULL = "image-pull"
    DRIVER_MANAGER = "driver-manager"
    DRIVER_CRASHES = "driver-crashes"
    DRIVER_STARTING = "driver-starting"
    TOOLKIT = "toolkit"
    VALIDATOR = "validator"
    DEVICE_PLUGIN = "device-plugin"
    NOT_REGISTERED = "not-registered"
    UNHEALTHY_GPU = "unhealthy-gpu"
    FEWER_GPUS = "fewer-gpus"
    HEALTHY = "healthy"


Evidence = Mapping[str, Fact]
"""Facts that show a stage: `labels`, `taints`, `pod`, `container` (as kubectl writes it), its `state`, `message` and
`restarts`, or `have` and `want` of a `resource`. Each only where there is one, and verbatim where it comes from outside.
"""


@dataclass(frozen=True, slots=True)
class NodeVerdict:
    stage: Stage
    node: str
    evidence: Evidence = field(default_factory=dict)

    @property
    def healthy(self) -> bool:
        return self.stage is Stage.HEALTHY

    @property
    def reason(self) -> Reason:
        return reason(Code.WAIT_GPUS, node=self.node, stage=self.stage.value, **self.evidence)


def judge(snapshot: Snapshot, worker: Worker, expected: Mapping[str, int]) -> NodeVerdict:
    """Judge the node of `worker`; `expected`: GPU resources it has to offer, by name."""
    node = snapshot.node_of(worker.id)
    if node is None:
        return NodeVerdict(Stage.NODE_MISSING, worker.id, _shown(message=worker.message))
    if not node.ready:
        return NodeVerdict(Stage.NODE_NOT_READY, node.name)
    pods = _operands(snapshot, node)
    found = _labels(node, pods.get("nfd")) or _driver(pods.get("driver"), node) or _toolkit(pods.get("toolkit"), node)
    found = found or _numbers_first(pods, node, expected)
    return NodeVerdict(found[0], node.name, found[1]) if found else NodeVerdict(Stage.HEALTHY, node.name)


Finding = tuple[Stage, Evidence] | None


def _shown(**facts: Fact) -> Evidence:
    """What there is to show, without what is empty."""
    return {name: fact for name, fact in facts.items() if fact not in ("", ()) and (name != "restarts" or fact)}


def _operands(snapshot: Snapshot, node: Node) -> Mapping[str, Pod]:
    """The newest pod of each role; one that has ended or leaves does not hide the one that runs."""
    staying = (p for p in snapshot.pods_on(node) if p.deleting_since is None)
    return {_role(p): p for p in sorted(staying, key=lambda p: (not p.finished, p.created_at))}


def _role(pod: Pod) -> str:
    if pod.component == "nvidia-driver" or pod.app == "nvidia-driver-daemonset":
        return "driver"
    if pod.part == "worker" and any(word in pod.name for word in ("node-feature-discovery", "nfd")):
        return "nfd"
    names = {
        "nvidia-container-toolkit-daemonset": "toolkit",
        "nvidia-operator-validator": "validator",
        "nvidia-device-plugin-daemonset": "plugin",
    }
    return names.get(pod.app, "")


def _labels(node: Node, nfd: Pod | None) -> Finding:
    labels = node.labels
    if opted := opting_out({k: v for k, v in labels.items() if k != DRIVER}):
        return Stage.OPTED_OUT, _shown(labels=opted)
    if not any(
        k.startswith("feature.node.kubernetes.io/pci-") and "10de" in k and v == "true" for k, v in labels.items()
    ):
        return _undiscovered(node, nfd)
    if labels.get("nvidia.com/gpu.present") != "true":
        return Stage.NOT_LABELLED, _shown(
            labels=(f"nvidia.com/gpu.present={labels.get('nvidia.com/gpu.present', '')}",)
        )
    if DRIVER in labels and labels[DRIVER] != "true" and PAUSED not in labels[DRIVER]:
        return Stage.DRIVER_LABEL, _shown(labels=(f"{DRIVER}={labels[DRIVER]}",))
    held = sorted(k for k, v in labels.items() if k.startswith(DEPLOY_PREFIX) and PAUSED in v)
    if held:
        return Stage.HELD_BACK, _shown(labels=(f"{held[0]}={labels[held[0]]}",))
    return None if DRIVER in labels else (Stage.NOT_LABELLED, _shown(labels=(DRIVER,)))


def _undiscovered(node: Node, nfd: Pod | None) -> Finding:
    """Why nobody has labelled the GPU: a taint that the NFD worker does not tolerate says nothing by itself (B009)."""
    if nfd is None:
        return Stage.NO_NFD_POD, _shown(taints=lasting(node, NFD_WORKER))
    return Stage.NO_NFD_LABEL, _shown(pod="" if nfd.ready else nfd.key)


def _undeployed(node: Node, part: str) -> Evidence:
    """Why a component's pod is not there: a label that is not true (an empty one counts as set before 26.7), a taint."""
    value = node.labels.get(f"{DEPLOY_PREFIX}{part}", "true")
    labels = () if value == "true" else (f"{DEPLOY_PREFIX}{part}={value}",)
    return _shown(labels=labels, taints=lasting(node, OPERANDS))


def _driver(pod: Pod | None, node: Node) -> Finding:
    if pod is None:
        return Stage.NO_DRIVER_POD, _undeployed(node, "driver")
    if pull := _pull(pod):
        return Stage.IMAGE_PULL, pull
    for container in pod.init_containers:
        if container.restarts >= 1 and container.state != "terminated":
            return Stage.DRIVER_MANAGER, _told(pod, container)
    for container in pod.containers:
        if container.restarts >= _CRASH_RESTARTS or container.reason == "CrashLoopBackOff":
            return Stage.DRIVER_CRASHES, _told(pod, container)
    return None if pod.ready else (Stage.DRIVER_STARTING, _shown(pod=pod.key))


def _toolkit(pod: Pod | None, node: Node) -> Finding:
    if pod is None:
        return Stage.TOOLKIT, _undeployed(node, "container-toolkit")
    if pull := _pull(pod):
        return Stage.IMAGE_PULL, pull
    return None if pod.ready else (Stage.TOOLKIT, _unready(pod))


def _numbers_first(pods: Mapping[str, Pod], node: Node, expected: Mapping[str, int]) -> Finding:
    """Plugin and numbers before the validator: they name the cause that the validator only waits for."""
    plugin, validator = pods.get("plugin"), pods.get("validator")
    if validator is not None and _crashing(validator):
        return Stage.VALIDATOR, _unready(validator)
    if plugin is None or not plugin.ready:
        pull = _pull(plugin) if plugin else {}
        told = _unready(plugin) if plugin else _undeployed(node, "device-plugin")
        return (Stage.IMAGE_PULL, pull) if pull else (Stage.DEVICE_PLUGIN, told)
    for name, wanted in expected.items():
        capacity, offered = node.capacity.get(name, 0), node.allocatable.get(name, 0)
        if capacity == 0 and offered == 0:
            return Stage.NOT_REGISTERED, _shown(have=0, want=wanted, resource=name)
        if offered < capacity:
            return Stage.UNHEALTHY_GPU, _shown(have=offered, want=capacity, resource=name)
        if offered < wanted:
            return Stage.FEWER_GPUS, _shown(have=offered, want=wanted, resource=name)
    if validator is None or not validator.ready:
        return Stage.VALIDATOR, _unready(validator) if validator else _undeployed(node, "operator-validator")
    return None


def _pull(pod: Pod) -> Evidence:
    for container in (*pod.init_containers, *pod.containers):
        if container.state == "waiting" and container.reason in _PULL:
            return _shown(pod=pod.key, container=container.name, state=container.reason, message=container.message)
    return {}


def _crashing(pod: Pod) -> bool:
    return any(c.reason == "CrashLoopBackOff" or c.restarts >= _CRASH_RESTARTS for c in pod.init_containers)


def _unready(pod: Pod) -> Evidence:
    """The first init container that has not ended, else the pod: what it is waiting in."""
    for container in pod.init_containers:
        if container.state != "terminated" or container.exit_code not in (0, None):
            name, restarts = f"Init:{container.name}", container.restarts
            return _shown(pod=pod.key, container=name, state=container.reason, restarts=restarts)
    return _shown(pod=pod.key)


def _told(pod: Pod, container: Container) -> Evidence:
    message = container.message.splitlines()[0][:200] if container.message else ""
    state, restarts = container.reason, container.restarts
    return _shown(pod=pod.key, container=container.name, state=state, message=message, restarts=restarts)
