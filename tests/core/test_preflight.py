"""Each question before a migration, asked of a cluster that is fine and of one that is not."""

from dataclasses import replace
from typing import Any

import pytest

from state.preflight import blockers, warnings
from state.reasons import Code
from state.snapshot import Addon, ClusterPolicy, Snapshot
from tests.builders import master, node, one_worker, policy, pool, release, two_workers, worker
from tests.core.unfit import GUARD, Change, add_worker, pools, tainted
from tests.core.worlds import change_node, change_pod, change_worker, iks, kubernetes

Facts = dict[str, Any]
WEBHOOK = "Master operation cannot complete: broken webhook application, see https://ibm.biz/master_webhook"
OPERANDS_OFF = {"nvidia.com/gpu.deploy.operands": "false"}


BLOCKERS: dict[str, tuple[Change, Code, Facts]] = {
    "B056 OpenShift": (lambda w: iks(w, offering="openshift"), Code.NOT_IKS, {"offering": "openshift"}),
    "classic": (lambda w: iks(w, provider="classic"), Code.NOT_VPC, {"provider": "classic"}),
    "no GPUs": (
        lambda w: kubernetes(
            iks(w, workers=(worker("c", flavor="bx2.4x16"),)), nodes=(node("c", "c", gpus=0),), pods=()
        ),
        Code.NO_GPU_WORKERS,
        {},
    ),
    "B053 two minors": (
        lambda w: iks(w, master=master("1.34.9_1540")),
        Code.WRONG_MINOR,
        {"version": "1.34.9_1540", "wanted": "1.35"},
    ),
    "beyond": (lambda w: iks(w, master=master("1.37.0_1500")), Code.WRONG_MINOR, {"version": "1.37.0_1500"}),
    "unreadable": (lambda w: iks(w, master=master("")), Code.WRONG_MINOR, {"version": ""}),
    "B053 worker behind": (
        add_worker(version="1.34.9_1540", flavor="bx2.4x16"),
        Code.WORKER_TOO_OLD,
        {"worker": "x", "version": "1.34.9_1540"},
    ),
    "B039 master busy": (
        lambda w: iks(w, master=master(state="updating", pending=True, status="Patch in progress")),
        Code.MASTER_BUSY,
        {"state": "updating", "status": "Patch in progress"},
    ),
    "B041 key rotation": (lambda w: iks(w, master=master(state="ca_rotation")), Code.MASTER_BUSY, {}),
    "B051 update cancelled": (
        lambda w: iks(w, master=master(state="update_cancelled", status=WEBHOOK)),
        Code.MASTER_BLOCKED,
        {"status": WEBHOOK},
    ),
    "autoscaler add-on": (
        lambda w: iks(w, addons=(Addon("cluster-autoscaler", "1.2.4", ">=1.31.0 <1.36.0"),)),
        Code.AUTOSCALER,
        {"addon": "cluster-autoscaler", "range": ">=1.31.0 <1.36.0"},
    ),
    "another add-on": (
        lambda w: iks(w, addons=(Addon("vpc-block-csi-driver", "5.1", "<1.36"),)),
        Code.ADDON_RANGE,
        {"addon": "vpc-block-csi-driver"},
    ),
    "autoscaled pool": (pools(autoscaled=True), Code.AUTOSCALER, {"pools": ("default",)}),
    "no rebalancing": (pools(autobalanced=False), Code.REBALANCE_OFF, {"pool": "default"}),
    "B052 short pool": (
        pools(zones=pool(size=3).zones),
        Code.POOL_SHORT,
        {"pool": "default", "have": 2, "want": 3},
    ),
    "B055 pool labels": (
        pools(labels=OPERANDS_OFF),
        Code.POOL_LABELS,
        {"pool": "default", "labels": ("nvidia.com/gpu.deploy.operands=false",)},
    ),
    "B052 no node": (
        lambda w: kubernetes(w, nodes=w.kubernetes.nodes[1:]),
        Code.NODE_WORKER_MISMATCH,
        {"worker": "w1", "node": ""},
    ),
    "B052 two nodes": (
        lambda w: kubernetes(w, nodes=(*w.kubernetes.nodes, node("10.240.0.99", "w1"))),
        Code.NODE_WORKER_MISMATCH,
        {"worker": "w1", "node": "10.240.0.64, 10.240.0.99"},
    ),
    "B026 another machine's address": (
        lambda w: change_worker(w, "w1", ip="10.240.0.99"),
        Code.NODE_WORKER_MISMATCH,
        {"worker": "w1", "node": "10.240.0.64"},
    ),
    "mixed systems": (
        lambda w: change_worker(w, "w1", operating_system="RHEL_9_64"),
        Code.MIXED_OS,
        {"systems": ("RHEL_9_64", "UBUNTU_24_64")},
    ),
    "worker unwell": (
        lambda w: change_worker(w, "w1", health="critical", message="Not Ready"),
        Code.WORKER_UNHEALTHY,
        {"worker": "w1", "health": "critical", "message": "Not Ready"},
    ),
    "B053 unknown word": (
        lambda w: change_worker(w, "w1", state="provision_pending"),
        Code.WORKER_UNHEALTHY,
        {"state": "provision_pending"},
    ),
    "B009 taint of another value": (
        tainted("nvidia.com/gpu", "true", "NoSchedule"),
        Code.TAINT_NOT_TOLERATED,
        {"node": "10.240.0.64", "taint": "nvidia.com/gpu=true:NoSchedule", "by": "NFD worker"},
    ),
    "another taint": (
        tainted("dedicated", "ml", "NoSchedule"),
        Code.TAINT_NOT_TOLERATED,
        {"taint": "dedicated=ml:NoSchedule", "by": "operands"},
    ),
    "evicting taint": (tainted("nvidia.com/gpu", "present", "NoExecute"), Code.TAINT_NOT_TOLERATED, {"by": "operands"}),
    "B013 upgrade failed": (
        lambda w: change_node(w, "w1", labels={"nvidia.com/gpu-driver-upgrade-state": "upgrade-failed"}),
        Code.UPGRADE_FAILED,
        {"node": "10.240.0.64"},
    ),
    "B006 another stack": (
        lambda w: kubernetes(w, foreign=("gpuclusters.nvidia.com",)),
        Code.FOREIGN_OPERATOR,
        {"what": "gpuclusters.nvidia.com"},
    ),
    "B089 operator without release": (
        lambda w: kubernetes(w, cluster_policies=(ClusterPolicy("cluster-policy", "ready", release="nvidia/old"),)),
        Code.FOREIGN_OPERATOR,
        {"what": "ClusterPolicy cluster-policy", "owner": "nvidia/old"},
    ),
    "B089 two releases": (
        lambda w: kubernetes(w, releases=(release(), release(namespace="nvidia-gpu", name="old"))),
        Code.RELEASES_MANY,
        {"releases": ("gpu-operator/gpu-operator", "nvidia-gpu/old")},
    ),
    "B072 rights": (
        lambda w: kubernetes(w, may_not=("create pods/eviction",)),
        Code.MISSING_RIGHTS,
        {"rights": ("create pods/eviction",)},
    ),
}


