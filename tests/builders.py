"""Builders: whole worlds as values, with sensible defaults; tests name only what matters to them."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from state.opt_out import DRIVER, OPERANDS
from state.policy import Durations, Policy
from state.run import Goal, Run, RunPhase
from state.snapshot import (
    ClusterPolicy,
    Container,
    IksView,
    KubernetesView,
    Master,
    Node,
    OfferedVersion,
    Owner,
    Pod,
    Pool,
    Release,
    Snapshot,
    Worker,
    Workload,
    Zone,
)

START = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)
CLUSTER = "d8397vk20kb65iocenn0"
POOL = "pool-1"
FLAVOR = "gx3.16x80.l4"
OLD, NEW = "1.35.4_1528", "1.36.0_1507"


def policy(**changes: Any) -> Policy:
    """A policy that may act; one approver, one operator."""
    given: dict[str, Any] = {"observe": False, "approvers": ("U0APPROVER1",), "operators": ("U0OPERATOR1",), **changes}
    return Policy(**given)


def fast() -> Durations:
    return Durations(stable=timedelta(seconds=10))


def run(**changes: Any) -> Run:
    given: dict[str, Any] = {
        "id": "r-1",
        "cluster": "gpu-multi",
        "goal": Goal.MIGRATE,
        "phase": RunPhase.PLANNING,
        "policy": policy(),
        "requested_by": "U0OPERATOR1",
        "channel": "C1",
        "created_at": START,
        **changes,
    }
    return Run(**given)


def worker(worker_id: str, version: str = OLD, **changes: Any) -> Worker:
    given: dict[str, Any] = {
        "pool_id": POOL,
        "pool_name": "default",
        "flavor": FLAVOR,
        "zone": "us-south-1",
        "ip": f"10.240.0.{sum(worker_id.encode()) % 200}",
        "state": "deployed",
        "desired_state": "deployed",
        "health": "normal",
        "version": version,
        "operating_system": "UBUNTU_24_64",
        **changes,
    }
    return Worker(id=worker_id, **given)


def pool(pool_id: str = POOL, size: int = 2, **changes: Any) -> Pool:
    given: dict[str, Any] = {
        "name": "default",
        "flavor": FLAVOR,
        "zones": (Zone("us-south-1", "0717-aaaa", size),),
        "autobalanced": True,
        "operating_system": "UBUNTU_24_64",
        "vpc": "r006-1",
        **changes,
    }
    return Pool(id=pool_id, **given)


def node(name: str, worker_id: str, *, gpus: int = 1, labels: Mapping[str, str] | None = None, **changes: Any) -> Node:
    given: dict[str, Any] = {
        "uid": f"uid-{worker_id}",
        "labels": {"kubernetes.io/hostname": name, **(labels or {})},
        "ready": True,
        "unschedulable": False,
        "created_at": START - timedelta(days=30),
        "allocatable": {"nvidia.com/gpu": gpus} if gpus else {},
        "capacity": {"nvidia.com/gpu": gpus} if gpus else {},
        "kubelet_version": "v1.35.4+IKS",
        "ready_since": START - timedelta(days=30),
        **changes,
    }
    return Node(name=name, worker_id=worker_id, **given)


def pod(name: str, node_name: str = "", *, gpus: int = 1, app: str = "gpu-burn", **changes: Any) -> Pod:
    given: dict[str, Any] = {
        "namespace": "default",
        "uid": f"uid-{name}",
        "phase": "Running" if node_name else "Pending",
        "ready": bool(node_name),
        "created_at": START - timedelta(days=1),
        "owner": Owner("Deployment", "default", app),
        "gpus": {"nvidia.com/gpu": gpus} if gpus else {},
        **changes,
    }
    return Pod(name=name, node_name=node_name, app=app, **given)


def workload(name: str = "gpu-burn", desired: int = 2, available: int = 2) -> Workload:
    return Workload(Owner("Deployment", "default", name), desired, available, {"nvidia.com/gpu": 1})


def release(**changes: Any) -> Release:
    given: dict[str, Any] = {
        "name": "gpu-operator",
        "namespace": "gpu-operator",
        "chart": "gpu-operator-v26.7.0",
        "status": "deployed",
        "revision": 1,
        "updated_at": START,
        **changes,
    }
    return Release(**given)


def master(version: str = OLD, **changes: Any) -> Master:
    return replace(Master(version, pending=False, state="deployed", status="Ready", health="normal"), **changes)


OFFERED = (OfferedVersion(1, 35, 4), OfferedVersion(1, 36, 0), OfferedVersion(1, 34, 9, "2026-11-01T12:00:00+0000"))


def iks(workers: tuple[Worker, ...], pools: tuple[Pool, ...], **changes: Any) -> IksView:
    given: dict[str, Any] = {
        "cluster_id": CLUSTER,
        "cluster_name": "gpu-multi",
        "offering": "kubernetes",
        "provider": "vpc-gen2",
        "master": master(),
        "versions": OFFERED,
        **changes,
    }
    return IksView(workers=workers, pools=pools, **given)


def two_workers(at: datetime = START) -> Snapshot:
    """The guide's example 2 at its beginning: two L4 workers, gpu-burn with two replicas."""
    workers = (worker("w1", ip="10.240.0.64"), worker("w2", ip="10.240.0.66"))
    nodes = (node("10.240.0.64", "w1"), node("10.240.0.66", "w2"))
    pods = (pod("gpu-burn-7d-46pml", "10.240.0.64"), pod("gpu-burn-7d-z6xnh", "10.240.0.66"))
    kubernetes = KubernetesView("v1.35.4+IKS", nodes, pods, (workload(),))
    return Snapshot(at, iks(workers, (pool(),)), kubernetes)


