"""Real kubectl drains, cordons and uncordons here as it was recorded to do against v1.36.2."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.sandbox.conformance.ahead import Ahead
from tests.sandbox.kubernetes_scene import Ran, Scene, node, pod, scene

NODE = "10.1.2.3"
ROWS = json.loads(Path(__file__).with_name("test_kubernetes_drain.json").read_text(encoding="utf-8"))["runs"]
RUNS = {run["scenario"]: run for run in ROWS}
METHODS = {"get": "GET", "list": "GET", "create": "POST", "patch": "PATCH", "delete": "DELETE"}
ADDRESS = re.compile(r"(web|agent|other|train)-[a-z0-9]{5}\b")
AT_ONCE = 4  # drains wait more than they work
REPLICAS = ("ReplicaSet", "web-rs")
WEB = (pod("web-aaaaa", NODE, REPLICAS),)
TWO = (*WEB, pod("web-bbbbb", NODE, REPLICAS))
DAEMON = (*TWO, pod("agent-aaaaa", NODE, ("DaemonSet", "agent")))
SCRATCH = (pod("web-aaaaa", NODE, REPLICAS, spec={"volumes": [{"name": "scratch", "emptyDir": {}}]}),)
MIRROR = pod("static", NODE, ("Node", NODE), meta={"annotations": {"kubernetes.io/config.mirror": "x"}})
PODS: dict[str, tuple[dict[str, Any], ...]] = {
    "deployment_pods": TWO,
    "disable_eviction": TWO,
    "daemonset_pod_without_flag": DAEMON,
    "daemonset_pod_ignored": DAEMON,
    "dry_run_server": DAEMON,
    "dry_run_client": DAEMON,
    "bare_pod_without_force": (*WEB, pod("bare", NODE)),
    "bare_pod_force": (*WEB, pod("bare", NODE)),
    "emptydir_without_flag": SCRATCH,
    "emptydir_with_flag": SCRATCH,
    "job_and_statefulset": (pod("train-aaaaa", NODE, ("Job", "train")), pod("db-0", NODE, ("StatefulSet", "db"))),
    "finished_bare_pod": (pod("done", NODE, phase="Succeeded"),),
    "mirror_pod": (*WEB, MIRROR),
    "pod_selector": (*WEB, pod("other-aaaaa", NODE, ("ReplicaSet", "other-rs"))),
    **dict.fromkeys(("empty_node", "missing_node", "cordon", "uncordon"), ()),
}
# the StatefulSet's controller, which makes the pod again under its name, does not run here
NO_CONTROLLER = {("GET", "/api/v1/namespaces/work/pods/db-0", 404, "null")}

Call = tuple[str, str, int, str]
Outcome = tuple[Ran, set[Call], bool, set[str]]


def budget(name: str, minimum: int, allowed: int) -> dict[str, Any]:
    status = {"observedGeneration": 1, "currentHealthy": 1, "desiredHealthy": minimum, "disruptionsAllowed": allowed}
    return {
        "kind": "PodDisruptionBudget",
        "apiVersion": "policy/v1",
        "metadata": {"name": name, "namespace": "work", "generation": 1},
        "spec": {"minAvailable": minimum, "selector": {"matchLabels": {"app": "web"}}},
        "status": {**status, "expectedPods": 1},
    }


def stage(cluster: Scene, name: str) -> None:
    """The node, pods and budgets of one recorded run."""
    cordoned = name in ("already_cordoned", "uncordon")
    cluster.put(("", "nodes"), node(NODE, **({"unschedulable": True} if cordoned else {})))
    for made in json.loads(json.dumps(PODS.get(name, WEB))):
        cluster.put(("", "pods"), made)
    if PODS.get(name) is DAEMON:
        daemons = {"metadata": {"name": "agent", "namespace": "work", "uid": "uid-of-agent"}, "spec": {}, "status": {}}
        cluster.put(("apps", "daemonsets"), {"kind": "DaemonSet", "apiVersion": "apps/v1", **daemons})
    if name == "two_pdbs":
        for budget_name in ("one", "two"):
            cluster.put(("policy", "poddisruptionbudgets"), budget(budget_name, 0, 1))


async def play(name: str) -> Outcome:
    """Run one recorded command against a cluster of its own."""
    target = "no-such-node" if name == "missing_node" else NODE
    async with scene() as cluster:
        stage(cluster, name)
        ran = await cluster.kubectl(*(word.replace("{node}", target) for word in RUNS[name]["command"]))
        here = cluster.find(("", "nodes"), NODE) or {}
        left = {ADDRESS.sub(r"\1-{suffix}", pod_name) for pod_name in cluster.names(("", "pods"))}
        return ran, observed(cluster), bool(here["spec"].get("unschedulable")), left


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def outcomes() -> AsyncIterator[Ahead[Outcome]]:
    """All recorded runs, several at a time."""
    ahead = Ahead(list(RUNS), play, AT_ONCE)
    yield ahead
    await ahead.aclose()


def recorded(run: dict[str, Any]) -> set[Call]:
    found = set()
    for call in run["calls"]:
        uri = call["uri"].replace("{node}", NODE).replace("{ns}", "work")
        body = json.dumps(call.get("body"), sort_keys=True) if call["verb"] in ("create", "patch") else "null"
        found.add(
            (METHODS[call["verb"]], uri, call["status"], ADDRESS.sub(r"\1-{suffix}", body.replace("{ns}", "work")))
        )
    return found


def observed(cluster: Scene) -> set[Call]:
    found = set()
    for asked in cluster.asked:
        if re.fullmatch(r"/apis?(/v1)?(\?.*)?|/version.*", asked.uri):
            continue
        body = json.dumps(json.loads(asked.body), sort_keys=True) if asked.method in ("POST", "PATCH") else "null"
        address = ADDRESS.sub(r"\1-{suffix}", asked.uri)
        found.add((asked.method, address, asked.status, ADDRESS.sub(r"\1-{suffix}", body)))
    return found


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", list(RUNS))
async def test_given_a_recorded_run_when_kubectl_repeats_it_here_then_calls_and_outcome_are_the_same(
    outcomes: Ahead[Outcome], name: str
) -> None:
    ran, calls, unschedulable, left = await outcomes.get(name)

    run = RUNS[name]
    stayed = {row.split(":")[0] for row in run["after"]["pods"] if row.endswith(":on node")}
    assert ran.code == run["exit_code"], ran.err
    assert calls - NO_CONTROLLER == recorded(run)
    assert unschedulable is run["after"]["unschedulable"]
    assert left == stayed


async def test_given_a_budget_that_allows_nothing_when_draining_then_kubectl_asks_until_it_gives_up() -> None:
    async with scene() as cluster:
        stage(cluster, "pdb_blocked")
        cluster.put(("policy", "poddisruptionbudgets"), budget("one", 1, 0))
        ran = await cluster.kubectl("drain", NODE, "--timeout=2s")

    refused = [asked for asked in cluster.asked if asked.uri.endswith("/eviction")]
    assert ran.code == 1
    assert "violate the pod's disruption budget" in ran.err
    assert {asked.status for asked in refused} == {429}
    assert cluster.names(("", "pods")) == ["web-aaaaa"]
