"""The GPU Operator: labels GPU nodes, makes operands of the ClusterPolicy, tells its status.

It works only while a pod of its Deployment is Ready, as the real one does: with the pod gone, new nodes stay as they
are and the ClusterPolicy keeps its last word.
"""

import time

from sandbox.controllers import pods
from sandbox.controllers.desk import Desk
from sandbox.controllers.driver_upgrade import DriverUpgrades
from sandbox.controllers.gpu_labels import relabel, watched
from sandbox.controllers.operands import belongings, daemon_sets
from sandbox.controllers.policy_status import Verdict, conditions, judged, outlook
from sandbox.controllers.resources import (
    CLUSTER_POLICIES,
    DAEMON_SETS,
    NODES,
    PODS,
    RUNTIME_CLASSES,
    SERVICE_ACCOUNTS,
)
from sandbox.controllers.templates import template_hash
from sandbox.kubernetes_client import ApiError, Json

OPERATOR_LABELS = {"app": "gpu-operator", "app.kubernetes.io/component": "gpu-operator"}
TEMPLATE_MARK = "nvidia.com/last-applied-hash"


class GpuOperator:
    """The operator of the whole cluster."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._nodes = desk.mirror(NODES)
        self._pods = desk.mirror(PODS)
        self._policies = desk.mirror(CLUSTER_POLICIES)
        self._sets = desk.mirror(DAEMON_SETS)
        self._seen: object = None  # what the last labelling was made for
        self._furnished = ""  # uid of the policy whose belongings exist
        self._due = 0.0
        self._upgrades = DriverUpgrades(desk)

    async def reconcile(self) -> float | None:
        """One round, not more often than every `reconcile` seconds; None while the operator has no Ready pod."""
        operator = next((pod for pod in self._pods.objects() if _is_operator(pod) and pods.ready(pod)), None)
        policy = min(self._policies.objects(), key=_age, default=None)
        if operator is None or policy is None or pods.deleting(policy):
            self._seen, self._due = None, 0.0
            return None
        now = time.monotonic()
        if self._due == 0.0:
            self._due = now + self._desk.seconds("reconcile")
        if now < self._due:
            return self._due - now
        self._due = now + self._desk.seconds("reconcile")
        namespace = operator["metadata"]["namespace"]
        await self._label(policy)
        verdict = outlook(self._nodes.objects())
        if verdict.system:
            await self._furnish(policy, namespace)
            await self._deploy(policy, namespace, verdict.system)
            verdict = judged(policy, self._operands(policy), verdict.system)
        await self._tell(policy, verdict, namespace)
        world = (list(self._nodes.objects()), list(self._pods.objects()), self._operands(policy))
        wait = await self._upgrades.round(policy, world, now)
        return wait if verdict.state == "ready" else self._desk.seconds("reconcile")

    async def _label(self, policy: Json) -> None:
        """Judge the labels of all nodes, if anything that is watched has changed on one of them."""
        nodes = self._nodes.objects()
        seen = (policy["metadata"].get("generation"), tuple((one["metadata"]["uid"], watched(one)) for one in nodes))
        if seen == self._seen:
            return
        for node in nodes:
            change = relabel(node, policy)
            if change:
                metadata = {"labels": change.labels, "annotations": change.annotations}
                await self._desk.patch(NODES, node, {"metadata": metadata})
        self._seen = seen

    async def _furnish(self, policy: Json, namespace: str) -> None:
        if self._furnished == policy["metadata"]["uid"]:
            return
        for item in belongings(policy, namespace):
            resource = SERVICE_ACCOUNTS if item["kind"] == "ServiceAccount" else RUNTIME_CLASSES
            try:
                await self._desk.create(resource, item)
            except ApiError as refused:
                if refused.status != 405:  # an API server without this resource
                    raise
        self._furnished = policy["metadata"]["uid"]

    async def _deploy(self, policy: Json, namespace: str, system: str) -> None:
        """Make, renew and take away DaemonSets, by the hash of what they should be."""
        wanted = {one["metadata"]["name"]: one for one in daemon_sets(policy, namespace, system)}
        have = {one["metadata"]["name"]: one for one in self._operands(policy)}
        for name, one in wanted.items():
            mark = template_hash(one["spec"])
            one["metadata"]["annotations"] = {TEMPLATE_MARK: mark}
            known = have.get(name)
            if known is None:
                await self._desk.guard(self._desk.create(DAEMON_SETS, one))
            elif (known["metadata"].get("annotations") or {}).get(TEMPLATE_MARK) != mark:
                change = {"metadata": one["metadata"], "spec": one["spec"]}
                await self._desk.guard(self._desk.patch(DAEMON_SETS, known, change))
        for name, one in have.items():
            if name not in wanted and not pods.deleting(one):
                await self._desk.delete(DAEMON_SETS, one)

    def _operands(self, policy: Json) -> list[Json]:
        return pods.owned(self._sets.objects(), policy)

    async def _tell(self, policy: Json, verdict: Verdict, namespace: str) -> None:
        """Write state and conditions, in two writes like the real one."""
        have = policy.get("status") or {}
        if have.get("state") != verdict.state or have.get("namespace") != namespace:
            status = {"state": verdict.state, "namespace": namespace}
            await self._desk.patch(CLUSTER_POLICIES, policy, {"status": status}, sub="status")
        rows = conditions(policy, verdict)
        if rows != (have.get("conditions") or []):
            await self._desk.patch(CLUSTER_POLICIES, policy, {"status": {"conditions": rows}}, sub="status")


def _is_operator(pod: Json) -> bool:
    labels = pod["metadata"].get("labels") or {}
    return all(labels.get(key) == value for key, value in OPERATOR_LABELS.items()) and not pods.deleting(pod)


def _age(policy: Json) -> tuple[str, str]:
    return policy["metadata"].get("creationTimestamp", ""), policy["metadata"]["name"]
