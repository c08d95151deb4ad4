"""DaemonSets, Deployments, Jobs and StatefulSets: what is wanted of which objects."""

from typing import Any

import pytest

from sandbox.controllers.daemonsets import AUTOMATIC_TOLERATIONS, daemon_pod, eligible, target
from sandbox.controllers.daemonsets import status_of as daemon_status
from sandbox.controllers.deployment_status import status_of as deployment_status
from sandbox.controllers.deployments import replica_set, scaling
from sandbox.controllers.job_counts import FINALIZER, counted, exhausted, wanted_active
from sandbox.controllers.replicasets import usefulness
from sandbox.controllers.statefulsets import claim_of, number, numbered_pod
from sandbox.controllers.templates import share, template_hash

Json = dict[str, Any]

READY = [{"type": "Ready", "status": "True"}]
TEMPLATE: Json = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


def _set(kind: str, **spec: Any) -> Json:
    meta = {"name": "x", "namespace": "n", "uid": "ux", "generation": 1}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": meta, "spec": {"template": TEMPLATE, **spec}}


def _node(name: str, **spec: Any) -> Json:
    return {
        "metadata": {"name": name, "labels": {}},
        "spec": spec,
        "status": {"allocatable": {"cpu": "16", "gpu": "1"}},
    }


def _pod(name: str, node: str = "", *, ready: bool = True, **meta: Any) -> Json:
    rows = READY if ready else []
    about = {"name": name, "namespace": "n", "uid": name, **meta}
    return {"metadata": about, "spec": {"nodeName": node}, "status": {"phase": "Running", "conditions": rows}}


TAINTED = {"taints": [{"key": "t", "effect": "NoSchedule"}]}
EVICTING = {"taints": [{"key": "t", "effect": "NoExecute"}]}
CORDONED = {"unschedulable": True, "taints": [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]}


@pytest.mark.parametrize(
    ("spec", "runs", "stays"),
    [({}, True, True), (CORDONED, True, True), (TAINTED, False, True), (EVICTING, False, False)],
    ids=["plain", "cordoned", "NoSchedule", "NoExecute"],
)
def test_given_a_node_when_a_daemon_set_asks_then_cordons_do_not_count(spec: Json, runs: bool, stays: bool) -> None:
    assert eligible(_set("DaemonSet"), _node("a", **spec)) == (runs, stays)


def test_given_a_daemon_pod_when_made_then_it_is_meant_for_its_node_and_endures_what_nodes_suffer() -> None:
    pod = daemon_pod(_set("DaemonSet"), _node("a"))

    assert target(pod) == "a"
    assert pod["spec"]["tolerations"] == list(AUTOMATIC_TOLERATIONS)
    assert pod["metadata"]["labels"]["pod-template-generation"] == "1"


@pytest.mark.parametrize(
    ("on_two", "second", "numbers"),
    [
        (True, {}, (2, 2, 2, None)),
        (True, TAINTED, (2, 2, 2, None)),
        (False, TAINTED, (1, 1, 1, None)),
        (False, {}, (2, 1, 1, 1)),
        (False, EVICTING, (1, 1, 1, None)),
    ],
    ids=["both", "tainted, pod stays", "tainted, pod gone", "not made yet", "evicting"],
)
def test_given_two_nodes_when_a_daemon_sets_status_is_counted_then_as_recorded(
    on_two: bool, second: Json, numbers: tuple[int | None, ...]
) -> None:
    one = _set("DaemonSet")
    labels = {"controller-revision-hash": template_hash(TEMPLATE)}
    mine = [_pod("p1", "a", labels=labels)] + ([_pod("p2", "b", labels=labels)] if on_two else [])

    status = daemon_status(one, mine, (_node("a"), _node("b", **second)))

    names = ("desiredNumberScheduled", "currentNumberScheduled", "numberReady", "numberUnavailable")
    assert tuple(status[name] for name in names) == numbers
    assert status["updatedNumberScheduled"] == len(mine)


def _replicas(name: str, size: int, ready: int, revision: int) -> Json:
    annotations = {"deployment.kubernetes.io/revision": str(revision)}
    meta = {"name": name, "uid": name, "annotations": annotations}
    status = {"replicas": size, "readyReplicas": ready, "availableReplicas": ready}
    return {"metadata": meta, "spec": {"replicas": size}, "status": status}


RECREATE = {"strategy": {"type": "Recreate"}}


@pytest.mark.parametrize(
    ("spec", "old", "new", "orders"),
    [
        ({}, None, (0, 0), [("new", 2)]),
        ({}, (2, 2), (0, 0), [("new", 1)]),
        ({}, (2, 2), (1, 0), []),
        ({}, (2, 2), (1, 1), [("old", 1)]),
        ({}, (1, 1), (2, 1), []),
        ({}, (1, 1), (2, 2), [("old", 0)]),
        (RECREATE, (2, 2), (0, 0), [("old", 0)]),
        (RECREATE, (0, 0), (0, 0), [("new", 2)]),
        ({}, None, (3, 3), [("new", 2)]),
    ],
    ids=["first", "surge", "wait", "take one", "wait again", "last", "recreate: stop", "recreate: go", "smaller"],
)
def test_given_replica_sets_when_a_deployment_of_two_rolls_then_within_its_limits(
    spec: Json, old: tuple[int, int] | None, new: tuple[int, int], orders: list[tuple[str, int]]
) -> None:
    fresh = _replicas("new", *new, 2)
    sets = [fresh] + ([] if old is None else [_replicas("old", *old, 1)])

    found = [
        (row["metadata"]["name"], count) for row, count in scaling(_set("Deployment", replicas=2, **spec), fresh, sets)
    ]

    assert found == orders


