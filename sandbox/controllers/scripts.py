"""What the containers of a pod do on a node, as data: what they wait for, how long they take, how they end. Pure.

The order of the GPU operands on a node is made here and nowhere else: each waits for a gate that another opens.
Sources: the gate files of the operator's validator and the init containers of its DaemonSets, v26.3.3 and v26.7.0.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from sandbox.controllers import pods
from sandbox.controllers.nodes import GPU, has_host_driver, system_release
from sandbox.controllers.quantities import quantity
from sandbox.kubernetes_client import Json

RUNS_FOR = "sandbox.invalid/runs-for"  # annotation: seconds, as in life, after which the pod's containers succeed
JOB_SECONDS = 10.0  # how long a Job's pod runs when it does not say
INSTANT = 1.0  # a step that takes no time worth a name in the scenario
DRIVER_COMPONENT = ("app.kubernetes.io/component", "nvidia-driver")
TOOLKIT_APP, PLUGIN_APP, CUDA_APP = (
    "nvidia-container-toolkit-daemonset",
    "nvidia-device-plugin-daemonset",
    "nvidia-cuda-validator",
)
HOST_DRIVER_FOUND = (
    "NVIDIA GPU driver is already pre-installed on the node, disabling the containerized driver on the node"
)

NO_HEADERS = "Could not resolve Linux kernel version: no headers for {kernel} in the repositories of this image"
SYSTEM_LABEL = "ibm-cloud.kubernetes.io/os"


class Gate(StrEnum):
    """What a container may have to wait for on its node."""

    RUNTIME = "runtime"  # containerd knows the runtime "nvidia"
    DRIVER = "driver"  # nvidia-smi works
    TOOLKIT = "toolkit"
    CUDA = "cuda"  # the CUDA validation pod has succeeded
    CAPACITY = "capacity"  # the kubelet shows GPUs


@dataclass(frozen=True, slots=True)
class Crash:
    """The container fails `after` seconds (already divided by the speed), again and again."""

    after: float
    code: int = 1
    message: str = ""


@dataclass(frozen=True, slots=True)
class Work:
    """One stage: wait for the gate, then take `seconds` (already divided by the speed)."""

    seconds: float = 0.0
    gate: Gate | None = None
    crash: Crash | None = None


@dataclass(frozen=True, slots=True)
class Script:
    """A pod's life on its node: sandbox, init containers one by one, then the main containers together.

    `ends`: seconds from ready until the main containers succeed; None: never.
    """

    sandbox: Work
    inits: tuple[Work, ...]
    main: Work
    ends: float | None = None


Seconds = Callable[[str], float]

_INIT_GATES = {
    "driver-validation": Gate.DRIVER,
    "toolkit-validation": Gate.TOOLKIT,
    "cuda-validation": Gate.CUDA,
    "plugin-validation": Gate.CAPACITY,
}
_MAIN_SECONDS = {
    "nvidia-container-toolkit-ctr": "toolkit",
    "nvidia-device-plugin": "plugin",
    "nvidia-dcgm-exporter": "dcgm",
}


def script_of(pod: Json, node: Json, seconds: Seconds, speed: float) -> Script:
    """The script of a pod. `seconds`: durations of the scenario, by name, already divided by the speed."""
    app = (pod["metadata"].get("labels") or {}).get("app", "")
    runtime = Gate.RUNTIME if pod["spec"].get("runtimeClassName") == "nvidia" else None
    instant = INSTANT / speed
    if is_driver(pod):
        return _driver(pod, node, seconds, instant)
    if app == CUDA_APP:
        return Script(Work(instant, runtime), (Work(max(0.0, seconds("validator") - 2 * instant)),), Work(), ends=0.0)
    names = [container["name"] for container in pod["spec"].get("initContainers") or ()]
    mains = [container["name"] for container in pod["spec"]["containers"]]
    named = next((_MAIN_SECONDS[name] for name in mains if name in _MAIN_SECONDS), "")
    if runtime or named or set(names) & set(_INIT_GATES):
        inits = tuple(Work(0.0, _INIT_GATES.get(name)) for name in names)
        main = max(0.0, seconds(named) - (instant if runtime else 0.0)) if named else instant
        return Script(Work(instant, runtime), inits, Work(main), _ends(pod, speed))
    share = seconds("pod_start") / (len(names) + 1)
    return Script(Work(share), tuple(Work(share) for _ in names), Work(0.0), _ends(pod, speed))


def open_gates(node: Json, here: Iterable[Json]) -> frozenset[Gate]:
    """The gates that are open on a node, by the pods on it and by what the node shows."""
    found = set()
    if has_host_driver(node):
        found.add(Gate.DRIVER)
    for pod in here:
        app = (pod["metadata"].get("labels") or {}).get("app", "")
        if is_driver(pod) and pods.ready(pod):
            found.add(Gate.DRIVER)
        if app == TOOLKIT_APP and pods.ready(pod):
            found |= {Gate.TOOLKIT, Gate.RUNTIME}
        if app == CUDA_APP and pods.phase(pod) == "Succeeded":
            found.add(Gate.CUDA)
    if quantity(((node.get("status") or {}).get("capacity") or {}).get(GPU, "0")) > 0:
        found.add(Gate.CAPACITY)
    return frozenset(found)


def is_driver(pod: Json) -> bool:
    """Whether the pod is the driver's, in whatever way it is deployed."""
    key, value = DRIVER_COMPONENT
    return (pod["metadata"].get("labels") or {}).get(key) == value


def _driver(pod: Json, node: Json, seconds: Seconds, instant: float) -> Script:
    """The driver pod: its manager looks for a driver of the host, then the driver is built and loaded."""
    found = Crash(60 * instant, message=HOST_DRIVER_FOUND) if has_host_driver(node) else None
    managers = tuple(Work(instant, crash=found) for _ in pod["spec"].get("initContainers") or ())
    build = max(0.0, seconds("driver") - instant * (1 + len(managers)))
    return Script(Work(instant), managers, Work(build, crash=_wrong_system(pod, node, instant)))


def _wrong_system(pod: Json, node: Json, instant: float) -> Crash | None:
    """How a driver image made for another operating system than the node's fails; None when it suits."""
    tag = str(pod["spec"]["containers"][0].get("image", "")).rpartition(":")[2]
    _, _, built_for = tag.partition("-")
    system, version, kernel = system_release((node["metadata"].get("labels") or {}).get(SYSTEM_LABEL, ""))
    if not built_for or built_for == f"{system}{version}":
        return None
    return Crash(20 * instant, message=NO_HEADERS.format(kernel=kernel))


def _ends(pod: Json, speed: float) -> float | None:
    written = (pod["metadata"].get("annotations") or {}).get(RUNS_FOR)
    if written is not None:
        return float(quantity(written)) / speed
    owners = pod["metadata"].get("ownerReferences") or ()
    is_job = any(one.get("kind") == "Job" for one in owners)
    return JOB_SECONDS / speed if is_job else None
