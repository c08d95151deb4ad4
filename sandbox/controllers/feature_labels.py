"""What node and GPU feature discovery say about a node. Pure."""

import time

from sandbox.controllers.nodes import flavor_of, system_release
from sandbox.kubernetes_client import Json

FEATURE = "feature.node.kubernetes.io"
CUDA_VERSIONS = {"535": "12.2", "550": "12.4", "570": "12.8", "580": "13.0", "595": "13.2"}


def system_labels(node: Json, *, blind: bool = False) -> dict[str, str]:
    """Labels of kernel, system and devices. `blind`: the GPU is not seen."""
    labels = node["metadata"].get("labels") or {}
    name, version, kernel = system_release(labels.get("ibm-cloud.kubernetes.io/os", ""))
    kernel = ((node.get("status") or {}).get("nodeInfo") or {}).get("kernelVersion") or kernel
    parts = [*kernel.split("-", maxsplit=1)[0].split("."), "0", "0", "0"]
    major_minor = [*version.split("."), "0"]
    found = {
        f"{FEATURE}/kernel-version.full": kernel,
        f"{FEATURE}/kernel-version.major": parts[0],
        f"{FEATURE}/kernel-version.minor": parts[1],
        f"{FEATURE}/kernel-version.revision": parts[2],
        f"{FEATURE}/system-os_release.ID": name,
        f"{FEATURE}/system-os_release.VERSION_ID": version,
        f"{FEATURE}/system-os_release.VERSION_ID.major": major_minor[0],
        f"{FEATURE}/system-os_release.VERSION_ID.minor": major_minor[1],
        f"{FEATURE}/pci-1af4.present": "true",
    }
    if flavor_of(node).gpus and not blind:
        found[f"{FEATURE}/pci-10de.present"] = "true"
    return found


def gpu_labels(node: Json, driver: str) -> dict[str, str]:
    """Labels of the GPUs, once the driver works; none for a node without known GPUs."""
    kind = flavor_of(node)
    if kind.model is None:
        return {}
    major, minor, *rest = [*driver.split("."), "0", "0"]
    runtime = CUDA_VERSIONS.get(major, "13.0")
    return {
        "nvidia.com/cuda.driver-version.full": driver,
        "nvidia.com/cuda.driver-version.major": major,
        "nvidia.com/cuda.driver-version.minor": minor,
        "nvidia.com/cuda.driver-version.revision": rest[0],
        "nvidia.com/cuda.runtime-version.full": runtime,
        "nvidia.com/gfd.timestamp": str(int(time.time())),
        "nvidia.com/gpu.compute.major": str(kind.model.compute[0]),
        "nvidia.com/gpu.compute.minor": str(kind.model.compute[1]),
        "nvidia.com/gpu.count": str(kind.gpus),
        "nvidia.com/gpu.family": kind.model.family,
        "nvidia.com/gpu.machine": kind.name,
        "nvidia.com/gpu.memory": str(kind.model.memory),
        "nvidia.com/gpu.mode": "compute",
        "nvidia.com/gpu.product": kind.model.product,
        "nvidia.com/gpu.replicas": "1",
        "nvidia.com/mig.capable": str(kind.model.mig_capable).lower(),
        "nvidia.com/mig.strategy": "single",
    }
