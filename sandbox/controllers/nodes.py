"""The Node object of a worker, as a kubelet on IKS registers it. Pure; what happens to a node later is elsewhere."""

from collections.abc import Mapping
from datetime import UTC, datetime

from sandbox.controllers.flavors import Flavor, read_flavor
from sandbox.controllers.pods import condition
from sandbox.kubernetes_client import Json

GPU = "nvidia.com/gpu"
HOST_DRIVER = "sandbox.invalid/host-driver"  # our mark on nodes whose host image brings IBM's driver and plugin
PRESSURES = ("MemoryPressure", "DiskPressure", "PIDPressure")
NOT_READY_TAINT = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}

_SYSTEMS = {
    "UBUNTU_24_64": ("Ubuntu 24.04.3 LTS", "ubuntu", "24.04", "6.8.0-90-generic"),
    "UBUNTU_22_64": ("Ubuntu 22.04.5 LTS", "ubuntu", "22.04", "5.15.0-161-generic"),
    "RHEL_9_64": ("Red Hat Enterprise Linux 9.6 (Plow)", "rhel", "9.6", "5.14.0-570.el9.x86_64"),
    "RHCOS": ("Red Hat Enterprise Linux CoreOS", "rhcos", "4.19", "5.14.0-570.el9.x86_64"),
}
_MEMORY_SHARE = 0.98219  # of the flavor's GiB that Linux sees; measured on gx3.16x80.l4
_ALLOCATABLE_SHARE = 0.9384
_CPU_RESERVES = ((1, 60), (1, 10), (2, 5), (10_000, 2.5))  # cores and millicores kept back per core


def node_manifest(  # noqa: PLR0913, PLR0917 - the facts of a worker row
    worker_id: str,
    ip: str,
    flavor: str,
    version: str,
    pool_id: str,
    pool_name: str,
    zone: str,
    os: str,
    labels: Mapping[str, str] | None = None,
    taints: Mapping[str, str] | None = None,
    preinstalled: bool = False,
) -> Json:
    """The Node object that a worker's kubelet registers: not Ready yet, without GPUs unless the driver is built in.

    `ip` is the node's name, `version` such as 1.36.0_1507, `os` such as UBUNTU_24_64; labels and taints (key ->
    "value:Effect") are the worker pool's; `preinstalled`: IBM's driver and plugin are in the image (1.35 and older).
    """
    kind = read_flavor(flavor)
    built_in = preinstalled and kind.gpus > 0
    own = {"worker-id": worker_id, "worker-pool-id": pool_id, "worker-pool-name": pool_name, "internal-ip": ip}
    own = {f"ibm-cloud.kubernetes.io/{key}": value for key, value in own.items()} | {"kubernetes.io/hostname": ip}
    metadata: Json = {"name": ip, "labels": {**_labels(kind, version, zone, os), **own, **(labels or {})}}
    if built_in:
        metadata["annotations"] = {HOST_DRIVER: "true"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata,
        "spec": {"providerID": _provider_id(worker_id), "taints": [NOT_READY_TAINT, *_taints(taints or {})]},
        "status": {
            **_resources(kind, built_in=built_in),
            "conditions": [],
            "addresses": [{"type": "InternalIP", "address": ip}, {"type": "Hostname", "address": ip}],
            "nodeInfo": _node_info(version, os, worker_id),
        },
    }


def lost_status() -> Json:
    """Body of a strategic merge patch of a node's status: its kubelet has stopped talking.

    Whoever takes a worker's machine away writes it; from then on the pretend kubelet of that node is silent.
    """
    at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    rows = [
        {
            "type": kind,
            "status": "Unknown",
            "reason": "NodeStatusUnknown",
            "message": "Kubelet stopped posting node status.",
            "lastTransitionTime": at,
        }
        for kind in ("Ready", *PRESSURES)
    ]
    return {"status": {"conditions": rows}}


def kubelet_reports(node: Json) -> bool:
    """Whether a kubelet lives on the node: yes, until somebody else says that it is lost."""
    row = condition(node, "Ready")
    return row is None or row.get("reason") in ("KubeletReady", "KubeletNotReady")


