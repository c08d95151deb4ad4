"""Are the GPU nodes as the procedure expects them?"""

from state.gpu_workers import advertised, flavor_gpus, gpu_workers, other_accelerator
from state.policy import Policy
from state.reasons import Code, Reason, reason
from state.snapshot import Snapshot

_TOLERATED = "nvidia.com/gpu"  # the chart's default toleration of operands: this key, NoSchedule
_PASSING = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")  # set and lifted by Kubernetes itself


def workers_and_nodes_agree(snapshot: Snapshot, _policy: Policy) -> tuple[Reason, ...]:
    """Each GPU worker has a node that carries its id, and no two nodes claim one worker (B052)."""
    found = []
    for worker in gpu_workers(snapshot):
        nodes = [n for n in snapshot.kubernetes.nodes if n.worker_id == worker.id]
        if len(nodes) != 1 and not worker.leaving:
            found.append(reason(Code.NODE_WORKER_MISMATCH, worker=worker.id, node=", ".join(n.name for n in nodes)))
        elif nodes and worker.ip and nodes[0].name != worker.ip and nodes[0].name.replace(".", "").isdigit():
            found.append(reason(Code.NODE_WORKER_MISMATCH, worker=worker.id, node=nodes[0].name))
    return tuple(found)


def one_system(snapshot: Snapshot, _policy: Policy) -> tuple[Reason, ...]:
    """The operator takes the driver image of one arbitrary node: mixed systems make it flip (GPU Operator sheet 0.6)."""
    systems = {w.operating_system for w in gpu_workers(snapshot) if w.operating_system}
    return (reason(Code.MIXED_OS, systems=tuple(sorted(systems))),) if len(systems) > 1 else ()


def healthy(snapshot: Snapshot, _policy: Policy) -> tuple[Reason, ...]:
    """A GPU worker that is not well now would be blamed on us later."""
    return tuple(
        reason(Code.WORKER_UNHEALTHY, worker=w.id, state=w.state, health=w.health, message=w.message)
        for w in gpu_workers(snapshot)
        if not w.normal and not w.leaving
    )


def taints_tolerated(snapshot: Snapshot, policy: Policy) -> tuple[Reason, ...]:
    """Taints that keep operands (and NFD) off the node without a word (B009); chart values may add tolerations."""
    if policy.chart.values.get("daemonsets") or policy.chart.values.get("node-feature-discovery"):
        return ()
    found = []
    for worker in gpu_workers(snapshot):
        node = snapshot.node_of(worker.id)
        for taint in node.taints if node else ():
            ours = taint.key == _TOLERATED and taint.effect == "NoSchedule"
            if not ours and taint.effect != "PreferNoSchedule" and not taint.key.startswith(_PASSING):
                text = f"{taint.key}={taint.value}:{taint.effect}"
                found.append(reason(Code.TAINT_NOT_TOLERATED, node=node.name if node else "", taint=text))
    return tuple(found)


def other_accelerators(snapshot: Snapshot, _policy: Policy) -> tuple[Reason, ...]:
    return tuple(
        reason(Code.NOT_NVIDIA, worker=w.id, flavor=w.flavor)
        for w in snapshot.iks.workers
        if w.state != "deleted" and other_accelerator(w.flavor)
    )


def labels_without_gpus(snapshot: Snapshot, _policy: Policy) -> tuple[Reason, ...]:
    """Nodes that are labelled as GPU nodes but have none: shown, and left alone (B022)."""
    found = []
    for worker in snapshot.iks.workers:
        node = snapshot.node_of(worker.id)
        if node is None or flavor_gpus(worker.flavor) or advertised(node):
            continue
        if node.labels.get("nvidia.com/gpu.present") == "true":
            found.append(reason(Code.GPU_LABEL_WITHOUT_GPU, worker=worker.id, flavor=worker.flavor))
    return tuple(found)


def cordoned(snapshot: Snapshot, _policy: Policy) -> tuple[Reason, ...]:
    """Somebody closed a node before us: it stays closed after us (B091)."""
    nodes = (snapshot.node_of(w.id) for w in gpu_workers(snapshot))
    return tuple(
        reason(Code.ALREADY_CORDONED, node=n.name, by=n.cordoned_by) for n in nodes if n is not None and n.unschedulable
    )