def one_worker(at: datetime = START) -> Snapshot:
    """The guide's example 1 at its beginning: one L4 worker, gpu-burn with one replica."""
    workers = (worker("w1", ip="10.240.0.64"),)
    nodes = (node("10.240.0.64", "w1"),)
    pods = (pod("gpu-burn-7d-46pml", "10.240.0.64"),)
    kubernetes = KubernetesView("v1.35.4+IKS", nodes, pods, (workload(desired=1, available=1),))
    return Snapshot(at, iks(workers, (pool(size=1),), cluster_name="gpu-single"), kubernetes)


OPTED_OUT = {OPERANDS: "false", DRIVER: "false"}
READY_LABELS = {
    "feature.node.kubernetes.io/pci-10de.present": "true",
    "nvidia.com/gpu.present": "true",
    "nvidia.com/gpu.deploy.driver": "true",
    "nvidia.com/gpu.deploy.device-plugin": "true",
}


def container(name: str = "main", *, ready: bool = True, restarts: int = 0, **changes: Any) -> Container:
    given: dict[str, Any] = {"state": "running", **changes}
    return Container(name, ready, restarts, **given)


def operand(app: str, node_name: str, *, created_at: datetime, **changes: Any) -> Pod:
    given: dict[str, Any] = {
        "namespace": "gpu-operator",
        "owner": Owner("DaemonSet", "gpu-operator", app),
        "component": "nvidia-driver" if app == "nvidia-driver-daemonset" else "",
        "created_at": created_at,
        "containers": (container(),),
        **changes,
    }
    return pod(f"{app}-{node_name}", node_name, gpus=0, app=app, **given)


OPERANDS_RUN = (
    "nvidia-driver-daemonset",
    "nvidia-container-toolkit-daemonset",
    "nvidia-operator-validator",
    "nvidia-device-plugin-daemonset",
    "gpu-feature-discovery",
    "nvidia-dcgm-exporter",
)


def operands(node_name: str, created_at: datetime) -> tuple[Pod, ...]:
    """The operand pods of a healthy node."""
    return tuple(operand(app, node_name, created_at=created_at) for app in OPERANDS_RUN)


CLUSTER_POLICY = ClusterPolicy("cluster-policy", "ready", release="gpu-operator/gpu-operator")
