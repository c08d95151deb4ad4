"""Which pods of lower priority would have to go for a pod to fit. Pure.

Simplified against kube-scheduler: on each node the least important pods are tried first, one by one; the node that
needs the fewest wins. Disruption budgets are not looked at: there, too, they only order the choice.
"""

from dataclasses import replace

from sandbox.controllers import pods
from sandbox.controllers.placement import World, refusals_of
from sandbox.kubernetes_client import Json


def victims(pod: Json, contested: tuple[str, ...], world: World) -> tuple[str, tuple[Json, ...]] | None:
    """The node to free and the pods to remove from it; None when nothing helps or is allowed.

    None, too, while pods are already leaving a contested node: their room is waited for.
    """
    if pod["spec"].get("preemptionPolicy") == "Never" or _leaving(pod, world):
        return None
    choices = []
    for node in world.nodes:
        if node["metadata"]["name"] in contested:
            found = _on_node(pod, node, world)
            if found:
                choices.append((len(found), node["metadata"]["name"], found))
    if not choices:
        return None
    _, name, found = min(choices, key=lambda row: row[:2])
    return name, found


def _on_node(pod: Json, node: Json, world: World) -> tuple[Json, ...]:
    lesser = [other for other in world.on(node) if pods.priority(other) < pods.priority(pod)]
    lesser.sort(key=lambda other: (pods.priority(other), other["metadata"].get("creationTimestamp", "")))
    for count in range(1, len(lesser) + 1):
        gone = {one["metadata"]["uid"] for one in lesser[:count]}
        rest = tuple(other for other in world.pods if other["metadata"]["uid"] not in gone)
        if not refusals_of(pod, node, replace(world, pods=rest)):
            return tuple(lesser[:count])
    return ()


def _leaving(pod: Json, world: World) -> bool:
    nominated = (pod.get("status") or {}).get("nominatedNodeName")
    return nominated is not None and any(
        pods.deleting(other) and world.node_of(other) == nominated and pods.priority(other) < pods.priority(pod)
        for other in world.pods
    )
