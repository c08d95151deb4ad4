"""What must not stand in the way of a migration, and how ranges, versions and chart values are read."""

from dataclasses import replace

import pytest

from state.policy import ChartChoice
from state.preflight import BLOCKING, WARNING, addons, blockers, warnings
from state.reasons import Code
from state.snapshot import Addon, Snapshot
from state.versions import KubeVersion
from tests.builders import NEW, master, policy, pool, release, two_workers, workload
from tests.core.unfit import GUARD, add_worker, pools, tainted
from tests.core.worlds import change_node, change_pod, change_worker, iks, join, kubernetes

FINE: dict[str, Snapshot] = {
    "example 2": two_workers(),
    "offering not told": iks(two_workers(), offering="", provider=""),
    "master on its way": iks(two_workers(), master=master("1.36.0_1506", pending=True, state="updating")),
    "B006 half done": join(iks(two_workers(), master=master("1.36.0_1506"), pools=(pool(size=3),))),
    "fitting add-on": iks(two_workers(), addons=(Addon("vpc-block-csi-driver", "5.2", ">=1.31.0 <1.38.0"),)),
    "add-on without a range": iks(two_workers(), addons=(Addon("cluster-autoscaler", "1.2.4"),)),
    "add-on with odd words": iks(two_workers(), addons=(Addon("static-route", "1.0", "all versions"),)),
    "refill not told": pools(autobalanced=None)(two_workers()),
    "customer's labels": pools(labels={"team": "blue", "nvidia.com/gpu.deploy.operands": "true"})(two_workers()),
    "taint that is tolerated": tainted("nvidia.com/gpu", "present", "NoSchedule")(two_workers()),
    "soft taint": tainted("dedicated", "ml", "PreferNoSchedule")(two_workers()),
    "passing taint": tainted("node.kubernetes.io/disk-pressure", "", "NoSchedule")(two_workers()),
    "leaving worker": iks(
        add_worker(desired_state="deleted", state="deleting", health="critical")(two_workers()), master=master(NEW)
    ),
    "deleted old worker": add_worker(version="1.33.1_1500", state="deleted")(two_workers()),
    "node named otherwise": change_node(two_workers(), "w1", name="kube-abc-w1"),
    "system not told": change_worker(two_workers(), "w1", operating_system=""),
    "unwell CPU worker": add_worker(flavor="bx2.4x16", health="critical")(two_workers()),
    "B013 older word": change_node(
        two_workers(), "w1", labels={"nvidia.com/gpu-driver-upgrade-state": "upgrade-required"}
    ),
    "idle workload": kubernetes(two_workers(), workloads=(workload("idle", 0, 0),)),
    "B025 broken pod that may go": change_pod(
        kubernetes(two_workers(), budgets=(replace(GUARD, healthy=1, always_allow=True),)), "gpu-burn", ready=False
    ),
    "budget of others": kubernetes(two_workers(), budgets=(replace(GUARD, pods=("uid-cpu",)),)),
}


@pytest.mark.parametrize("world", FINE.values(), ids=FINE.keys())
def test_given_a_cluster_that_is_fit_then_nothing_stands_in_the_way(world: Snapshot) -> None:
    assert blockers(world, policy()) == ()
    assert warnings(world, policy()) == ()


NFD = "node-feature-discovery"
TOLERATE = {"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}]}


@pytest.mark.parametrize(
    ("values", "by"),
    [
        ({}, ["NFD worker"]),
        ({NFD: {"worker": TOLERATE}}, []),
        ({NFD: {"worker": {"tolerations": [{"operator": "Exists"}]}}}, []),
        ({"nfd": {"enabled": False}}, []),
        ({"nfd": {"enabled": True}}, ["NFD worker"]),
        ({"daemonsets": TOLERATE}, ["NFD worker"]),
        ({"daemonsets": {"tolerations": [{"key": "dedicated", "operator": "Exists"}]}}, ["operands"]),
        ({NFD: {"worker": {"tolerations": []}}, "toolkit": {"enabled": True}}, ["NFD worker"]),
        ({NFD: {"worker": {"tolerations": "all"}}}, ["NFD worker"]),
        ({NFD: None, "daemonsets": 7}, ["NFD worker"]),
    ],
    ids=["none", "NFD", "NFD all", "own NFD", "NFD on", "operands", "other key", "empty", "odd", "odder"],
)
def test_given_chart_values_when_a_node_is_tainted_then_they_decide_who_stays_away(
    values: dict[str, object], by: list[str]
) -> None:
    """B009."""
    given = policy(chart=ChartChoice(values=values))
    found = blockers(tainted("nvidia.com/gpu", "true", "NoSchedule")(two_workers()), given)

    assert [r.facts["by"] for r in found] == by


@pytest.mark.parametrize(
    ("version", "tested"),
    [("26.7.0", True), ("26.3.2", True), ("26.7.5", True), ("26.3.1", False), ("26.10.0", False), ("master", False)],
)
def test_given_a_chart_version_then_an_untested_one_is_said(version: str, tested: bool) -> None:
    """B006."""
    found = warnings(two_workers(), policy(chart=ChartChoice(version=version)))

    assert [r.code for r in found] == ([] if tested else [Code.CHART_UNTESTED])


def test_given_a_release_of_an_untested_version_then_it_is_adopted_with_a_warning() -> None:
    old = release(chart="gpu-operator-v26.3.1")

    found = warnings(kubernetes(two_workers(), releases=(old,)), policy())

    assert [r.code for r in found] == [Code.RELEASE_ELSEWHERE, Code.CHART_UNTESTED]
    assert found[1].facts["version"] == "26.3.1"


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        (">=1.31.0 <1.36.0", False),
        (">=1.31.0 <=1.36.0", True),
        (">=1.31.0 <1.37.0", True),
        (">=1.37", False),
        (">1.36", False),
        ("=1.36", True),
        ("=1.35", False),
        (">= v1.30 < v1.36", False),
        ("1.36", True),
        ("any", True),
        ("", True),
    ],
)
def test_given_a_range_as_ibm_spells_it_then_the_target_lies_in_it_or_not(text: str, fits: bool) -> None:
    assert addons.supports(text, KubeVersion(1, 36, 0)) is fits


def test_given_all_questions_then_each_is_pure_and_answers_a_fit_cluster_with_nothing() -> None:
    given = policy()

    assert [q.__name__ for q in (*BLOCKING, *WARNING) if q(two_workers(), given)] == []
