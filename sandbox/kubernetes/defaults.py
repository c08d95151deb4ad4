"""Values the server fills in when a body is decoded, per kind; admission's additions are in admission.py."""

import base64
from collections.abc import Callable
from typing import Any

Obj = dict[str, Any]

PROBE = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
MODES = {"configMap": 420, "secret": 420, "downwardAPI": 420, "projected": 420}


def _fill(target: Obj, **values: Any) -> None:
    for key, value in values.items():
        target.setdefault(key, value)


def pod_spec(spec: Obj) -> None:
    """Defaults of a pod or of a pod template."""
    _fill(
        spec,
        restartPolicy="Always",
        dnsPolicy="ClusterFirst",
        schedulerName="default-scheduler",
        securityContext={},
        terminationGracePeriodSeconds=30,
    )
    if spec.get("serviceAccountName"):
        spec.setdefault("serviceAccount", spec["serviceAccountName"])
    for container in (*spec.get("containers", ()), *spec.get("initContainers", ())):
        _container(container)
    for volume in spec.get("volumes", ()):
        _volume(volume)


def _container(container: Obj) -> None:
    image = container.get("image", "")
    tag = image.rsplit("/", 1)[-1].partition("@")[0].partition(":")[2]
    always = "@" not in image and tag in ("", "latest")
    _fill(
        container,
        imagePullPolicy="Always" if always else "IfNotPresent",
        resources={},
        terminationMessagePath="/dev/termination-log",
        terminationMessagePolicy="File",
    )
    for port in container.get("ports", ()):
        _fill(port, protocol="TCP")
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        if name in container:
            _fill(container[name], **PROBE)
            if "httpGet" in container[name]:
                _fill(container[name]["httpGet"], path="/", scheme="HTTP")
    for variable in container.get("env", ()):
        reference = variable.get("valueFrom", {}).get("fieldRef")
        if reference is not None:
            _fill(reference, apiVersion="v1")


def _volume(volume: Obj) -> None:
    if set(volume) == {"name"}:
        volume["emptyDir"] = {}
    for name, mode in MODES.items():
        if name in volume:
            _fill(volume[name], defaultMode=mode)
    if "hostPath" in volume:
        _fill(volume["hostPath"], type="")


def _template(obj: Obj) -> None:
    pod_spec(obj["spec"].setdefault("template", {}).setdefault("spec", {}))


