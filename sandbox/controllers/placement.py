"""Which node a pod goes to, or why none will do: the decision of the scheduler, pure.

Order of the filters and wording of the reasons are those of kube-scheduler v1.36.2, recorded from a real control
plane. Per node only the first filter that refuses is heard; the resource filter alone may name several reasons.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from sandbox.controllers import pods, selectors, topology, volumes
from sandbox.controllers.quantities import quantity
from sandbox.kubernetes_client import Json

NO_NODES = "no nodes available to schedule pods"
GATED = "Scheduling is blocked due to non-empty scheduling gates"
UNSCHEDULABLE_TAINT = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
HARD_EFFECTS = ("NoSchedule", "NoExecute")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why one node will not do. `hopeless`: removing other pods from the node would not help."""

    text: str
    hopeless: bool = True


@dataclass(frozen=True, slots=True)
class World:
    """What a placement is judged against.

    Attributes:
        nodes: the Node objects.
        pods: all pods; those bound and not finished take room.
        storage: claims, volumes and classes.
        bound: pod uid -> node, for bindings younger than the copies.
    """

    nodes: tuple[Json, ...]
    pods: tuple[Json, ...]
    storage: volumes.Storage = field(default_factory=volumes.Storage)
    bound: Mapping[str, str] = field(default_factory=dict)

    def node_of(self, pod: Json) -> str:
        return pods.node_name(pod) or self.bound.get(pod["metadata"].get("uid", ""), "")

    def on(self, node: Json) -> list[Json]:
        name = node["metadata"]["name"]
        return [pod for pod in self.pods if self.node_of(pod) == name and not pods.finished(pod)]


@dataclass(frozen=True, slots=True)
class Placed:
    """The pod goes to `node`."""

    node: str


@dataclass(frozen=True, slots=True)
class Refused:
    """No node will do. `message`: the text of the event and of the PodScheduled condition.

    `contested`: nodes where lower-priority pods are the only obstacle.
    """

    message: str
    contested: tuple[str, ...] = ()


def place(pod: Json, world: World) -> Placed | Refused:
    """Choose the node for a pod without a node."""
    if not world.nodes:
        return Refused(NO_NODES)
    missing = volumes.unusable_claim(pod, world.storage)
    if missing:
        return Refused(f"0/{len(world.nodes)} nodes are available: {missing}. not found")
    refusals = {node["metadata"]["name"]: refusals_of(pod, node, world) for node in world.nodes}
    fitting = [node for node in world.nodes if not refusals[node["metadata"]["name"]]]
    if fitting:
        return Placed(min(fitting, key=lambda node: _rank(pod, node, world))["metadata"]["name"])
    return _refused(pod, refusals)


def refusals_of(pod: Json, node: Json, world: World) -> tuple[Refusal, ...]:
    """The reasons of the first filter that refuses the node; none when the pod fits."""
    return next((found for found in _filters(pod, node, world) if found), ())


def insufficient(pod: Json, node: Json, neighbours: Iterable[Json]) -> tuple[Refusal, ...]:
    """What the node lacks for the pod: a pod's place, cpu, memory, extended resources."""
    allocatable = {name: quantity(text) for name, text in ((node.get("status") or {}).get("allocatable") or {}).items()}
    others = [other for other in neighbours if other is not pod]
    used = pods.together(others)
    lacking = []
    if len(others) + 1 > allocatable.get("pods", Decimal(110)):
        lacking.append(Refusal("Too many pods", hopeless=False))
    for name, wanted in sorted(pods.requests(pod).items()):
        room = allocatable.get(name, Decimal("Infinity") if name in _UNBOUNDED else Decimal(0))
        if wanted > room - used.get(name, Decimal(0)):
            lacking.append(Refusal(f"Insufficient {name}", hopeless=wanted > room))
    return tuple(lacking)


_UNBOUNDED = ("ephemeral-storage",)  # a node that does not tell has enough


def _filters(pod: Json, node: Json, world: World) -> Iterator[tuple[Refusal, ...]]:
    spec, neighbours = pod["spec"], world.on(node)
    tolerations = pods.tolerations(spec)
    if node["spec"].get("unschedulable") and not selectors.tolerates(tolerations, UNSCHEDULABLE_TAINT):
        yield (Refusal("node(s) were unschedulable"),)
    taints = [taint for taint in node["spec"].get("taints") or () if taint.get("effect") in HARD_EFFECTS]
    if any(selectors.tolerates(tolerations, taint) is None for taint in taints):
        yield (Refusal("node(s) had untolerated taint(s)"),)
    if not selectors.node_wanted(spec, node):
        yield (Refusal("node(s) didn't match Pod's node affinity/selector"),)
    wanted_ports = pods.host_ports(pod)
    if any(wanted_ports & pods.host_ports(other) for other in neighbours):
        yield (Refusal("node(s) didn't have free ports for the requested pod ports", hopeless=False),)
    yield insufficient(pod, node, neighbours)
    if text := volumes.conflict(pod, node, world.storage):
        yield (Refusal(text),)
    located = [(other, world.node_of(other)) for other in world.pods if not pods.finished(other)]
    if text := topology.spread_conflict(pod, node, world.nodes, located):
        yield (Refusal(text, hopeless=False),)
    if text := topology.affinity_conflict(pod, node, world.nodes, located):
        yield (Refusal(text, hopeless=text == topology.UNMET),)


def _rank(pod: Json, node: Json, world: World) -> tuple[int, int, Decimal, str]:
    """Least is best: preferred affinity, fewest pods of the same owner, least used node (in tenths), then by name."""
    neighbours = world.on(node)
    allocatable = (node.get("status") or {}).get("allocatable") or {}
    used = pods.together(neighbours)
    share = Decimal(0)
    for name in ("cpu", "memory"):
        room = quantity(allocatable.get(name, "0"))
        share += used.get(name, Decimal(0)) / room if room else Decimal(0)
    owner = pods.controller_uid(pod)
    siblings = sum(pods.controller_uid(other) == owner for other in neighbours) if owner else 0
    return -selectors.preference(pod["spec"], node), siblings, round(share, 1), node["metadata"]["name"]


def _refused(pod: Json, refusals: Mapping[str, tuple[Refusal, ...]]) -> Refused:
    total = len(refusals)
    texts = Counter(refusal.text for found in refusals.values() for refusal in found)
    contested = tuple(name for name, found in refusals.items() if not any(one.hopeless for one in found))
    message = f"0/{total} nodes are available: {_histogram(texts)}. no new claims to deallocate, preemption: "
    if pod["spec"].get("preemptionPolicy") == "Never":
        return Refused(message + "not eligible due to preemptionPolicy=Never.")
    outlook = Counter(
        {
            "No preemption victims found for incoming pod": len(contested),
            "Preemption is not helpful for scheduling": total - len(contested),
        }
    )
    return Refused(message + f"0/{total} nodes are available: {_histogram(+outlook)}.", contested)


def _histogram(texts: Counter[str]) -> str:
    """Each text with how often it was said, in the order of the finished parts as text."""
    return ", ".join(sorted(f"{count} {text}" for text, count in texts.items()))
