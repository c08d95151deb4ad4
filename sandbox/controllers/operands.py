"""The DaemonSets that the GPU Operator makes of a ClusterPolicy, and what else it makes. Pure.

Names, labels, selectors and order are the recorded ones (operands.json); images come from the ClusterPolicy.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sandbox.controllers.desk import owner
from sandbox.kubernetes_client import Json

MAIN_VALIDATOR = "nvidia-operator-validator"
COMPONENT_LABELS = {"app.kubernetes.io/component": "gpu-operator"}
DEFAULT_TOLERATIONS: list[Json] = [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
NODE_NAME_ENV: Json = {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}


@dataclass(frozen=True, slots=True)
class Facts:
    """What operands.json says."""

    operands: tuple[Json, ...]
    deploy_keys: tuple[str, ...]
    managed_keys: tuple[str, ...]
    states: tuple[str, ...]
    service_accounts: tuple[str, ...]
    runtime_classes: tuple[str, ...]


@cache
def facts() -> Facts:
    """The recorded facts, read once."""
    raw: dict[str, Any] = json.loads((Path(__file__).parent / "operands.json").read_text(encoding="utf-8"))
    return Facts(
        tuple(raw["operands"]),
        tuple(raw["deploy_keys"]),
        tuple(raw["managed_keys"]),
        tuple(raw["states"]),
        tuple(raw["service_accounts"]),
        tuple(raw["runtime_classes"]),
    )


def daemon_sets(policy: Json, namespace: str, system: str) -> list[Json]:
    """The DaemonSets of the enabled operands. `system`: suffix of the driver's tag, such as ubuntu24.04."""
    return [
        _daemon_set(row, policy, namespace, system)
        for row in facts().operands
        if not row["enabled_by"] or (policy["spec"].get(row["enabled_by"]) or {}).get("enabled", True)
    ]


def state_of(name: str) -> str:
    """The operator's name for the state that a DaemonSet stands for."""
    return next((str(row["state"]) for row in facts().operands if row["name"] == name), "")


def belongings(policy: Json, namespace: str) -> list[Json]:
    """Service accounts and runtime classes, owned by the ClusterPolicy."""
    accounts = [
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": name, "namespace": namespace, "ownerReferences": [owner(policy)]},
        }
        for name in facts().service_accounts
    ]
    classes = [
        {
            "apiVersion": "node.k8s.io/v1",
            "kind": "RuntimeClass",
            "metadata": {"name": name, "labels": COMPONENT_LABELS, "ownerReferences": [owner(policy)]},
            "handler": name,
        }
        for name in facts().runtime_classes
    ]
    return [*accounts, *classes]


def cuda_validator(validator: Json, policy: Json) -> Json:
    """The bare pod by which a validator pod tries CUDA on its node: bound by name, owned by the ClusterPolicy."""
    spec = validator["spec"]
    image = spec["containers"][0]["image"]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "generateName": "nvidia-cuda-validator-",
            "namespace": validator["metadata"]["namespace"],
            "labels": {"app": "nvidia-cuda-validator"},
            "annotations": {"nvidia.cdi.k8s.io/container.cuda-validation": "management.nvidia.com/gpu=all"},
            "ownerReferences": [owner(policy)],
        },
        "spec": {
            "nodeName": spec["nodeName"],
            "restartPolicy": "OnFailure",
            "runtimeClassName": spec.get("runtimeClassName"),
            "serviceAccountName": MAIN_VALIDATOR,
            "tolerations": spec.get("tolerations") or [],
            "initContainers": [{"name": "cuda-validation", "image": image}],
            "containers": [{"name": "nvidia-cuda-validator", "image": image}],
        },
    }


def chart_label(policy: Json) -> dict[str, str]:
    """What the chart makes the operator put on every operand."""
    return dict((policy["spec"].get("daemonsets") or {}).get("labels") or {})


def _daemon_set(row: Json, policy: Json, namespace: str, system: str) -> Json:
    labels = {**row["labels"], **chart_label(policy)}
    shared = policy["spec"].get("daemonsets") or {}
    strategy: Json = {"type": "OnDelete"}
    if not row["on_delete"]:
        limits = {"maxUnavailable": _number((shared.get("rollingUpdate") or {}).get("maxUnavailable", 1))}
        strategy = {"type": shared.get("updateStrategy", "RollingUpdate"), "rollingUpdate": limits}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {
            "name": row["name"],
            "namespace": namespace,
            "labels": labels,
            "ownerReferences": [owner(policy)],
        },
        "spec": {
            "selector": {"matchLabels": row["selector"]},
            "updateStrategy": strategy,
            "template": {"metadata": {"labels": labels}, "spec": _pod_spec(row, policy, system)},
        },
    }


def _pod_spec(row: Json, policy: Json, system: str) -> Json:
    shared = policy["spec"].get("daemonsets") or {}
    spec: Json = {
        "nodeSelector": row["node_selector"],
        "tolerations": shared.get("tolerations", DEFAULT_TOLERATIONS),
        "priorityClassName": shared.get("priorityClassName", "system-node-critical"),
        "serviceAccountName": row["service_account"],
        "containers": [_container(one, policy, system) for one in row["containers"]],
        "volumes": [
            {"name": f"host-{number}", "hostPath": {"path": path}} for number, path in enumerate(row["host_paths"])
        ],
    }
    if row["inits"]:
        spec["initContainers"] = [_container(one, policy, system) for one in row["inits"]]
    if row["ports"]:
        spec["containers"][0]["ports"] = row["ports"]
    if row["runtime_class"]:
        spec["runtimeClassName"] = (policy["spec"].get("operator") or {}).get("runtimeClass", "nvidia")
    if row["host_pid"]:
        spec["hostPID"] = True
    if row["anti_affinity"]:
        expression = {"key": "app.kubernetes.io/component", "operator": "In", "values": ["nvidia-driver"]}
        term = {"labelSelector": {"matchExpressions": [expression]}, "topologyKey": "kubernetes.io/hostname"}
        spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    return spec


def _container(named: list[str], policy: Json, system: str) -> Json:
    name, component = named
    return {
        "name": name,
        "image": image_of(policy, component, system),
        "imagePullPolicy": "IfNotPresent",
        "env": [NODE_NAME_ENV],
        "securityContext": {"privileged": True},
    }


def image_of(policy: Json, component: str, system: str) -> str:
    """The image of a component ("driver", "driver.manager" …) as the ClusterPolicy names it."""
    part: Json = policy["spec"]
    for key in component.split("."):
        part = part.get(key) or {}
    tag = str(part.get("version", ""))
    if component == "driver" and not tag.startswith("sha256:"):
        tag = f"{tag}-{system}"
    joint = "@" if tag.startswith("sha256:") else ":"
    return "/".join(bit for bit in (part.get("repository", ""), part.get("image", component)) if bit) + joint + tag


def _number(text: str | int) -> str | int:
    return int(text) if isinstance(text, str) and text.isdigit() else text
