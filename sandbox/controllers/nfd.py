"""Node feature discovery: workers tell what a node is in NodeFeature objects, the master makes labels of them.

GPU feature discovery goes the same way: it leaves its labels to the NFD worker of its node.
"""

import time

from sandbox.controllers import pods
from sandbox.controllers.afflictions import Kind
from sandbox.controllers.desk import Desk
from sandbox.controllers.feature_labels import gpu_labels, system_labels
from sandbox.controllers.resources import NODE_FEATURES, NODES, PODS
from sandbox.controllers.scripts import is_driver
from sandbox.kubernetes_client import Json

NFD_NAME = ("app.kubernetes.io/name", "node-feature-discovery")
NODE_LABEL = "nfd.node.kubernetes.io/node-name"
MANAGED = "nfd.node.kubernetes.io/feature-labels"
WORKER_VERSION = "nfd.node.kubernetes.io/worker.version"
GFD_APP = "gpu-feature-discovery"
HOST_DRIVER_VERSION = "570.195.03"
GFD_SECONDS = 5.0  # as in life, from GFD being ready to its labels


class Nfd:
    """Workers, master and garbage collection."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._nodes = desk.mirror(NODES)
        self._pods = desk.mirror(PODS)
        self._features = desk.mirror(NODE_FEATURES)
        self._since: dict[str, float] = {}  # pod uid -> since when it is ready

    async def reconcile(self) -> float | None:
        """Let every ready worker report and the master label; returns the seconds until the next report."""
        now = time.monotonic()
        wakes: list[float] = []
        roles: dict[str, list[Json]] = {"worker": [], "master": [], "gc": [], "prune": [], GFD_APP: []}
        for pod in self._pods.objects():
            roles.setdefault(_role(pod), []).append(pod)
        ready = [pod for role in ("worker", GFD_APP) for pod in roles[role] if pods.ready(pod)]
        self._since = {pod["metadata"]["uid"]: self._since.get(pod["metadata"]["uid"], now) for pod in ready}
        for worker in roles["worker"]:
            if worker in ready:
                wakes += await self._report(worker, roles[GFD_APP], now)
        if any(pods.ready(pod) for pod in roles["master"]):
            await self._label()
        if any(pods.ready(pod) for pod in roles["gc"]):
            await self._sweep()
        if any(pods.phase(pod) in ("Running", "Succeeded") for pod in roles["prune"]):
            await self._prune()
        return max(0.0, min(wakes) - now) if wakes else None

    async def _report(self, worker: Json, discoverers: list[Json], now: float) -> list[float]:
        node = self._nodes.get(pods.node_name(worker))
        if node is None:
            return []
        lag = max(0.0, self._desk.seconds("nfd") - self._desk.seconds("pod_start"))
        due = self._since[worker["metadata"]["uid"]] + lag
        if now < due:
            return [due]
        labels = system_labels(node, blind=self._desk.afflictions.on_node(Kind.NFD_BLIND, node) is not None)
        wakes = []
        for pod in discoverers:
            if pods.node_name(pod) == node["metadata"]["name"] and pod["metadata"]["uid"] in self._since:
                told = self._since[pod["metadata"]["uid"]] + self._desk.scaled(GFD_SECONDS)
                if now < told:
                    wakes.append(told)
                else:
                    labels |= gpu_labels(node, self._driver_version(node))
        await self._write(worker, node, labels)
        return wakes

    def _driver_version(self, node: Json) -> str:
        """The version in the tag of the driver pod's image on the node; IBM's own where there is none."""
        for pod in self._pods.objects():
            here = pods.node_name(pod) == node["metadata"]["name"]
            if here and is_driver(pod) and pods.ready(pod):
                return str(pod["spec"]["containers"][0]["image"].rpartition(":")[2].partition("-")[0])
        return HOST_DRIVER_VERSION

    async def _write(self, worker: Json, node: Json, labels: dict[str, str]) -> None:
        name, namespace = node["metadata"]["name"], worker["metadata"]["namespace"]
        known = self._features.get(name, namespace)
        version = worker["spec"]["containers"][0]["image"].rpartition(":")[2]
        if known is None:
            feature: Json = {
                "apiVersion": "nfd.k8s-sigs.io/v1alpha1",
                "kind": "NodeFeature",
                "metadata": {
                    "name": name,
                    "namespace": namespace,
                    "labels": {NODE_LABEL: name},
                    "annotations": {WORKER_VERSION: version},
                },
                "spec": {"labels": labels, "features": {"flags": {}, "attributes": {}, "instances": {}}},
            }
            await self._desk.create(NODE_FEATURES, feature)
            return
        told = (known.get("spec") or {}).get("labels") or {}
        if {**told, **_times(labels)} != labels:
            gone = dict.fromkeys(key for key in told if key not in labels)
            await self._desk.patch(NODE_FEATURES, known, {"spec": {"labels": {**gone, **labels}}})

    async def _label(self) -> None:
        for node in self._nodes.objects():
            name = node["metadata"]["name"]
            told = [
                one for one in self._features.objects() if (one["metadata"].get("labels") or {}).get(NODE_LABEL) == name
            ]
            wanted = {
                key: value for one in told for key, value in ((one.get("spec") or {}).get("labels") or {}).items()
            }
            annotations = node["metadata"].get("annotations") or {}
            managed = [key for key in annotations.get(MANAGED, "").split(",") if key]
            have = node["metadata"].get("labels") or {}
            change: dict[str, str | None] = {key: value for key, value in wanted.items() if have.get(key) != value}
            change |= {key: None for key in managed if key not in wanted and key in have}
            if change or sorted(wanted) != sorted(managed):
                metadata = {"labels": change, "annotations": {MANAGED: ",".join(sorted(wanted)) or None}}
                await self._desk.guard(self._desk.patch(NODES, node, {"metadata": metadata}))

    async def _prune(self) -> None:
        """Take all labels away that NFD has made, as the job does that follows an uninstallation."""
        for node in self._nodes.objects():
            made = (node["metadata"].get("annotations") or {}).get(MANAGED)
            if made is not None:
                metadata = {"labels": dict.fromkeys(made.split(",")), "annotations": {MANAGED: None}}
                await self._desk.patch(NODES, node, {"metadata": metadata})

    async def _sweep(self) -> None:
        names = {node["metadata"]["name"] for node in self._nodes.objects()}
        for feature in self._features.objects():
            if (feature["metadata"].get("labels") or {}).get(NODE_LABEL) not in names:
                await self._desk.delete(NODE_FEATURES, feature)


def _role(pod: Json) -> str:
    labels = pod["metadata"].get("labels") or {}
    if labels.get("app") == GFD_APP:
        return GFD_APP
    return str(labels.get("role", "")) if labels.get(NFD_NAME[0]) == NFD_NAME[1] else ""


def _times(labels: dict[str, str]) -> dict[str, str]:
    """The labels that only tell when; a new time alone is not worth a write."""
    return {key: value for key, value in labels.items() if key.endswith("timestamp")}
