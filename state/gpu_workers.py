"""Tell which workers have NVIDIA GPUs, and how many.

By flavor first (IKS's own word), then by what the node advertises; never by a label alone (B022). Flavor names:
`gx3.48x240.2l40s` = two L40S; no digit means one (reference: IKS API sheet 2.4). Other makers' accelerators in the same
family (gaudi, mi300x) are named and left out.
"""

import re
from collections.abc import Mapping

from state.snapshot import Node, Snapshot, Worker
from state.versions import runs_minor

GPU = "nvidia.com/gpu"
_FLAVOR = re.compile(r"^gx\d+d?\.\d+x\d+\.(\d*)([a-z]+\d+[a-z]*)$")
_OTHER_MAKERS = re.compile(r"^(gaudi\d*|mi\d+[a-z]*)$")


def flavor_gpus(flavor: str) -> int:
    """GPUs that a flavor name promises; 0 for a flavor without (NVIDIA) GPUs."""
    match = _FLAVOR.match(flavor.strip().lower())
    if match is None or _OTHER_MAKERS.match(match[2]):
        return 0
    return int(match[1] or 1)


def other_accelerator(flavor: str) -> bool:
    """Tell whether a flavor has accelerators that are not NVIDIA's."""
    match = _FLAVOR.match(flavor.strip().lower())
    return match is not None and _OTHER_MAKERS.match(match[2]) is not None


def advertised(node: Node | None) -> Mapping[str, int]:
    """GPU resources of a node that are not zero."""
    return {name: count for name, count in node.allocatable.items() if count > 0} if node else {}


def has_gpus(worker: Worker, node: Node | None) -> bool:
    """Tell whether a worker is one of this migration's kind."""
    if other_accelerator(worker.flavor):
        return False
    return flavor_gpus(worker.flavor) > 0 or bool(advertised(node))


def gpu_workers(snapshot: Snapshot) -> tuple[Worker, ...]:
    """All GPU workers that are not gone, in the order IKS lists them."""
    return tuple(w for w in snapshot.iks.workers if w.state != "deleted" and has_gpus(w, snapshot.node_of(w.id)))


def running_version(worker: Worker, node: Node | None) -> str:
    """What a worker runs by IKS's word, else its kubelet's: a node may join before IKS tells; "" when nobody knows."""
    return worker.version or (node.kubelet_version if node else "")


def old_gpu_workers(snapshot: Snapshot, target_minor: str) -> tuple[Worker, ...]:
    """GPU workers that run something, but not the target, and are not leaving."""
    staying = ((w, running_version(w, snapshot.node_of(w.id))) for w in gpu_workers(snapshot) if not w.leaving)
    return tuple(w for w, version in staying if version and not runs_minor(version, target_minor))


def old_gpu_nodes(snapshot: Snapshot, target_minor: str) -> tuple[Node, ...]:
    """Their nodes, as far as they have one."""
    found = (snapshot.node_of(w.id) for w in old_gpu_workers(snapshot, target_minor))
    return tuple(node for node in found if node is not None)


def expected_gpus(flavor: str, before: Mapping[str, int]) -> Mapping[str, int]:
    """GPU resources that a successor must offer: as before, else what the flavor promises."""
    offered = {name: count for name, count in before.items() if count > 0}
    return offered or {GPU: max(flavor_gpus(flavor), 1)}