def system_release(os_label: str) -> tuple[str, str, str]:
    """Id, version and kernel of an IKS operating system, as /etc/os-release and uname tell them."""
    _, name, version, kernel = _SYSTEMS.get(os_label, _SYSTEMS["UBUNTU_24_64"])
    return name, version, kernel


def flavor_of(node: Json) -> Flavor:
    """The flavor of a node, from its instance type."""
    labels = node["metadata"].get("labels") or {}
    name = labels.get("node.kubernetes.io/instance-type") or labels.get("ibm-cloud.kubernetes.io/machine-type") or ""
    return read_flavor(name)


def has_host_driver(node: Json) -> bool:
    """Whether the node's image brings the driver."""
    return (node["metadata"].get("annotations") or {}).get(HOST_DRIVER) == "true"


def _labels(kind: Flavor, version: str, zone: str, os: str) -> dict[str, str]:
    region = zone.rsplit("-", 1)[0]
    labels = {
        "arch": "amd64",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": kind.name,
        "topology.kubernetes.io/region": region,
        "topology.kubernetes.io/zone": zone,
        "ibm-cloud.kubernetes.io/iaas-provider": "g2",
        "ibm-cloud.kubernetes.io/machine-type": kind.name,
        "ibm-cloud.kubernetes.io/os": os,
        "ibm-cloud.kubernetes.io/region": region,
        "ibm-cloud.kubernetes.io/zone": zone,
        "ibm-cloud.kubernetes.io/worker-version": version,
    }
    if kind.gpus:
        labels["ibm-cloud.kubernetes.io/gpu-enabled"] = "true"
    return labels


def _provider_id(worker_id: str) -> str:
    """A provider id of IBM's form; the cluster's id is the second part of a worker's id ("kube-" or "test-" first)."""
    parts = worker_id.split("-")
    cluster = parts[1] if len(parts) > 1 else worker_id
    return f"ibm://0123456789abcdef///{cluster}/{worker_id}"


def _resources(kind: Flavor, *, built_in: bool) -> Json:
    capacity, allocatable = _amounts(kind), _allocatable(kind)
    if built_in:
        capacity[GPU] = allocatable[GPU] = str(kind.gpus)
    return {"capacity": capacity, "allocatable": allocatable}


def _taints(pool_taints: Mapping[str, str]) -> list[Json]:
    rows = []
    for key, written in pool_taints.items():
        value, _, effect = written.rpartition(":")
        rows.append({"key": key, "value": value, "effect": effect})
    return rows


def _amounts(kind: Flavor) -> dict[str, str]:
    memory = int(kind.memory_gib * 1024 * 1024 * _MEMORY_SHARE)
    return {"cpu": str(kind.cpus), "memory": f"{memory}Ki", "ephemeral-storage": "101330012Ki", "pods": "110"}


def _allocatable(kind: Flavor) -> dict[str, str]:
    memory = int(kind.memory_gib * 1024 * 1024 * _MEMORY_SHARE * _ALLOCATABLE_SHARE)
    reserve, left = 0.0, kind.cpus
    for cores, share in _CPU_RESERVES:
        reserve += min(left, cores) * share
        left -= min(left, cores)
    millis = int(kind.cpus * 1000 - reserve)
    return {"cpu": f"{millis}m", "memory": f"{memory}Ki", "ephemeral-storage": "96167378341", "pods": "110"}


def _node_info(version: str, os: str, worker_id: str) -> Json:
    image, _, _, kernel = _SYSTEMS.get(os, _SYSTEMS["UBUNTU_24_64"])
    patch = version.split("_", maxsplit=1)[0]
    runtime = "containerd://2.2.1" if patch >= "1.36" else "containerd://2.1.5"
    return {
        "machineID": worker_id[-8:],
        "systemUUID": worker_id[-8:],
        "bootID": worker_id[-8:],
        "kernelVersion": kernel,
        "osImage": image,
        "containerRuntimeVersion": runtime,
        "kubeletVersion": f"v{patch}+IKS",
        "kubeProxyVersion": "",
        "operatingSystem": "linux",
        "architecture": "amd64",
    }
