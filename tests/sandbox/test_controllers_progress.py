"""A pod's way through its script, and how its kubelet writes it down."""

from typing import Any

from sandbox.controllers.afflictions import Afflictions
from sandbox.controllers.nodes import HOST_DRIVER
from sandbox.controllers.pod_status import differs, render
from sandbox.controllers.pod_troubles import NO_RUNTIME, complaints, troubles_of
from sandbox.controllers.progress import Circumstances, Progress, advance
from sandbox.controllers.scripts import Gate, open_gates, script_of

Json = dict[str, Any]

SECONDS = {"pod_start": 6.0, "driver": 170.0, "toolkit": 15.0, "plugin": 15.0, "validator": 30.0, "dcgm": 45.0}


def _pod(app: str, inits: tuple[str, ...], main: str, **spec: Any) -> Json:
    labels = {"app": app}
    if app == "nvidia-driver-daemonset":
        labels["app.kubernetes.io/component"] = "nvidia-driver"
    return {
        "metadata": {"name": f"{app}-x", "namespace": "ns", "uid": app, "labels": labels},
        "spec": {
            "nodeName": "10.0.0.1",
            "initContainers": [{"name": name, "image": f"r/{name}:1"} for name in inits],
            "containers": [{"name": main, "image": f"r/{main}:1"}],
            **spec,
        },
        "status": {},
    }


def _node(*, host_driver: bool = False, gpus: str = "") -> Json:
    annotations = {HOST_DRIVER: "true"} if host_driver else {}
    capacity = {"nvidia.com/gpu": gpus} if gpus else {}
    return {
        "metadata": {"name": "10.0.0.1", "annotations": annotations, "labels": {}},
        "status": {"capacity": capacity},
    }


class _Kubelet:
    """Plays one pod through time."""

    def __init__(self, pod: Json, node: Json | None = None, afflictions: Afflictions | None = None) -> None:
        self.pod, self.node = pod, node or _node()
        self.afflictions = afflictions or Afflictions()
        self.progress = Progress()

    def at(self, now: float, *gates: Gate) -> float | None:
        """Advance to `now` and write the status; the next moment, if there is one."""
        case = self.case(now, *gates)
        wake = advance(self.progress, case)
        status = render(self.pod, self.progress, case, "172.17.0.9")
        known = {row["type"]: row for row in self.pod["status"].get("conditions", [])}
        merged = {**known, **{row["type"]: row for row in status["conditions"]}}
        self.pod["status"] = {**self.pod["status"], **status, "conditions": list(merged.values())}
        return wake

    def case(self, now: float, *gates: Gate) -> Circumstances:
        script = script_of(self.pod, self.node, SECONDS.__getitem__, 1.0)
        troubles = troubles_of(self.pod, self.node, self.afflictions, 1.0)
        restarts = self.pod["spec"].get("restartPolicy", "Always") != "Never"
        return Circumstances(script, frozenset(gates), troubles, now, 1.0, restarts)

    def ready(self) -> bool:
        return any(row["type"] == "Ready" and row["status"] == "True" for row in self.pod["status"]["conditions"])

    def state(self, kind: str = "containerStatuses") -> list[str]:
        rows = self.pod["status"][kind]
        return [next(iter(row["state"].values())).get("reason") or next(iter(row["state"])) for row in rows]


def test_given_an_ordinary_pod_when_its_time_has_come_then_it_is_running_and_ready() -> None:
    kubelet = _Kubelet(_pod("web", (), "c"))

    assert kubelet.at(100.0) == 106.0
    assert (kubelet.pod["status"]["phase"], kubelet.state()) == ("Pending", ["ContainerCreating"])
    assert kubelet.at(106.0) is None
    assert (kubelet.pod["status"]["phase"], kubelet.ready()) == ("Running", True)


def test_given_init_containers_when_time_goes_on_then_they_end_one_by_one() -> None:
    kubelet = _Kubelet(_pod("web", ("one", "two"), "c"))

    kubelet.at(0.0)
    kubelet.at(2.0)
    kubelet.at(4.0)

    assert kubelet.state("initContainerStatuses") == ["Completed", "running"]
    assert kubelet.state() == ["PodInitializing"]
    initialized = next(row for row in kubelet.pod["status"]["conditions"] if row["type"] == "Initialized")
    assert initialized["message"] == "containers with incomplete status: [two]"


