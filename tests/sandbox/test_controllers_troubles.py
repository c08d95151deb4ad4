"""Pods whose images are missing, whose containers fail, whose nodes do not suit them."""

from sandbox.controllers.afflictions import Afflictions
from tests.sandbox.controllers_player import Kubelet, make_node, make_pod


def test_given_a_host_driver_when_the_driver_pod_lands_there_then_its_manager_fails_again_and_again() -> None:
    pod = make_pod("nvidia-driver-daemonset", ("k8s-driver-manager",), "nvidia-driver-ctr")
    kubelet = Kubelet(pod, make_node(host_driver=True))

    kubelet.at(0.0)
    kubelet.at(1.0)
    kubelet.at(61.0)

    row = pod["status"]["initContainerStatuses"][0]
    assert row["restartCount"] == 1
    assert row["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert "already pre-installed" in row["lastState"]["terminated"]["message"]


def test_given_a_driver_image_for_another_system_when_it_lands_then_it_fails_for_lack_of_headers() -> None:
    pod = make_pod("nvidia-driver-daemonset", ("k8s-driver-manager",), "nvidia-driver-ctr")
    pod["spec"]["containers"][0]["image"] = "nvcr.io/nvidia/driver:595.91.07-ubuntu22.04"
    node = make_node()
    node["metadata"]["labels"] = {"ibm-cloud.kubernetes.io/os": "UBUNTU_24_64"}
    kubelet = Kubelet(pod, node)

    for now in (0.0, 1.0, 2.0, 22.0):
        kubelet.at(now)

    row = pod["status"]["containerStatuses"][0]
    assert row["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert "Could not resolve Linux kernel version" in row["lastState"]["terminated"]["message"]


def test_given_an_image_that_can_not_be_pulled_when_the_registry_is_back_then_the_pod_runs() -> None:
    afflictions = Afflictions()
    bad = afflictions.add("image-pull", image="r/c:*", message="manifest unknown")
    kubelet = Kubelet(make_pod("web", (), "c"), afflictions=afflictions)

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
    kubelet = Kubelet(make_pod("web", (), "c"), afflictions=afflictions)

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
    kubelet = Kubelet(make_pod("web", (), "c", restartPolicy="Never"), afflictions=afflictions)

    kubelet.at(0.0)
    kubelet.at(6.0)
    kubelet.at(11.0)

    assert kubelet.pod["status"]["phase"] == "Failed"
