"""The scheduler's decision against situations recorded from kube-scheduler v1.36.2."""

import json
from pathlib import Path
from typing import Any

import pytest

from sandbox.controllers.placement import Placed, Refused, World, place
from sandbox.controllers.preemption import victims
from sandbox.controllers.volumes import Storage

Json = dict[str, Any]

SITUATIONS = json.loads((Path(__file__).parent / "test_controllers_scheduling.json").read_text(encoding="utf-8"))


def _node(row: Json) -> Json:
    spec = {key: row[key] for key in ("taints", "unschedulable") if key in row}
    allocatable = {"memory": "64Gi", **row["allocatable"]}
    meta = {"name": row["name"], "labels": row.get("labels", {})}
    return {"metadata": meta, "spec": spec, "status": {"allocatable": allocatable}}


def _pod(row: Json, node: str | None) -> Json:
    spec = dict(row["spec"])
    container: Json = {"name": "c", "image": "i", "resources": {"limits": spec.pop("limits")}}
    if "hostPort" in row:
        container["ports"] = [{"hostPort": row["hostPort"], "containerPort": 80}]
    meta = {"name": row["name"], "namespace": "n", "uid": row["name"], "labels": row.get("labels", {})}
    return {"metadata": meta, "spec": {**spec, "nodeName": node, "containers": [container]}, "status": {}}


def _storage(row: Json) -> Storage:
    parts = row.get("storage", {})
    claim, volume, late = parts.get("claim"), parts.get("volume"), parts.get("class")
    return Storage(
        claims={} if claim is None else {"n/data": {"metadata": {}, "spec": claim}},
        volumes={} if volume is None else {"pv": {"metadata": {"labels": volume.get("labels", {})}, **volume}},
        classes={} if late is None else {"late": late},
    )


def _waiting(situation: Json) -> list[Json]:
    """The pods that were refused last; all others are bound."""
    return [row for row in situation["pods"] if row["message"]]


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda one: one["situation"])
def test_given_a_recorded_cluster_when_a_pod_is_placed_then_the_answer_is_the_recorded_one(situation: Json) -> None:
    waiting = _waiting(situation)
    rows = {row["name"]: _pod(row, row["node"]) for row in situation["pods"]}
    chosen = waiting[0] if waiting else situation["pods"][0]
    rows[chosen["name"]]["spec"]["nodeName"] = None
    world = World(tuple(map(_node, situation["nodes"])), tuple(rows.values()), _storage(situation))

    answer = place(rows[chosen["name"]], world)

    if chosen["message"]:
        assert isinstance(answer, Refused)
        assert answer.message == chosen["message"]
    else:
        assert answer == Placed(chosen["node"])


def test_given_two_empty_nodes_when_one_owner_places_two_pods_then_each_node_gets_one() -> None:
    nodes = [_node({"name": name, "allocatable": {"cpu": "16", "pods": "110"}}) for name in ("n-1", "n-2")]
    owners = [{"uid": "rs", "controller": True}]
    first, second = (_pod({"name": name, "spec": {"limits": {"cpu": "1"}}}, None) for name in ("a", "b"))
    first["metadata"]["ownerReferences"] = second["metadata"]["ownerReferences"] = owners

    world = World(tuple(nodes), (first, second))
    one = place(first, world)
    two = place(second, World(tuple(nodes), (first, second), bound={"a": "n-1"}))

    assert (one, two) == (Placed("n-1"), Placed("n-2"))


def test_given_a_preferred_node_when_it_is_fuller_than_the_other_then_it_is_still_chosen() -> None:
    nodes = [_node({"name": name, "labels": {"pool": name}, "allocatable": {"cpu": "4", "pods": "9"}}) for name in "ab"]
    term = {"matchExpressions": [{"key": "pool", "operator": "In", "values": ["b"]}]}
    rule = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 5, "preference": term}]}
    running = _pod({"name": "running", "spec": {"limits": {"cpu": "2"}}}, "b")
    wanted = _pod({"name": "wanted", "spec": {"affinity": {"nodeAffinity": rule}, "limits": {"cpu": "1"}}}, None)

    assert place(wanted, World(tuple(nodes), (running, wanted))) == Placed("b")


def _gpu_pod(name: str, node: str, priority: int) -> Json:
    pod = _pod({"name": name, "spec": {"limits": {"gpu": "1"}}}, node or None)
    pod["spec"]["priority"] = priority
    return pod


def test_given_a_lesser_pod_on_the_only_gpu_when_a_greater_one_comes_then_the_lesser_is_the_victim() -> None:
    lesser, greater = _gpu_pod("lesser", "a", 0), _gpu_pod("greater", "", 10)
    world = World((_node({"name": "a", "allocatable": {"gpu": "1"}}),), (lesser, greater))

    found = victims(greater, ("a",), world)

    assert found == ("a", (lesser,))
    assert victims(lesser, ("a",), world) is None


def test_given_a_polite_pod_when_it_does_not_fit_then_nobody_has_to_go() -> None:
    polite = _gpu_pod("polite", "", 10)
    polite["spec"]["preemptionPolicy"] = "Never"

    assert (
        victims(
            polite,
            ("a",),
            World((_node({"name": "a", "allocatable": {"gpu": "1"}}),), (_gpu_pod("lesser", "a", 0), polite)),
        )
        is None
    )