def test_given_a_toolkit_pod_when_the_driver_gets_ready_then_it_follows_after_its_own_time() -> None:
    kubelet = _Kubelet(
        _pod("nvidia-container-toolkit-daemonset", ("driver-validation",), "nvidia-container-toolkit-ctr")
    )

    kubelet.at(0.0)
    assert kubelet.at(50.0) is None
    assert kubelet.state("initContainerStatuses") == ["running"]
    assert kubelet.at(200.0, Gate.DRIVER) == 215.0
    assert not kubelet.ready()
    kubelet.at(215.0, Gate.DRIVER)
    assert kubelet.ready()


def test_given_a_runtime_class_when_the_toolkit_is_missing_then_the_sandbox_waits_and_says_why() -> None:
    pod = _pod(
        "nvidia-device-plugin-daemonset", ("toolkit-validation",), "nvidia-device-plugin", runtimeClassName="nvidia"
    )
    kubelet = _Kubelet(pod)

    assert kubelet.at(0.0) is None
    told = list(complaints(pod, kubelet.progress, kubelet.case(0.0)))

    assert told == [("Warning", "FailedCreatePodSandBox", NO_RUNTIME)]
    assert kubelet.at(300.0, Gate.RUNTIME, Gate.TOOLKIT) == 301.0
    assert kubelet.at(301.0, Gate.RUNTIME, Gate.TOOLKIT) == 315.0


def test_given_the_validator_when_gates_open_in_turn_then_its_init_containers_follow() -> None:
    inits = ("driver-validation", "toolkit-validation", "cuda-validation", "plugin-validation")
    kubelet = _Kubelet(_pod("nvidia-operator-validator", inits, "nvidia-operator-validator", runtimeClassName="nvidia"))
    gates = [Gate.DRIVER, Gate.TOOLKIT, Gate.RUNTIME]

    kubelet.at(0.0, *gates)
    kubelet.at(1.0, *gates)
    waiting_for_cuda = kubelet.state("initContainerStatuses")
    kubelet.at(30.0, *gates, Gate.CUDA)
    waiting_for_gpus = kubelet.state("initContainerStatuses")
    kubelet.at(60.0, *gates, Gate.CUDA, Gate.CAPACITY)
    kubelet.at(61.0, *gates, Gate.CUDA, Gate.CAPACITY)

    assert waiting_for_cuda == ["Completed", "Completed", "running", "PodInitializing"]
    assert waiting_for_gpus == ["Completed", "Completed", "Completed", "running"]
    assert kubelet.ready()


def test_given_a_driver_pod_on_a_clean_node_when_its_time_has_come_then_it_is_ready() -> None:
    kubelet = _Kubelet(_pod("nvidia-driver-daemonset", ("k8s-driver-manager",), "nvidia-driver-ctr"))

    kubelet.at(0.0)
    kubelet.at(1.0)
    kubelet.at(2.0)
    running = kubelet.pod["status"]["phase"], kubelet.ready()
    kubelet.at(170.0)

    assert running == ("Running", False)
    assert kubelet.ready()


