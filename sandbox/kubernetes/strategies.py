"""Per kind: what a new object starts with, which part of a write each subresource takes, and when generation moves."""

import json
import uuid
from typing import Any

from sandbox.kubernetes import crds
from sandbox.kubernetes.admission import quality_of_service
from sandbox.kubernetes.resources import Resource

Obj = dict[str, Any]

GENERATIONS = frozenset(
    {
        ("", "Pod"), ("", "PodTemplate"), ("", "ReplicationController"), ("apps", "Deployment"), ("apps", "DaemonSet"),
        ("apps", "StatefulSet"), ("apps", "ReplicaSet"), ("batch", "Job"), ("batch", "CronJob"),
        ("policy", "PodDisruptionBudget"), ("apiextensions.k8s.io", "CustomResourceDefinition"),
        ("networking.k8s.io", "NetworkPolicy"), ("networking.k8s.io", "Ingress"), ("networking.k8s.io", "IngressClass"),
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
        ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
        ("scheduling.k8s.io", "PriorityClass"), ("discovery.k8s.io", "EndpointSlice"),
    }
)  # fmt: skip
NODE_INFO = (
    *("machineID", "systemUUID", "bootID", "kernelVersion", "osImage", "containerRuntimeVersion", "kubeletVersion"),
    *("kubeProxyVersion", "operatingSystem", "architecture"),
)
ZERO_STATUS: dict[str, Obj] = {
    "Deployment": {},
    "DaemonSet": {"currentNumberScheduled": 0, "numberMisscheduled": 0, "desiredNumberScheduled": 0, "numberReady": 0},
    "StatefulSet": {"replicas": 0, "availableReplicas": 0},
    "ReplicaSet": {"replicas": 0},
    "ReplicationController": {"replicas": 0},
    "Job": {},
    "CronJob": {},
    "PodDisruptionBudget": {"disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0},
    "PersistentVolumeClaim": {"phase": "Pending"},
    "PersistentVolume": {"phase": "Pending"},
    "Service": {"loadBalancer": {}},
    "Ingress": {"loadBalancer": {}},
    "ResourceQuota": {},
    "APIService": {},
    "HorizontalPodAutoscaler": {},
}
KEPT_FROM_OLD = (
    *("uid", "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"),
    *("namespace", "generateName"),
)
TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"


def has_generation(resource: Resource) -> bool:
    return resource.custom or (resource.group, resource.kind) in GENERATIONS


def has_status(resource: Resource) -> bool:
    return "status" in resource.subresources


def prepare_create(resource: Resource, obj: Obj) -> None:
    """Set what the server alone decides about a new object, in place. Its metadata.uid is already there."""
    if has_generation(resource):
        obj["metadata"]["generation"] = 1
    else:
        obj["metadata"].pop("generation", None)
    if resource.custom:
        if has_status(resource):
            obj.pop("status", None)
        return
    if resource.kind in ZERO_STATUS and resource.group != "apiextensions.k8s.io":
        obj["status"] = dict(ZERO_STATUS[resource.kind])
    match resource.kind:
        case "Pod":
            obj["status"] = _pod_status(obj)
        case "Node":
            _node_status(obj)
        case "Namespace":
            obj["spec"]["finalizers"] = ["kubernetes"]
            obj["status"] = {"phase": "Active"}
        case "Job":
            _label_job(obj)
        case "CustomResourceDefinition":
            obj["status"] = crds.young(obj)


def _pod_status(obj: Obj) -> Obj:
    status: Obj = {"phase": "Pending", "qosClass": quality_of_service(obj["spec"])}
    if obj["spec"].get("schedulingGates"):
        condition = {
            "type": "PodScheduled",
            "status": "False",
            "lastProbeTime": None,
            "lastTransitionTime": obj["metadata"]["creationTimestamp"],
            "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
        }
        status["conditions"] = [condition]
    return status


def _node_status(obj: Obj) -> None:
    status = obj.setdefault("status", {})
    status.setdefault("daemonEndpoints", {"kubeletEndpoint": {"Port": 0}})
    info = status.setdefault("nodeInfo", {})
    for name in NODE_INFO:
        info.setdefault(name, "")


def _label_job(obj: Obj) -> None:
    spec, meta = obj["spec"], obj["metadata"]
    if spec.get("manualSelector"):
        return
    uid, name = meta["uid"], meta.get("name", "")
    labels = {
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": name,
        "controller-uid": uid,
        "job-name": name,
    }
    template = spec["template"].setdefault("metadata", {}).setdefault("labels", {})
    if meta.get("labels", {}) == template:  # both came from the template
        meta["labels"] = {**template, **labels}
    template.update(labels)
    spec["selector"] = {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}


def fresh_uid() -> str:
    return str(uuid.uuid4())


def keep_from_old(resource: Resource, old: Obj, new: Obj, subresource: str) -> None:
    """Undo in `new` what this way of writing may not change, in place."""
    for name in KEPT_FROM_OLD:
        if name in old["metadata"]:
            new["metadata"][name] = old["metadata"][name]
        else:
            new["metadata"].pop(name, None)
    if subresource == "status":
        _keep_all_but_status(resource, old, new)
    elif has_status(resource):
        _keep(old, new, "status")
    if resource.kind == "Namespace" and subresource != "finalize":
        _keep(old.get("spec", {}), new.setdefault("spec", {}), "finalizers")
    if resource.kind == "DaemonSet" and not resource.custom:
        number = old["metadata"].get("annotations", {}).get(TEMPLATE_GENERATION, "1")
        new["metadata"].setdefault("annotations", {})[TEMPLATE_GENERATION] = number
    if resource.kind == "Pod" and not resource.custom and subresource == "":
        for name in ("nodeName", "priority", "preemptionPolicy"):
            if name not in new["spec"]:
                _keep(old["spec"], new["spec"], name)


def _keep_all_but_status(resource: Resource, old: Obj, new: Obj) -> None:
    for name in set(old) | set(new):
        if name not in ("metadata", "status"):
            _keep(old, new, name)
    if resource.custom:
        meta = {**old["metadata"], "resourceVersion": new["metadata"].get("resourceVersion")}
        new["metadata"] = {key: value for key, value in meta.items() if value is not None}
    elif resource.kind in ("Deployment", "ReplicaSet", "StatefulSet"):
        _keep(old["metadata"], new["metadata"], "labels")
    if resource.kind != "Node":
        _keep(old["metadata"], new["metadata"], "ownerReferences")


def _keep(old: Obj, new: Obj, name: str) -> None:
    if name in old:
        new[name] = old[name]
    else:
        new.pop(name, None)


def move_generation(resource: Resource, old: Obj, new: Obj) -> None:
    """Raise metadata.generation when the desired state changed, in place."""
    if not has_generation(resource):
        return
    ignored = {"metadata", "status"} if has_status(resource) or not resource.custom else {"metadata"}
    before = {key: value for key, value in old.items() if key not in ignored}
    after = {key: value for key, value in new.items() if key not in ignored}
    if before != after:
        new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1
        if resource.kind == "DaemonSet" and _template(old) != _template(new):
            number = json.dumps(int(old["metadata"].get("annotations", {}).get(TEMPLATE_GENERATION, "0")) + 1)
            new["metadata"].setdefault("annotations", {})[TEMPLATE_GENERATION] = number


def _template(obj: Obj) -> Any:
    return obj.get("spec", {}).get("template")