@pytest.mark.parametrize(("change", "code", "facts"), BLOCKERS.values(), ids=BLOCKERS.keys())
def test_given_a_cluster_that_is_not_fit_then_one_blocker_names_why(change: Change, code: Code, facts: Facts) -> None:
    found = blockers(change(two_workers()), policy())

    assert [r.code for r in found] == [code]
    assert {k: v for k, v in found[0].facts.items() if k in facts} == facts


LABELLED = {"nvidia.com/gpu.present": "true"}

WARNINGS: dict[str, tuple[Snapshot, Code, Facts]] = {
    "other maker": (
        add_worker(flavor="gx3d.160x1792.8gaudi3")(two_workers()),
        Code.NOT_NVIDIA,
        {"worker": "x", "flavor": "gx3d.160x1792.8gaudi3"},
    ),
    "B022 label without GPU": (
        kubernetes(
            add_worker(flavor="bx2.4x16")(two_workers()),
            nodes=(*two_workers().kubernetes.nodes, node("c", "x", gpus=0, labels=LABELLED)),
        ),
        Code.GPU_LABEL_WITHOUT_GPU,
        {"worker": "x", "flavor": "bx2.4x16"},
    ),
    "B091 closed by somebody": (
        change_node(two_workers(), "w1", unschedulable=True, cordoned_by="kubectl-cordon"),
        Code.ALREADY_CORDONED,
        {"node": "10.240.0.64", "by": "kubectl-cordon"},
    ),
    "release is there": (
        kubernetes(two_workers(), releases=(release(namespace="nvidia", name="gpu-operator-1778819096"),)),
        Code.RELEASE_ELSEWHERE,
        {"release": "gpu-operator-1778819096", "namespace": "nvidia", "version": "26.7.0"},
    ),
    "B025 budget": (kubernetes(two_workers(), budgets=(GUARD,)), Code.PDB_BLOCKS, {"budget": "default/burn"}),
    "B025 broken pod": (
        change_pod(kubernetes(two_workers(), budgets=(replace(GUARD, healthy=1, wanted=2),)), "gpu-burn", ready=False),
        Code.PDB_BLOCKS,
        {},
    ),
    "B038 single replica": (one_worker(), Code.SINGLE_REPLICA, {"workload": "Deployment default/gpu-burn"}),
}


@pytest.mark.parametrize(("world", "code", "facts"), WARNINGS.values(), ids=WARNINGS.keys())
def test_given_a_cluster_with_a_catch_then_one_warning_names_it(world: Snapshot, code: Code, facts: Facts) -> None:
    found = warnings(world, policy())

    assert [r.code for r in found] == [code]
    assert {k: v for k, v in found[0].facts.items() if k in facts} == facts
    assert blockers(world, policy()) == ()
