"""The DaemonSet controller: one pod on every node that wants one.

As recorded from a control plane v1.36.2: a cordon changes nothing; a NoSchedule taint lets running pods stay and
counts them, but replaces none; a node that lost the selector's label loses the pod.
"""

from sandbox.controllers import pods, selectors
from sandbox.controllers.desk import Desk
from sandbox.controllers.resources import DAEMON_SETS, NODES, PODS
from sandbox.controllers.templates import GENERATION_LABEL, REVISION_LABEL, pod_from, share, template_hash
from sandbox.kubernetes_client import Json

SPEAKER = "daemonset-controller"
AUTOMATIC_TOLERATIONS: tuple[Json, ...] = (
    {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"},
    {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute"},
    {"key": "node.kubernetes.io/disk-pressure", "operator": "Exists", "effect": "NoSchedule"},
    {"key": "node.kubernetes.io/memory-pressure", "operator": "Exists", "effect": "NoSchedule"},
    {"key": "node.kubernetes.io/pid-pressure", "operator": "Exists", "effect": "NoSchedule"},
    {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"},
)


class DaemonSets:
    """All DaemonSets."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._sets = desk.mirror(DAEMON_SETS)
        self._nodes = desk.mirror(NODES)
        self._pods = desk.mirror(PODS)

    async def reconcile(self) -> float | None:
        """Create and delete pods per node, roll the template out, tell the status."""
        everything, nodes = self._pods.objects(), self._nodes.objects()
        for one in self._sets.objects():
            if not pods.deleting(one):
                await self._desk.guard(self._reconcile(one, pods.owned(everything, one), nodes))
        return None

    async def _reconcile(self, one: Json, mine: list[Json], nodes: tuple[Json, ...]) -> None:
        by_node: dict[str, list[Json]] = {}
        for pod in mine:
            by_node.setdefault(target(pod), []).append(pod)
        for node in nodes:
            here = by_node.get(node["metadata"]["name"], [])
            runs, stays = eligible(one, node)
            if runs and not here:
                await self._desk.create_pod(one, daemon_pod(one, node), SPEAKER)
            surplus = [pod for pod in here if pods.finished(pod)]
            alive = sorted((pod for pod in here if pods.active(pod)), key=_oldest)
            surplus += alive[1:] if stays else alive
            await self._delete(one, [pod for pod in surplus if not pods.deleting(pod)])
        await self._roll(one, mine)
        await self._tell(one, mine, nodes)

    async def _delete(self, one: Json, surplus: list[Json]) -> None:
        for pod in surplus:
            await self._desk.delete(PODS, pod)
            text = f"Deleted pod: {pod['metadata']['name']}"
            await self._desk.event(one, "SuccessfulDelete", text, component=SPEAKER)

    async def _roll(self, one: Json, mine: list[Json]) -> None:
        """Replace pods of an older template, as many at a time as may be missing; never with OnDelete."""
        strategy = one["spec"].get("updateStrategy") or {}
        if strategy.get("type", "RollingUpdate") != "RollingUpdate":
            return
        limit = (strategy.get("rollingUpdate") or {}).get("maxUnavailable")
        allowed = max(1, share(limit, len(mine), up=True, default=1))
        old = [pod for pod in mine if not updated(one, pod) and pods.active(pod)]
        missing = sum(not pods.ready(pod) for pod in mine)
        unready = [pod for pod in old if not pods.ready(pod)]
        ready = [pod for pod in old if pods.ready(pod)]
        await self._delete(one, unready + ready[: max(0, allowed - missing)])

    async def _tell(self, one: Json, mine: list[Json], nodes: tuple[Json, ...]) -> None:
        status = status_of(one, mine, nodes)
        have = one.get("status") or {}
        if any((have.get(key) or 0) != (value or 0) for key, value in status.items()):
            await self._desk.patch(DAEMON_SETS, one, {"status": status}, sub="status")


def eligible(one: Json, node: Json) -> tuple[bool, bool]:
    """Whether the node shall get a pod, and whether a pod that is there may stay."""
    spec = one["spec"]["template"]["spec"]
    if not selectors.node_wanted(spec, node):
        return False, False
    allowed = (*pods.tolerations(spec), *AUTOMATIC_TOLERATIONS)
    open_ = [taint for taint in node["spec"].get("taints") or () if selectors.tolerates(allowed, taint) is None]
    runs = not any(taint.get("effect") in ("NoSchedule", "NoExecute") for taint in open_)
    return runs, not any(taint.get("effect") == "NoExecute" for taint in open_)


def daemon_pod(one: Json, node: Json) -> Json:
    """The pod of a DaemonSet for one node: bound by affinity to its name, tolerant of what nodes suffer."""
    generation = str(one["metadata"].get("generation", 1))
    labels = {REVISION_LABEL: template_hash(one["spec"]["template"]), GENERATION_LABEL: generation}
    pod = pod_from(one, labels)
    field = {"key": "metadata.name", "operator": "In", "values": [node["metadata"]["name"]]}
    affinity = dict(pod["spec"].get("affinity") or {})
    affinity["nodeAffinity"] = {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields": [field]}]}
    }
    pod["spec"]["affinity"] = affinity
    written = list(pods.tolerations(pod["spec"]))
    pod["spec"]["tolerations"] = written + [one for one in AUTOMATIC_TOLERATIONS if one not in written]
    return pod


def target(pod: Json) -> str:
    """The node a DaemonSet's pod is on, or is meant for."""
    if pods.node_name(pod):
        return pods.node_name(pod)
    for term in selectors.required_node_terms(pod["spec"]) or ():
        for field in term.get("matchFields") or ():
            if field.get("key") == "metadata.name":
                return str(field["values"][0])
    return ""


def updated(one: Json, pod: Json) -> bool:
    """Whether the pod was made from the present template."""
    return bool(pod["metadata"].get("labels", {}).get(REVISION_LABEL) == template_hash(one["spec"]["template"]))


def status_of(one: Json, mine: list[Json], nodes: tuple[Json, ...]) -> Json:
    """The numbers of a DaemonSet. Zeros that a real server leaves out are None."""
    here = {target(pod): pod for pod in mine if not pods.finished(pod)}
    desired = current = fresh = is_ready = misplaced = 0
    for node in nodes:
        pod = here.get(node["metadata"]["name"])
        runs, stays = eligible(one, node)
        wanted = runs or (stays and pod is not None)
        desired += wanted
        misplaced += pod is not None and not wanted
        if wanted and pod is not None:
            current += 1
            is_ready += pods.ready(pod)
            fresh += updated(one, pod)
    return {
        "desiredNumberScheduled": desired,
        "currentNumberScheduled": current,
        "numberMisscheduled": misplaced,
        "numberReady": is_ready,
        "updatedNumberScheduled": fresh or None,
        "numberAvailable": is_ready or None,
        "numberUnavailable": (desired - is_ready) or None,
        "observedGeneration": one["metadata"].get("generation", 1),
    }


def _oldest(pod: Json) -> tuple[bool, str]:
    return not pods.ready(pod), pod["metadata"].get("creationTimestamp", "")
