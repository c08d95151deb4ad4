"""What the cluster does about the state of its nodes: taints by condition, pods of lost nodes, eviction by taint.

Seen on a real control plane v1.36.2: a lost node first reads Ready=Unknown, then its taint and the pods' Ready=False
follow at once, NoExecute some seconds later; the pods are deleted when their toleration has run out.
"""

import time

from sandbox.controllers import pods
from sandbox.controllers.desk import Desk, stamp
from sandbox.controllers.nodes import kubelet_reports
from sandbox.controllers.resources import NODES, PODS
from sandbox.controllers.selectors import tolerates
from sandbox.kubernetes_client import STRATEGIC_PATCH, Json

NO_EXECUTE_AFTER = 10.0
DEFAULT_TOLERATION = 300.0  # what admission gives every pod for nodes that are not ready or unreachable
UNSCHEDULABLE, NOT_READY, UNREACHABLE = (
    f"node.kubernetes.io/{name}" for name in ("unschedulable", "not-ready", "unreachable")
)
OURS = (UNSCHEDULABLE, NOT_READY, UNREACHABLE)


class NodeLifecycle:
    """Node lifecycle and taint eviction controller in one."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._nodes = desk.mirror(NODES)
        self._pods = desk.mirror(PODS)
        self._unready: dict[str, float] = {}  # node uid -> since when it is not Ready
        self._condemned: dict[str, float] = {}  # pod uid -> since when a taint is not tolerated

    async def reconcile(self) -> float | None:
        """Judge every node, then every pod on a tainted one."""
        now = time.monotonic()
        wakes: list[float] = []
        nodes = {node["metadata"]["name"]: node for node in self._nodes.objects()}
        for node in nodes.values():
            wakes += await self._judge(node, now)
        for pod in self._pods.objects():
            home = nodes.get(pods.node_name(pod))
            if home is not None and pods.active(pod):
                wakes += await self._evict(pod, home, now)
        return max(0.0, min(wakes) - now) if wakes else None

    async def _judge(self, node: Json, now: float) -> list[float]:
        uid, is_ready = node["metadata"]["uid"], pods.condition_true(node, "Ready")
        if is_ready:
            self._unready.pop(uid, None)
        since = self._unready.setdefault(uid, now) if not is_ready else now
        late = since + self._desk.scaled(NO_EXECUTE_AFTER)
        wanted = wanted_taints(node, no_execute=not is_ready and now >= late and not kubelet_reports(node))
        if wanted != (node["spec"].get("taints") or []):
            version = node["metadata"]["resourceVersion"]
            change: Json = {"metadata": {"resourceVersion": version}, "spec": {"taints": wanted or None}}
            await self._desk.patch(NODES, node, change)
        if not is_ready and not kubelet_reports(node):
            await self._unready_pods(node)
            if now < late:
                return [late]
        return []

    async def _unready_pods(self, node: Json) -> None:
        for pod in self._pods.objects():
            if pods.node_name(pod) == node["metadata"]["name"] and pods.condition_true(pod, "Ready"):
                row = {"type": "Ready", "status": "False", "lastTransitionTime": stamp()}
                await self._desk.patch(PODS, pod, {"status": {"conditions": [row]}}, STRATEGIC_PATCH, sub="status")
                await self._desk.event(
                    pod, "NodeNotReady", "Node is not ready", component="node-controller", type="Warning"
                )

    async def _evict(self, pod: Json, node: Json, now: float) -> list[float]:
        uid = pod["metadata"]["uid"]
        allowed = endures(pod, node["spec"].get("taints") or [])
        if allowed is None:
            self._condemned.pop(uid, None)
            return []
        due = self._condemned.setdefault(uid, now) + self._desk.scaled(allowed)
        if now < due:
            return [due]
        text = f"Marking for deletion Pod {pod['metadata'].get('namespace', '')}/{pod['metadata']['name']}"
        await self._desk.event(pod, "TaintManagerEviction", text, component="taint-eviction-controller")
        row = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "DeletionByTaintManager",
            "message": "Taint manager: deleting due to NoExecute taint",
            "lastTransitionTime": stamp(),
        }
        await self._desk.patch(PODS, pod, {"status": {"conditions": [row]}}, STRATEGIC_PATCH, sub="status")
        await self._desk.delete(PODS, pod)
        return []


def wanted_taints(node: Json, *, no_execute: bool) -> list[Json]:
    """The taints the node should have: those of others as they are, ours by what the node is."""
    known = {(taint["key"], taint.get("effect")): taint for taint in node["spec"].get("taints") or ()}
    row = pods.condition(node, "Ready") or {}
    ours = []
    if node["spec"].get("unschedulable"):
        ours.append((UNSCHEDULABLE, "NoSchedule"))
    if row.get("status") != "True":
        key = UNREACHABLE if row.get("status") == "Unknown" else NOT_READY
        ours += [(key, "NoSchedule")] + ([(key, "NoExecute")] if no_execute else [])
    kept = [taint for taint in node["spec"].get("taints") or () if taint["key"] not in OURS or _key(taint) in ours]
    new = [one for one in ours if one not in known]
    return kept + [{"key": key, "effect": effect, "timeAdded": stamp()} for key, effect in new]


def endures(pod: Json, taints: list[Json]) -> float | None:
    """Seconds (as in life) that the pod may stay with the NoExecute taints of its node; None: as long as it likes."""
    shortest: float | None = None
    for taint in taints:
        if taint.get("effect") != "NoExecute":
            continue
        found = tolerates(pods.tolerations(pod["spec"]), taint)
        if found is None:
            allowed = DEFAULT_TOLERATION if taint["key"] in (NOT_READY, UNREACHABLE) else 0.0
        elif found.get("tolerationSeconds") is None:
            continue
        else:
            allowed = float(found["tolerationSeconds"])
        shortest = allowed if shortest is None else min(shortest, allowed)
    return shortest


def _key(taint: Json) -> tuple[str, str | None]:
    return taint["key"], taint.get("effect")