def test_given_a_host_driver_when_the_driver_pod_lands_there_then_its_manager_fails_again_and_again() -> None:
    pod = _pod("nvidia-driver-daemonset", ("k8s-driver-manager",), "nvidia-driver-ctr")
    kubelet = _Kubelet(pod, _node(host_driver=True))

    kubelet.at(0.0)
    kubelet.at(1.0)
    kubelet.at(61.0)

    row = pod["status"]["initContainerStatuses"][0]
    assert row["restartCount"] == 1
    assert row["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert "already pre-installed" in row["lastState"]["terminated"]["message"]


def test_given_a_driver_image_for_another_system_when_it_lands_then_it_fails_for_lack_of_headers() -> None:
    pod = _pod("nvidia-driver-daemonset", ("k8s-driver-manager",), "nvidia-driver-ctr")
    pod["spec"]["containers"][0]["image"] = "nvcr.io/nvidia/driver:595.91.07-ubuntu22.04"
    node = _node()
    node["metadata"]["labels"] = {"ibm-cloud.kubernetes.io/os": "UBUNTU_24_64"}
    kubelet = _Kubelet(pod, node)

    for now in (0.0, 1.0, 2.0, 22.0):
        kubelet.at(now)

    row = pod["status"]["containerStatuses"][0]
    assert row["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert "Could not resolve Linux kernel version" in row["lastState"]["terminated"]["message"]


def test_given_an_image_that_can_not_be_pulled_when_the_registry_is_back_then_the_pod_runs() -> None:
    afflictions = Afflictions()
    bad = afflictions.add("image-pull", image="r/c:*", message="manifest unknown")
    kubelet = _Kubelet(_pod("web", (), "c"), afflictions=afflictions)

    kubelet.at(0.0)
    assert kubelet.at(6.0) == 16.0
    assert kubelet.state() == ["ErrImagePull"]
    assert kubelet.at(16.0) is None
    assert kubelet.state() == ["ImagePullBackOff"]
    afflictions.remove(bad.id)
    kubelet.at(20.0)
    assert kubelet.ready()


def test_given_a_crash_loop_when_it_goes_on_then_the_pauses_double() -> None:
    afflictions = Afflictions()
    afflictions.add("crash-loop", container="c", number=137, message="out of memory")
    kubelet = _Kubelet(_pod("web", (), "c"), afflictions=afflictions)

    kubelet.at(0.0)
    kubelet.at(6.0)
    assert kubelet.at(11.0) == 21.0
    assert kubelet.at(21.0) == 26.0
    assert kubelet.at(26.0) == 46.0
    row = kubelet.pod["status"]["containerStatuses"][0]
    assert row["restartCount"] == 2
    assert row["lastState"]["terminated"]["exitCode"] == 137
    assert row["state"]["waiting"]["message"] == "back-off 20s restarting failed container=c"


def test_given_restart_policy_never_when_the_container_fails_then_the_pod_is_failed() -> None:
    afflictions = Afflictions()
    afflictions.add("crash-loop", pod="web*")
    kubelet = _Kubelet(_pod("web", (), "c", restartPolicy="Never"), afflictions=afflictions)

    kubelet.at(0.0)
    kubelet.at(6.0)
    kubelet.at(11.0)

    assert kubelet.pod["status"]["phase"] == "Failed"


def test_given_a_pod_of_a_job_when_it_has_run_then_it_succeeds() -> None:
    pod = _pod("work", (), "c", restartPolicy="Never")
    pod["metadata"]["annotations"] = {"sandbox.invalid/runs-for": "20"}
    kubelet = _Kubelet(pod)

    kubelet.at(0.0)
    assert kubelet.at(6.0) == 26.0
    assert kubelet.ready()
    kubelet.at(26.0)
    assert (pod["status"]["phase"], kubelet.state()) == ("Succeeded", ["Completed"])


def test_given_a_written_status_when_nothing_has_happened_then_it_is_not_written_again() -> None:
    kubelet = _Kubelet(_pod("web", ("one",), "c"))
    for now in (0.0, 3.0, 6.0):
        kubelet.at(now)
    again = render(kubelet.pod, kubelet.progress, kubelet.case(7.0), "172.17.0.9")

    assert not differs(again, kubelet.pod["status"])


def test_given_operand_pods_when_gates_are_read_then_only_ready_ones_open_them() -> None:
    ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    driver = _pod("nvidia-driver-daemonset", (), "nvidia-driver-ctr")
    toolkit = _pod("nvidia-container-toolkit-daemonset", (), "nvidia-container-toolkit-ctr")
    cuda = _pod("nvidia-cuda-validator", (), "nvidia-cuda-validator")
    driver["status"], cuda["status"] = ready, {"phase": "Succeeded"}

    gates = open_gates(_node(gpus="1"), [driver, toolkit, cuda])

    assert gates == {Gate.DRIVER, Gate.CUDA, Gate.CAPACITY}
