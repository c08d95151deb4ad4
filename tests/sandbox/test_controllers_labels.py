"""The GPU Operator's labels against experiments recorded with the real operator v26.7.0."""

import json
from pathlib import Path
from typing import Any

import pytest

from sandbox.controllers.gpu_labels import relabel, watched
from sandbox.controllers.operands import facts

Json = dict[str, Any]

PCI, OTHER_PCI = "feature.node.kubernetes.io/pci-10de.present", "feature.node.kubernetes.io/pci-0302_10de.present"
PRESENT, OPT_OUT = "nvidia.com/gpu.present", "nvidia.com/gpu.deploy.operands"
DRIVER, PLUGIN = "nvidia.com/gpu.deploy.driver", "nvidia.com/gpu.deploy.device-plugin"
FOO, MIG = "nvidia.com/gpu.deploy.foo", "nvidia.com/mig.capable"
POLICY: Json = {"spec": {"driver": {"enabled": True}, "migManager": {"enabled": True}}}

EXPERIMENTS = json.loads((Path(__file__).parent / "test_controllers_labels.json").read_text(encoding="utf-8"))[
    "experiments"
]
EDITS: dict[str, dict[str, str | None]] = {
    "gpu-a: operands=false on a serving node": {OPT_OUT: "false"},
    "gpu-a: set driver=false while operands=false": {DRIVER: "false"},
    "gpu-a: remove operands label while driver=false present": {OPT_OUT: None},
    "gpu-a: remove driver label (no other change)": {DRIVER: None},
    "gpu-a: driver=pre-installed": {DRIVER: "pre-installed"},
    "gpu-a: driver label empty string": {DRIVER: ""},
    "gpu-a: driver label empty string, then a watched change (operands=true)": {OPT_OUT: "true"},
    "gpu-a: operands=disabled": {OPT_OUT: "disabled"},
    "gpu-a: unknown deploy label then operands=false": {FOO: "true", OPT_OUT: "false"},
    "gpu-a: operands removed again": {FOO: None, OPT_OUT: None},
    "gpu-a: paused value": {PLUGIN: "paused-for-driver-upgrade"},
    "gpu-a: device-plugin=false, then PCI label lost": {PLUGIN: "false", PCI: None},
    "gpu-a: PCI label back": {PCI: "true"},
    "gpu-a: gpu.present removed by hand": {PRESENT: None},
    "gpu-a: other PCI form only (pci-0302_10de)": {PCI: None, OTHER_PCI: "true"},
    "gpu-a: unrecognised PCI form only": {OTHER_PCI: None},
    "gpu-b: mig.capable=true appears": {MIG: "true"},
    "gpu-old: unlabel operands (opt back in)": {OPT_OUT: None},
}


def _serving() -> dict[str, str]:
    return {PCI: "true", PRESENT: "true", **dict.fromkeys(facts().deploy_keys, "true")}


def _edit(labels: dict[str, str], edits: dict[str, str | None]) -> dict[str, str]:
    merged = {**labels, **edits}
    return {key: value for key, value in merged.items() if value is not None}


def _node(labels: dict[str, str]) -> Json:
    return {"metadata": {"name": "n", "labels": labels}}


def _recorded(labels: dict[str, str], experiment: Json) -> dict[str, str]:
    """The nvidia.com labels after the experiment, as the real operator left them."""
    changed = {key: after for key, (_, after) in experiment["changed"].items()}
    edits = {**dict.fromkeys(experiment["disappeared"]), **experiment["appeared"], **changed}
    return _edit(labels, edits)


def _states() -> list[tuple[str, dict[str, str], dict[str, str | None], dict[str, str]]]:
    """Name, labels before, edits by hand and labels after, of each experiment in turn."""
    states = {"gpu-a": _serving(), "gpu-b": _serving(), "gpu-old": {PCI: "true", PRESENT: "true", OPT_OUT: "false"}}
    rows = []
    for experiment in EXPERIMENTS:
        name, before = experiment["node"], states[experiment["node"]]
        edits = EDITS.get(experiment["do"], {})
        pci = {key: value for key, value in edits.items() if key in (PCI, OTHER_PCI)}
        states[name] = _edit(_recorded(before, experiment), pci)
        if experiment["do"] in EDITS:
            rows.append((experiment["do"], before, edits, states[name]))
    return rows


@pytest.mark.parametrize(
    ("before", "edits", "after"), [row[1:] for row in _states()], ids=[row[0] for row in _states()]
)
def test_given_a_recorded_experiment_when_the_operator_judges_then_the_labels_are_the_recorded_ones(
    before: dict[str, str], edits: dict[str, str | None], after: dict[str, str]
) -> None:
    edited = _edit(before, edits)
    labels = edited
    if watched(_node(edited)) != watched(_node(before)):
        labels = _edit(edited, relabel(_node(edited), POLICY).labels)

    assert labels == after


def test_given_a_node_without_gpu_when_the_operator_starts_then_hand_set_deploy_keys_are_taken_away() -> None:
    node = _node({DRIVER: "false", OPT_OUT: "false"})

    change = relabel(node, POLICY)

    assert change.labels == {DRIVER: None}


def test_given_an_opted_out_node_when_judged_then_only_the_opt_out_stays() -> None:
    node = _node({PCI: "true", DRIVER: "false", OPT_OUT: "false"})

    change = relabel(node, POLICY)

    assert change.labels == {PRESENT: "true", DRIVER: None}
    assert change.annotations == {"nvidia.com/gpu-driver-upgrade-enabled": "true"}


def test_given_auto_upgrade_off_when_judged_then_the_annotation_is_taken_away() -> None:
    node = _node({PCI: "true", PRESENT: "true", OPT_OUT: "false"})
    node["metadata"]["annotations"] = {"nvidia.com/gpu-driver-upgrade-enabled": "true"}
    policy = {"spec": {"driver": {"upgradePolicy": {"autoUpgrade": False}}}}

    change = relabel(node, policy)

    assert change.annotations == {"nvidia.com/gpu-driver-upgrade-enabled": None}
    assert not change.labels
