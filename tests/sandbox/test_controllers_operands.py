"""Operand DaemonSets made of the stand-in chart's ClusterPolicy against those the real operator stored."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox.controllers.operands import belongings, cuda_validator, daemon_sets, image_of
from sandbox.controllers.policy_status import conditions, judged, outlook
from sandbox.helm_repository.packaging import FOLDER, RELEASES

Json = dict[str, Any]

RECORDED = json.loads((Path(__file__).parent / "test_controllers_operands.json").read_text(encoding="utf-8"))
RELEASE_ID = "feature.node.kubernetes.io/system-os_release.ID"
RELEASE_VERSION = "feature.node.kubernetes.io/system-os_release.VERSION_ID"


def _policy(version: str) -> Json:
    """The ClusterPolicy that the chart renders with default values, without helm."""
    text = (FOLDER / "values.yaml").read_text(encoding="utf-8")
    for mark, value in next(one for one in RELEASES if one.version == version).marks:
        text = text.replace(f"@{{{mark}}}", value)
    spec = yaml.safe_load(text)
    for part in ("validator", "nodeStatusExporter"):
        spec[part]["version"] = version
    spec["daemonsets"]["labels"] = {
        "helm.sh/chart": f"gpu-operator-{version}",
        "app.kubernetes.io/managed-by": "gpu-operator",
    }
    meta = {"name": "cluster-policy", "uid": "u1", "generation": 1}
    return {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "metadata": meta, "spec": spec}


def _facts(one: Json) -> Json:
    spec = one["spec"]["template"]["spec"]
    return {
        "name": one["metadata"]["name"],
        "labels": one["metadata"]["labels"],
        "selector": one["spec"]["selector"]["matchLabels"],
        "node_selector": spec["nodeSelector"],
        "runtime_class": spec.get("runtimeClassName"),
        "service_account": spec["serviceAccountName"],
        "strategy": one["spec"]["updateStrategy"]["type"],
        "tolerations": spec["tolerations"],
        "priority_class": spec["priorityClassName"],
        "inits": [[c["name"], c["image"]] for c in spec.get("initContainers", [])],
        "containers": [[c["name"], c["image"]] for c in spec["containers"]],
    }


@pytest.mark.parametrize("version", ["v26.7.0", "v26.3.3"])
def test_given_default_values_when_operands_are_made_then_they_are_the_recorded_ones(version: str) -> None:
    made = [_facts(one) for one in daemon_sets(_policy(version), "gpu-operator", "ubuntu24.04")]

    assert made == RECORDED[version]


@pytest.mark.parametrize(
    ("part", "gone"),
    [("driver", "nvidia-driver-daemonset"), ("dcgmExporter", "nvidia-dcgm-exporter"), ("gfd", "gpu-feature-discovery")],
)
def test_given_a_disabled_part_when_operands_are_made_then_its_daemon_set_is_missing(part: str, gone: str) -> None:
    policy = _policy("v26.7.0")
    policy["spec"][part]["enabled"] = False

    names = [one["metadata"]["name"] for one in daemon_sets(policy, "gpu-operator", "ubuntu24.04")]

    assert gone not in names


def test_given_a_digest_as_version_when_the_image_is_named_then_it_is_joined_by_at() -> None:
    policy: Json = {"spec": {"driver": {"repository": "r.io/x", "image": "driver", "version": "sha256:ab"}}}

    assert image_of(policy, "driver", "rhel9.6") == "r.io/x/driver@sha256:ab"


def test_given_a_policy_when_its_belongings_are_made_then_they_are_owned_by_it() -> None:
    made = belongings(_policy("v26.7.0"), "gpu-operator")

    assert {one["kind"] for one in made} == {"ServiceAccount", "RuntimeClass"}
    assert {one["metadata"]["ownerReferences"][0]["uid"] for one in made} == {"u1"}


def test_given_a_validator_pod_when_cuda_is_tried_then_the_pod_is_bound_and_not_the_daemon_sets() -> None:
    spec = {"nodeName": "10.0.0.1", "containers": [{"name": "v", "image": "i"}], "runtimeClassName": "nvidia"}
    validator = {"metadata": {"namespace": "ops"}, "spec": spec}

    pod = cuda_validator(validator, _policy("v26.7.0"))

    assert pod["spec"]["nodeName"] == "10.0.0.1"
    assert pod["spec"]["restartPolicy"] == "OnFailure"
    assert [one["kind"] for one in pod["metadata"]["ownerReferences"]] == ["ClusterPolicy"]


def _node(**labels: str) -> Json:
    return {"metadata": {"name": "n", "labels": labels}}


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        ((), "NFDLabelsMissing"),
        ((_node(),), "NFDLabelsMissing"),
        ((_node(**{RELEASE_ID: "ubuntu"}),), "NoGPUNodes"),
        ((_node(**{RELEASE_VERSION: "24.04", "nvidia.com/gpu.present": "true"}),), "ReconcileFailed"),
    ],
    ids=["no node", "no labels", "no gpu", "no system"],
)
def test_given_nodes_when_the_outlook_is_asked_then_the_reason_is_the_real_operators(
    nodes: tuple[Json, ...], reason: str
) -> None:
    assert outlook(nodes).reason == reason


@pytest.mark.parametrize(("version", "joint"), [("v26.7.0", ";"), ("v26.3.3", ",")])
def test_given_late_operands_when_judged_then_the_states_stand_in_the_operators_order(version: str, joint: str) -> None:
    late = {"desiredNumberScheduled": 1, "observedGeneration": 1}
    sets = [
        {"metadata": {"name": name, "generation": 1}, "spec": {}, "status": late}
        for name in ("gpu-feature-discovery", "nvidia-driver-daemonset")
    ]
    meta = {"name": "nvidia-mig-manager", "generation": 1}
    idle = {"metadata": meta, "spec": {}, "status": {"observedGeneration": 1}}

    verdict = judged(_policy(version), [*sets, idle], "ubuntu24.04")

    assert verdict.message == (
        f"ClusterPolicy is not ready{joint} states not ready: [state-driver gpu-feature-discovery]"
    )
    assert [(row["type"], row["status"], row["reason"]) for row in conditions(_policy(version), verdict)] == [
        ("Ready", "False", "Error"),
        ("Error", "True", "OperandNotReady"),
    ]
