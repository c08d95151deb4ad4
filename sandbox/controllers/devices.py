"""How many GPUs a kubelet shows for its node. Pure."""

from sandbox.controllers.nodes import GPU, flavor_of, has_host_driver
from sandbox.kubernetes_client import Json


def gpu_amounts(node: Json, *, plugin: bool | None, healthy: int | None) -> tuple[str, str] | None:
    """Capacity and allocatable of nvidia.com/gpu as they should read; None when nothing is to be shown.

    Args:
        node: the Node object.
        plugin: True when a device plugin of the operator is registered, False when one is there but is not,
            None when there is none.
        healthy: how many GPUs work at most; None for all.

    A plugin that went away leaves the capacity and takes all that was allocatable.
    """
    status = node.get("status") or {}
    shown = (status.get("capacity") or {}).get(GPU)
    total = flavor_of(node).gpus
    if plugin or (total and has_host_driver(node)):
        usable = total if healthy is None else min(total, max(0, healthy))
        return str(total), str(usable)
    return None if shown is None else (str(shown), "0")
