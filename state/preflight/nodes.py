"""Are the GPU nodes as the procedure expects them?"""

from collections.abc import Mapping

from state.gpu_workers import advertised, flavor_gpus, gpu_workers, old_gpu_nodes, other_accelerator
from state.policy import Policy
from state.reasons import Code, Reason, reason
from state.snapshot import Node, Snapshot, Worker
from state.tolerating import NFD_WORKER, OPERANDS, Toleration, lasting

UPGRADE_STATE = "nvidia.com/gpu-driver-upgrade-state"


def workers_and_nodes_agree(snapshot: Snapshot, _policy: Policy) -> tuple[Reason, ...]:
    """Each GPU worker has a node that carries its id, no two nodes claim one worker (B052), no GPU node is nobody's."""
    found = []
    for worker in gpu_workers(snapshot):
        nodes = [n for n in snapshot.kubernetes.nodes if n.worker_id == worker.id]
        if len(nodes) != 1 and not worker.leaving:
            found.append(reason(Code.NODE_WORKER_MISMATCH, worker=worker.id, node=", ".join(n.name for n in nodes)))
        elif nodes and worker.ip and nodes[0].name != worker.ip and nodes[0].name.replace(".", "").isdigit():
            found.append(reason(Code.NODE_WORKER_MISMATCH, worker=worker.id, node=nodes[0].name))
    known = {worker.id for worker in snapshot.iks.workers}
    strays = (n for n in snapshot.kubernetes.nodes if advertised(n) and n.worker_id not in known)
    return (*found, *(reason(Code.NODE_WORKER_MISMATCH, worker=n.worker_id, node=n.name) for n in strays))


def one_system(snapshot: Snapshot, _policy: Policy) -> tuple[Reason, ...]:
    """The operator takes the driver image of one arbitrary node: mixed systems make it flip (GPU Operator sheet 0.6)."""
    systems = {w.operating_system for w in gpu_workers(snapshot) if w.operating_system}
    return (reason(Code.MIXED_OS, systems=tuple(sorted(systems))),) if len(systems) > 1 else ()


def healthy(snapshot: Snapshot, _policy: Policy) -> tuple[Reason, ...]:
    """A GPU worker that is not well now would be blamed on us later; one without a version cannot be judged at all."""
    return tuple(
        reason(Code.WORKER_UNHEALTHY, worker=w.id, state=w.state, health=w.health, message=w.message or _version(w))
        for w in gpu_workers(snapshot)
        if not (w.normal and w.version) and not w.leaving
    )


def _version(worker: Worker) -> str:
    return "" if worker.version else "kubeVersion: -"


def taints_tolerated(snapshot: Snapshot, policy: Policy) -> tuple[Reason, ...]:
    """Taints that keep operands or the NFD worker off a node without a word (B009); chart values may tolerate more."""
    found: dict[tuple[str, str], str] = {}
    nodes = (snapshot.node_of(w.id) for w in gpu_workers(snapshot))
    for node in filter(None, nodes):
        for by, tolerations in _deployed(policy.chart.values):
            for taint in lasting(node, tolerations):
                found.setdefault((node.name, taint), by)
    return tuple(reason(Code.TAINT_NOT_TOLERATED, node=n, taint=t, by=by) for (n, t), by in found.items())


def _deployed(values: Mapping[str, object]) -> tuple[tuple[str, tuple[Toleration, ...]], ...]:
    """What the chart puts on every GPU node, with its tolerations; NFD only when the chart brings it."""
    operands = ("operands", _tolerations(values, ("daemonsets",)) or OPERANDS)
    worker = ("NFD worker", _tolerations(values, ("node-feature-discovery", "worker")) or NFD_WORKER)
    nfd = values.get("nfd")
    brought = not (isinstance(nfd, Mapping) and nfd.get("enabled") is False)
    return (operands, worker) if brought else (operands,)


def _tolerations(values: Mapping[str, object], path: tuple[str, ...]) -> tuple[Toleration, ...]:
    """A list of tolerations in chart values, where it replaces the chart's own; what cannot be read tolerates nothing."""
    found: object = values
    for name in (*path, "tolerations"):
        found = found.get(name) if isinstance(found, Mapping) else None
    rows = [row for row in found if isinstance(row, Mapping)] if isinstance(found, list | tuple) else []
    return tuple(
        (str(r.get("key", "")), str(r.get("operator") or "Equal"), str(r.get("value", "")), str(r.get("effect", "")))
        for r in rows
    )


def driver_upgrades(snapshot: Snapshot, policy: Policy) -> tuple[Reason, ...]:
    """Old GPU nodes on which the driver manager gave up: stop and ask (B013)."""
    return tuple(r for n in old_gpu_nodes(snapshot, policy.target_minor) for r in upgrade_failed(n))


def upgrade_failed(node: Node) -> tuple[Reason, ...]:
    """Only the failure is looked at: other values of this label prove nothing."""
    value = node.labels.get(UPGRADE_STATE, "")
    if value != "upgrade-failed":
        return ()
    return (reason(Code.UPGRADE_FAILED, node=node.name, label=f"{UPGRADE_STATE}={value}"),)


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
