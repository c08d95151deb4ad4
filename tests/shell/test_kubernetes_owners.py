"""Owners, budgets, releases and what else stands beside pods, projected and counted."""

import json
from typing import Any

import pytest
from hypothesis import strategies as st

from bot.adapters.kubernetes.budgets import guarding, project_budget, read_selector
from bot.adapters.kubernetes.controllers import NUMBERS, project_controller
from bot.adapters.kubernetes.gpus import GpuNames
from bot.adapters.kubernetes.operator import project_device_class, project_gpu_cluster, project_policy
from bot.adapters.kubernetes.owners import Owners
from bot.adapters.kubernetes.pods import project_pod
from bot.adapters.kubernetes.releases import decode, newest, project_revision
from state.snapshot import Pod
from tests.shell.bad_servers import DATA

Json = dict[str, Any]
NAMES = GpuNames()
GPU = "nvidia.com/gpu"
FAR_FROM_JSON = st.none() | st.booleans() | st.integers() | st.text(max_size=6) | st.lists(st.integers(), max_size=2)


def bug(name: str) -> Json:
    found: Json = json.loads((DATA / "bugs" / f"{name}.json").read_text())["input"]
    return found


def pod_of(raw: Json) -> Pod:
    return project_pod(raw, NAMES).pod


def container(gpus: int | str, **more: object) -> Json:
    return {"name": "c", "resources": {"limits": {GPU: gpus}}, **more}


def test_given_b016_when_counted_then_a_job_that_is_complete_stays_recovered() -> None:
    job = bug("B016")["jobs"][0]
    job["spec"] = {"template": {"spec": {"containers": [{"resources": {"limits": {GPU: "1"}}}]}}}
    pods = [pod_of(raw) for raw in bug("B016")["pods"]]
    workloads = Owners([project_controller("Job", job, NAMES)]).workloads(pods)

    assert [(str(found.owner), found.desired, found.available, found.finished) for found in workloads] == [
        ("Job batch/nightly-embed", 1, 1, True)
    ]
    assert all(pod.finished and pod.reason == "UnexpectedAdmissionError" for pod in pods)
    assert pods[0].owner is None


def test_given_b025_when_projected_then_the_policy_for_unhealthy_pods_is_told() -> None:
    found = bug("B025")
    budget, pods = project_budget(found["pdb"]), [project_pod(raw, NAMES) for raw in found["pods"]]
    found["pdb"]["spec"].update(found["variant"])

    assert [(b.allowed, b.healthy, b.wanted, b.pods) for b in guarding([budget], pods)] == [
        (0, 1, 2, ("u-api-1", "u-api-2"))
    ]
    assert not budget.budget.always_allow
    assert project_budget(found["pdb"]).budget.always_allow
    assert pods[0].pod.containers[0].reason == "CrashLoopBackOff"


def test_given_b032_when_counted_then_the_owner_speaks_and_not_the_number_of_pods() -> None:
    found = bug("B032")
    deployment = {
        "metadata": {"name": "infer", "namespace": "serving", "uid": "u-infer"},
        "spec": {**found["owner"]["spec"], "template": {"spec": found["sample"][0]["spec"]}},
        "status": found["owner"]["status"],
    }
    owner = {"kind": "Deployment", "name": "infer", "uid": "u-infer", "controller": True}
    replica_set = {
        "metadata": {"name": "infer-7c9", "namespace": "serving", "uid": "u-infer-7c9", "ownerReferences": [owner]}
    }
    owners = Owners(
        [project_controller("Deployment", deployment, NAMES), project_controller("ReplicaSet", replica_set, NAMES)]
    )
    pods = [pod_of(raw) for raw in found["sample"]]

    assert {str(owners.resolve(pod.owner)) for pod in pods} == {"Deployment serving/infer"}
    assert [(w.desired, w.available) for w in owners.workloads(())] == [(1, 1)]


@pytest.mark.parametrize(
    ("selector", "picks"),
    [
        (None, False),
        ({}, True),
        ({"matchLabels": {"app": "a"}}, True),
        ({"matchLabels": {"app": "b"}}, False),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "b"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["a"]}]}, False),  # codespell:ignore
        ({"matchExpressions": [{"key": "x", "operator": "NotIn", "values": ["a"]}]}, True),  # codespell:ignore
        ({"matchExpressions": [{"key": "x", "operator": "Exists"}]}, False),
        ({"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "Gt", "values": ["1"]}]}, False),
        ({"matchExpressions": None, "matchLabels": None}, True),
    ],
)
def test_given_a_selector_when_matched_then_it_picks_as_the_server_does(selector: object, picks: bool) -> None:
    assert read_selector(selector).picks({"app": "a"}) is picks