def _deployment(obj: Obj) -> None:
    spec = obj["spec"]
    _template(obj)
    _fill(spec, replicas=1, revisionHistoryLimit=10, progressDeadlineSeconds=600, strategy={})
    strategy = spec["strategy"]
    _fill(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        _fill(strategy, rollingUpdate={})
        _fill(strategy["rollingUpdate"], maxSurge="25%", maxUnavailable="25%")


def _daemon_set(obj: Obj) -> None:
    spec = obj["spec"]
    _template(obj)
    obj["metadata"].setdefault("annotations", {}).setdefault("deprecated.daemonset.template.generation", "1")
    _fill(spec, revisionHistoryLimit=10, updateStrategy={})
    strategy = spec["updateStrategy"]
    _fill(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        _fill(strategy, rollingUpdate={})
        _fill(strategy["rollingUpdate"], maxSurge=0, maxUnavailable=1)


def _stateful_set(obj: Obj) -> None:
    spec = obj["spec"]
    _template(obj)
    _fill(spec, podManagementPolicy="OrderedReady", replicas=1, revisionHistoryLimit=10, updateStrategy={})
    _fill(spec, persistentVolumeClaimRetentionPolicy={"whenDeleted": "Retain", "whenScaled": "Retain"})
    _fill(spec["updateStrategy"], type="RollingUpdate")
    if spec["updateStrategy"]["type"] == "RollingUpdate":
        _fill(spec["updateStrategy"], rollingUpdate={"partition": 0})


def _replica_set(obj: Obj) -> None:
    _template(obj)
    _fill(obj["spec"], replicas=1)


def _job(obj: Obj) -> None:
    spec = obj["spec"]
    _template(obj)
    labels = spec["template"].get("metadata", {}).get("labels")
    if labels and not obj["metadata"].get("labels"):
        obj["metadata"]["labels"] = dict(labels)
    _fill(spec, backoffLimit=6, completionMode="NonIndexed", parallelism=1, suspend=False, manualSelector=False)
    if "completions" not in spec and spec["parallelism"] == 1:
        spec["completions"] = 1
    _fill(spec, podReplacementPolicy="Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed")


def _cron_job(obj: Obj) -> None:
    spec = obj["spec"]
    _fill(spec, concurrencyPolicy="Allow", suspend=False, successfulJobsHistoryLimit=3, failedJobsHistoryLimit=1)
    pod_spec(
        spec.setdefault("jobTemplate", {}).setdefault("spec", {}).setdefault("template", {}).setdefault("spec", {})
    )


def _service(obj: Obj) -> None:
    spec = obj["spec"]
    _fill(spec, type="ClusterIP", sessionAffinity="None", internalTrafficPolicy="Cluster")
    for port in spec.get("ports", ()):
        _fill(port, protocol="TCP", targetPort=port.get("port"))


def _secret(obj: Obj) -> None:
    _fill(obj, type="Opaque")
    plain = obj.pop("stringData", None)
    if plain:
        coded = {key: base64.b64encode(text.encode()).decode() for key, text in plain.items()}
        obj["data"] = {**obj.get("data", {}), **coded}


def _namespace(obj: Obj) -> None:
    meta = obj["metadata"]
    if meta.get("name"):
        meta.setdefault("labels", {})["kubernetes.io/metadata.name"] = meta["name"]


def _pod(obj: Obj) -> None:
    """A pod gets more than a template: requests as large as the limits, host ports with the host's network."""
    spec = obj["spec"]
    pod_spec(spec)
    _fill(spec, enableServiceLinks=True)
    for container in (*spec.get("containers", ()), *spec.get("initContainers", ())):
        resources = container["resources"]
        for name, value in resources.get("limits", {}).items():
            resources.setdefault("requests", {}).setdefault(name, value)
        for port in container.get("ports", ()) if spec.get("hostNetwork") else ():
            port.setdefault("hostPort", port.get("containerPort"))


def _core_event(obj: Obj) -> None:
    for name in ("eventTime", "firstTimestamp", "lastTimestamp"):
        obj.setdefault(name, None)
    _fill(obj, source={}, reportingComponent="", reportingInstance="")


def _crd(obj: Obj) -> None:
    spec = obj["spec"]
    names = spec.setdefault("names", {})
    if names.get("kind"):
        _fill(names, listKind=names["kind"] + "List", singular=names["kind"].lower())
    _fill(spec, conversion={"strategy": "None"})


def _cluster_role_binding(obj: Obj) -> None:
    for subject in obj.get("subjects", ()):
        if subject.get("kind") in ("User", "Group"):
            _fill(subject, apiGroup="rbac.authorization.k8s.io")
    if obj.get("roleRef"):
        _fill(obj["roleRef"], apiGroup="rbac.authorization.k8s.io")


def _webhooks(obj: Obj) -> None:
    for hook in obj.get("webhooks", ()):
        _fill(hook, failurePolicy="Fail", matchPolicy="Equivalent", timeoutSeconds=10)
        _fill(hook, namespaceSelector={}, objectSelector={})


def _priority_class(obj: Obj) -> None:
    _fill(obj, preemptionPolicy="PreemptLowerPriority")


BY_KIND: dict[tuple[str, str], Callable[[Obj], None]] = {
    ("", "Pod"): _pod,
    ("", "Service"): _service,
    ("", "Secret"): _secret,
    ("", "Namespace"): _namespace,
    ("", "Event"): _core_event,
    ("apps", "Deployment"): _deployment,
    ("apps", "DaemonSet"): _daemon_set,
    ("apps", "StatefulSet"): _stateful_set,
    ("apps", "ReplicaSet"): _replica_set,
    ("batch", "Job"): _job,
    ("batch", "CronJob"): _cron_job,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _crd,
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): _cluster_role_binding,
    ("rbac.authorization.k8s.io", "RoleBinding"): _cluster_role_binding,
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): _webhooks,
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): _webhooks,
    ("scheduling.k8s.io", "PriorityClass"): _priority_class,
}
WITH_SPEC = frozenset(
    {"Pod", "Service", "Deployment", "DaemonSet", "StatefulSet", "ReplicaSet", "Job", "CronJob", "Node", "Namespace"}
    | {"CustomResourceDefinition", "PodDisruptionBudget", "PersistentVolumeClaim", "NetworkPolicy", "Ingress", "Lease"}
)


def apply_defaults(group: str, kind: str, obj: Obj) -> None:
    """Fill in the defaults of a built-in kind, in place."""
    if kind in WITH_SPEC and not isinstance(obj.get("spec"), dict):
        obj["spec"] = {}
    fill = BY_KIND.get((group, kind))
    if fill is not None:
        fill(obj)