def test_given_one_gpu_for_two_when_the_deadline_passes_then_the_status_is_the_recorded_one() -> None:
    one = _set("Deployment", replicas=2)
    fresh = _replicas("d-6656cc6f64", 2, 1, 1)

    status = deployment_status(one, fresh, [fresh], late=True)

    assert {key: status[key] for key in ("replicas", "updatedReplicas", "readyReplicas", "unavailableReplicas")} == {
        "replicas": 2,
        "updatedReplicas": 2,
        "readyReplicas": 1,
        "unavailableReplicas": 1,
    }
    assert [(row["type"], row["status"], row["reason"], row["message"]) for row in status["conditions"]] == [
        ("Available", "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability."),
        ("Progressing", "False", "ProgressDeadlineExceeded", 'ReplicaSet "d-6656cc6f64" has timed out progressing.'),
    ]


def test_given_a_template_when_its_replica_set_is_made_then_name_label_and_selector_carry_its_hash() -> None:
    one = _set("Deployment", selector={"matchLabels": {"app": "x"}})

    made = replica_set(one, f"x-{template_hash(TEMPLATE)}", 3)

    assert made["spec"]["selector"]["matchLabels"] == {"app": "x", "pod-template-hash": template_hash(TEMPLATE)}
    assert made["spec"]["template"]["metadata"]["labels"]["pod-template-hash"] == template_hash(TEMPLATE)
    assert TEMPLATE["metadata"]["labels"] == {"app": "x"}


def test_given_surplus_pods_when_ranked_then_the_unbound_and_the_young_go_first() -> None:
    pods = [
        _pod("old", "a", creationTimestamp="2026-01-01T00:00:00Z"),
        _pod("young", "a", creationTimestamp="2026-01-02T00:00:00Z"),
        _pod("unready", "a", ready=False, creationTimestamp="2026-01-01T00:00:00Z"),
        _pod("unbound", creationTimestamp="2026-01-01T00:00:00Z"),
    ]

    assert [pod["metadata"]["name"] for pod in sorted(pods, key=usefulness)] == ["unbound", "unready", "young", "old"]


def _job(status: Json | None = None, **spec: Any) -> Json:
    return {"metadata": {"name": "j", "uid": "uj"}, "spec": {"completions": 1, **spec}, "status": status or {}}


def _ended(name: str, phase: str, **status: Any) -> Json:
    pod = _pod(name, "a", finalizers=[FINALIZER])
    pod["status"] = {"phase": phase, **status}
    return pod


def test_given_a_failed_pod_when_counted_then_it_is_written_down_first_and_counts_when_released() -> None:
    pod = _ended("p", "Failed")
    first = counted(_job(), [pod])
    written = _job({"uncountedTerminatedPods": {"failed": ["p"]}})
    held = counted(written, [pod])
    released = counted(written, [])

    assert (first.failed, first.losses, first.settled) == (0, ("p",), frozenset())
    assert (held.failed, held.settled) == (0, frozenset({"p"}))
    assert (released.failed, released.losses) == (1, ())


def test_given_an_eviction_and_a_policy_that_ignores_it_when_counted_then_it_is_no_failure() -> None:
    rule = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
    pod = _ended("p", "Failed", conditions=[{"type": "DisruptionTarget", "status": "True"}])

    tally = counted(_job(podFailurePolicy={"rules": [rule]}), [pod])

    assert (tally.losses, tally.settled) == ((), frozenset({"p"}))


@pytest.mark.parametrize(("limit", "failed", "over"), [(0, 1, True), (6, 1, False), (6, 7, True)])
def test_given_failures_when_the_limit_is_asked_then_one_more_than_it_is_too_many(
    limit: int, failed: int, over: bool
) -> None:
    job = _job({"failed": failed}, backoffLimit=limit)

    assert exhausted(job, counted(job, [])) == over


def test_given_a_won_job_when_pods_are_wanted_then_none() -> None:
    job = _job({"succeeded": 2}, completions=3, parallelism=5)

    assert wanted_active(job, counted(job, [])) == 1
    assert wanted_active(job, counted(job, [_ended("p", "Succeeded")])) == 0


def test_given_a_stateful_set_when_its_third_pod_is_made_then_name_and_claim_carry_the_number() -> None:
    claim = {"metadata": {"name": "data"}, "spec": {"resources": {}}}
    one = _set("StatefulSet", serviceName="db", volumeClaimTemplates=[claim], selector={"matchLabels": {"app": "x"}})

    pod = numbered_pod(one, 2)

    assert (pod["metadata"]["name"], number(pod)) == ("x-2", 2)
    assert pod["spec"]["volumes"] == [{"name": "data", "persistentVolumeClaim": {"claimName": "data-x-2"}}]
    assert claim_of(one, claim, 2)["metadata"]["name"] == "data-x-2"


@pytest.mark.parametrize(
    ("amount", "up", "expected"),
    [("25%", True, 1), ("25%", False, 0), (1, True, 1), (None, True, 1), ("100%", False, 3)],
)
def test_given_a_share_of_three_when_counted_then_rounded_as_asked(
    amount: str | int | None, up: bool, expected: int
) -> None:
    assert share(amount, 3, up=up) == expected