@pytest.mark.parametrize(
    ("spec", "status", "numbers"),
    [
        ({}, {}, (1, 0, False)),
        ({}, {"active": 1, "ready": 1}, (1, 1, False)),
        ({"completions": 5, "parallelism": 2}, {"succeeded": 1, "ready": 2}, (3, 3, False)),
        ({"completions": 5, "parallelism": 2, "suspend": True}, {"succeeded": 1}, (1, 1, False)),
        ({"completions": 5}, {"conditions": [{"type": "Failed", "status": "True"}]}, (1, 0, True)),
        ({"completions": 5}, {"succeeded": 5, "conditions": [{"type": "Complete", "status": "True"}]}, (5, 5, True)),
    ],
)
def test_given_a_job_when_counted_then_full_work_is_full_availability(
    spec: Json, status: Json, numbers: tuple[int, int, bool]
) -> None:
    found = NUMBERS["Job"](spec, status)

    assert (found.desired, found.available, found.finished) == numbers


def test_given_an_owner_of_an_unknown_kind_when_counted_then_its_pods_count() -> None:
    owner = {"kind": "RayCluster", "name": "ray", "uid": "r", "controller": True}
    pods = [
        pod_of(
            {
                "metadata": {"name": f"w{ready}", "namespace": "ml", "ownerReferences": [owner]},
                "spec": {"containers": [container(1)]},
                "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]},
            }
        )
        for ready in ("True", "False")
    ]
    workloads = Owners([]).workloads(pods)

    assert [(str(w.owner), w.desired, w.available, dict(w.gpus)) for w in workloads] == [
        ("RayCluster ml/ray", 2, 1, {GPU: 1})
    ]


def test_given_jobs_of_a_cron_job_when_counted_then_they_are_one_workload_and_old_runs_do_not_count() -> None:
    above = {"kind": "CronJob", "name": "nightly", "uid": "c", "controller": True}
    template = {"spec": {"containers": [container(1)]}}
    done = {"succeeded": 1, "conditions": [{"type": "Complete", "status": "True"}]}
    jobs = [
        {
            "metadata": {
                "name": f"nightly-{number}",
                "namespace": "b",
                "uid": f"j{number}",
                "ownerReferences": [above],
            },
            "spec": {"template": template},
            "status": status,
        }
        for number, status in enumerate((done, {"ready": 1}, done))
    ]
    workloads = Owners([project_controller("Job", job, NAMES) for job in jobs]).workloads(())

    assert [(str(w.owner), w.desired, w.available, w.finished) for w in workloads] == [
        ("CronJob b/nightly", 1, 1, False)
    ]


def test_given_a_cluster_policy_when_projected_then_its_error_and_release_are_told() -> None:
    raw = {
        "metadata": {
            "name": "cluster-policy",
            "annotations": {"meta.helm.sh/release-name": "r", "meta.helm.sh/release-namespace": "n"},
        },
        "status": {
            "state": "notReady",
            "conditions": [
                {"type": "Ready", "status": "False", "message": ""},
                {"type": "Error", "status": "True", "message": "states not ready: [state-driver]"},
            ],
        },
    }
    policy = project_policy(raw)

    assert (policy.name, policy.state, policy.release) == ("cluster-policy", "notReady", "n/r")
    assert policy.message == "states not ready: [state-driver]"
    assert project_policy({}).release == ""


def test_given_foreign_stacks_when_projected_then_only_nvidias_are_named() -> None:
    assert project_gpu_cluster({"metadata": {"name": "gpu-cluster"}}) == "GPUCluster gpu-cluster"
    assert project_device_class({"metadata": {"name": "gpu.nvidia.com"}}) == "DeviceClass gpu.nvidia.com"
    assert project_device_class({"metadata": {"name": "nic.example.com"}}) is None


def test_given_revisions_when_read_then_the_highest_number_wins_and_not_the_text() -> None:
    def secret(number: str) -> Json:
        labels = {"owner": "helm", "name": "r", "version": number, "status": "s"}
        return {"metadata": {"name": f"v{number}", "namespace": "n", "labels": labels}}

    revisions = [project_revision(secret(number)) for number in ("9", "10", "2", "x")]

    assert [found.number for found in newest(tuple(r for r in revisions if r is not None))] == [10]


@pytest.mark.parametrize("data", ["", "%%%", "bm90IGJhc2U2NA==", "SDRzSUFBQUFBQUFBLw==", "W10=", "ZXlKaElqb3hmUT09"])
def test_given_data_that_is_no_release_when_decoded_then_it_is_an_empty_chart(data: str) -> None:
    assert decode(data).name == ""


def test_given_gpus_that_only_the_pods_have_when_counted_then_the_owner_speaks_all_the_same() -> None:
    deployment = {
        "metadata": {"name": "d", "namespace": "n", "uid": "u"},
        "spec": {"replicas": 3},
        "status": {"availableReplicas": 2},
    }
    owner = {"kind": "Deployment", "name": "d", "uid": "u", "controller": True}
    pod = pod_of(
        {
            "metadata": {"name": "p", "namespace": "n", "ownerReferences": [owner]},
            "spec": {"containers": [container(1)]},
        }
    )
    workloads = Owners([project_controller("Deployment", deployment, NAMES)]).workloads([pod])

    assert [(w.desired, w.available, dict(w.gpus)) for w in workloads] == [(3, 2, {GPU: 1})]
