"""What stands in a cluster beside pods: the operator's ClusterPolicies, and what excludes this procedure.

The chart of 26.7 ships the CRD of GPUCluster without using it, so only objects of that kind count, never the CRD.
"""

from bot.adapters.kubernetes.fields import Json, condition, message, strings, table, text
from state.snapshot import ClusterPolicy

POLICIES = "/apis/nvidia.com/v1/clusterpolicies"
GPU_CLUSTERS = "/apis/nvidia.com/v1alpha1/gpuclusters"
DEVICE_CLASSES = "/apis/resource.k8s.io/v1/deviceclasses"
DEVICE_CLASS_NAMES = ("gpu.nvidia.com", "mig.nvidia.com")
RELEASE_NAME = "meta.helm.sh/release-name"
RELEASE_NAMESPACE = "meta.helm.sh/release-namespace"


def project_policy(raw: Json) -> ClusterPolicy:
    metadata, status = table(raw, "metadata"), table(raw, "status")
    notes = strings(metadata, "annotations")
    name, namespace = notes.get(RELEASE_NAME, ""), notes.get(RELEASE_NAMESPACE, "")
    return ClusterPolicy(
        name=text(metadata, "name"),
        state=text(status, "state"),
        message=_message(status),
        release=f"{namespace}/{name}" if name else "",
    )


def _message(status: Json) -> str:
    """Relay what the operator says: its error if it has one, else why it is not ready."""
    error, ready = condition(status, "Error"), condition(status, "Ready")
    if error.get("status") == "True":
        return message(error, "message")
    return "" if ready.get("status") == "True" else message(ready, "message")


def project_gpu_cluster(raw: Json) -> str | None:
    return _named("GPUCluster", raw)


def project_device_class(raw: Json) -> str | None:
    name = text(table(raw, "metadata"), "name")
    return f"DeviceClass {name}" if name in DEVICE_CLASS_NAMES else None


def _named(kind: str, raw: Json) -> str | None:
    name = text(table(raw, "metadata"), "name")
    return f"{kind} {name}" if name else None
