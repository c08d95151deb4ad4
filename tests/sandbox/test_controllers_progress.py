"""A pod's way through its script, and how its kubelet writes it down."""

from typing import Any

from sandbox.controllers.pod_status import differs, render
from sandbox.controllers.pod_troubles import NO_RUNTIME, complaints
from sandbox.controllers.scripts import Gate, open_gates
from tests.sandbox.controllers_player import Kubelet, make_node, make_pod

Json = dict[str, Any]


def test_given_an_ordinary_pod_when_its_time_has_come_then_it_is_running_and_ready() -> None:
    kubelet = Kubelet(make_pod("web", (), "c"))

    assert kubelet.at(100.0) == 106.0
    assert (kubelet.pod["status"]["phase"], kubelet.state()) == ("Pending", ["ContainerCreating"])
    assert kubelet.at(106.0) is None
    assert (kubelet.pod["status"]["phase"], kubelet.ready()) == ("Running", True)


def test_given_init_containers_when_time_goes_on_then_they_end_one_by_one() -> None:
    kubelet = Kubelet(make_pod("web", ("one", "two"), "c"))

    kubelet.at(0.0)
    kubelet.at(2.0)
    kubelet.at(4.0)

    assert kubelet.state("initContainerStatuses") == ["Completed", "running"]
    assert kubelet.state() == ["PodInitializing"]
    initialized = next(row for row in kubelet.pod["status"]["conditions"] if row["type"] == "Initialized")
    assert initialized["message"] == "containers with incomplete status: [two]"


def test_given_a_toolkit_pod_when_the_driver_gets_ready_then_it_follows_after_its_own_time() -> None:
    kubelet = Kubelet(
        make_pod("nvidia-container-toolkit-daemonset", ("driver-validation",), "nvidia-container-toolkit-ctr")
    )

    kubelet.at(0.0)
    assert kubelet.at(50.0) is None
    assert kubelet.state("initContainerStatuses") == ["running"]
    assert kubelet.at(200.0, Gate.DRIVER) == 215.0
    assert not kubelet.ready()
    kubelet.at(215.0, Gate.DRIVER)
    assert kubelet.ready()


def test_given_a_runtime_class_when_the_toolkit_is_missing_then_the_sandbox_waits_and_says_why() -> None:
    pod = make_pod(
        "nvidia-device-plugin-daemonset", ("toolkit-validation",), "nvidia-device-plugin", runtimeClassName="nvidia"
    )
    kubelet = Kubelet(pod)

    assert kubelet.at(0.0) is None
    told = list(complaints(pod, kubelet.progress, kubelet.case(0.0)))

    assert told == [("Warning", "FailedCreatePodSandBox", NO_RUNTIME)]
    assert kubelet.at(300.0, Gate.RUNTIME, Gate.TOOLKIT) == 301.0
    assert kubelet.at(301.0, Gate.RUNTIME, Gate.TOOLKIT) == 315.0


def test_given_the_validator_when_gates_open_in_turn_then_its_init_containers_follow() -> None:
    inits = ("driver-validation", "toolkit-validation", "cuda-validation", "plugin-validation")
    kubelet = Kubelet(
        make_pod("nvidia-operator-validator", inits, "nvidia-operator-validator", runtimeClassName="nvidia")
    )
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
    kubelet = Kubelet(make_pod("nvidia-driver-daemonset", ("k8s-driver-manager",), "nvidia-driver-ctr"))

    kubelet.at(0.0)
    kubelet.at(1.0)
    kubelet.at(2.0)
    running = kubelet.pod["status"]["phase"], kubelet.ready()
    kubelet.at(170.0)

    assert running == ("Running", False)
    assert kubelet.ready()


def test_given_a_pod_of_a_job_when_it_has_run_then_it_succeeds() -> None:
    pod = make_pod("work", (), "c", restartPolicy="Never")
    pod["metadata"]["annotations"] = {"sandbox.invalid/runs-for": "20"}
    kubelet = Kubelet(pod)

    kubelet.at(0.0)
    assert kubelet.at(6.0) == 26.0
    assert kubelet.ready()
    kubelet.at(26.0)
    assert (pod["status"]["phase"], kubelet.state()) == ("Succeeded", ["Completed"])


def test_given_a_written_status_when_nothing_has_happened_then_it_is_not_written_again() -> None:
    kubelet = Kubelet(make_pod("web", ("one",), "c"))
    for now in (0.0, 3.0, 6.0):
        kubelet.at(now)
    again = render(kubelet.pod, kubelet.progress, kubelet.case(7.0), "172.17.0.9")

    assert not differs(again, kubelet.pod["status"])


def test_given_operand_pods_when_gates_are_read_then_only_ready_ones_open_them() -> None:
    ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    driver = make_pod("nvidia-driver-daemonset", (), "nvidia-driver-ctr")
    toolkit = make_pod("nvidia-container-toolkit-daemonset", (), "nvidia-container-toolkit-ctr")
    cuda = make_pod("nvidia-cuda-validator", (), "nvidia-cuda-validator")
    driver["status"], cuda["status"] = ready, {"phase": "Succeeded"}

    gates = open_gates(make_node(gpus="1"), [driver, toolkit, cuda])

    assert gates == {Gate.DRIVER, Gate.CUDA, Gate.CAPACITY}
