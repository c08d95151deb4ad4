"""Endpoints that read and change worker pools (reference of the IKS API, sections 1.5, 2.5 and 2.7)."""

from sandbox.iks import provisioning
from sandbox.iks.calls import Answer, Call, Route
from sandbox.iks.model import Cluster, Pool
from sandbox.iks.refusals import bad_request, busy
from sandbox.iks.rows import pool_row

SYSTEM_LABEL = "ibm-cloud.kubernetes.io/"
SMALLEST_CLUSTER = 1


def _list(call: Call) -> Answer:
    cluster = call.cluster()
    return Answer(body=[pool_row(cluster, pool) for pool in cluster.pools.values() if pool.state != "deleted"])


def _get(call: Call) -> Answer:
    cluster = call.cluster()
    return Answer(body=pool_row(cluster, call.pool(cluster)))


def _remove(call: Call) -> Answer:
    cluster = call.cluster()
    pool = call.pool(cluster)
    if pool.state == "deleting":
        raise busy("The worker pool is being deleted.")
    members = cluster.workers_of(pool)
    unsettled = [w for w in cluster.workers.values() if w.pool == pool.id and w.going and w.state != "deleted"]
    building = [w for w in members if w.state.startswith(("provision", "deploying")) and not w.state.endswith("failed")]
    if len(cluster.alive()) - len(members) < SMALLEST_CLUSTER or unsettled or building:
        raise bad_request(
            "The worker pool cannot be removed: the cluster would fall below its minimum number of workers, or "
            "operations on its workers are pending and need time to complete.",
            "E1437",
        )
    provisioning.empty(call.cloud, cluster, pool)
    return _answer(204, cluster, pool, workers=[worker.id for worker in members])


def _resize(call: Call) -> Answer:
    cluster = call.cluster()
    pool = _changeable(call, cluster)
    size = call.number("sizePerZone" if "sizePerZone" in call.body else "size")
    others = len(cluster.alive()) - len(cluster.workers_of(pool))
    if others + size * len(pool.zones) < SMALLEST_CLUSTER:
        raise bad_request("The cluster would fall below its minimum number of workers.", "E1437")
    for zone in pool.zones:
        zone.wanted = size
    provisioning.shrink(call.cloud, cluster, pool)
    provisioning.fill(call.cloud, cluster, pool)
    return _answer(202, cluster, pool, size=size)


def _rebalance(call: Call) -> Answer:
    """Bring back what is missing; turns automatic rebalancing on again."""
    cluster = call.cluster()
    pool = _changeable(call, cluster)
    for zone in pool.zones:
        zone.autobalance = True
    provisioning.fill(call.cloud, cluster, pool)
    return _answer(204, cluster, pool)


def _label(call: Call) -> Answer:
    """Replace all custom labels, on the workers there are and on those to come."""
    cluster = call.cluster()
    pool = _changeable(call, cluster)
    labels = call.texts("labels")
    if any(key.startswith(SYSTEM_LABEL) for key in labels if key not in _own_labels(pool)):
        raise bad_request("System labels cannot be changed.")
    wanted = {key: value for key, value in labels.items() if not key.startswith(SYSTEM_LABEL)}
    change: dict[str, str | None] = {**dict.fromkeys(pool.labels), **wanted}
    pool.labels = wanted
    for worker in cluster.workers_of(pool):
        if worker.state == "deployed":
            call.cloud.background.start(call.cloud.side(cluster).relabel(worker.ip, change), f"label {worker.id}")
    return _answer(204, cluster, pool, labels=wanted)


def _taint(call: Call) -> Answer:
    """Replace all taints, on the workers there are and on those to come."""
    cluster = call.cluster()
    pool = _changeable(call, cluster)
    side, old = call.cloud.side(cluster), pool.taints
    pool.taints = call.texts("taints")
    for worker in cluster.workers_of(pool):
        if worker.state == "deployed":
            call.cloud.background.start(side.retaint(worker.ip, pool.taints, old), f"taint {worker.id}")
    return _answer(204, cluster, pool, taints=pool.taints)


def _operating_system(call: Call) -> Answer:
    cluster = call.cluster()
    pool = _changeable(call, cluster)
    pool.operating_system = call.need("operatingSystem")
    return _answer(202, cluster, pool, operatingSystem=pool.operating_system)


def _patch_v1(call: Call) -> Answer:
    """Do what `state` of a v1 PATCH asks for."""
    actions = {"resizing": _resize, "rebalancing": _rebalance, "labels": _label}
    state = call.need("state")
    if state not in actions:
        raise bad_request(f"The state {state!r} is not supported.")
    return actions[state](call)


def _changeable(call: Call, cluster: Cluster) -> Pool:
    pool = call.pool(cluster)
    if pool.state != "active":
        raise busy("The worker pool is being deleted.")
    if pool.extra.get("autoscaleEnabled") and ("size" in call.body or "sizePerZone" in call.body):
        raise busy("The worker pool is managed by the cluster autoscaler.")
    return pool


def _own_labels(pool: Pool) -> tuple[str, ...]:
    """Name the system labels that a caller may send back unchanged, as reading the pool gave them."""
    return (f"{SYSTEM_LABEL}worker-pool-id", *pool.labels)


def _answer(status: int, cluster: Cluster, pool: Pool, **effect: object) -> Answer:
    return Answer(status, cluster=cluster.name, target=pool.id, effect={"name": pool.name, **effect})


ROUTES = (
    Route("GET", "/v2/vpc/getWorkerPools", _list),
    Route("GET", "/v2/getWorkerPools", _list),
    Route("GET", "/v2/vpc/getWorkerPool", _get),
    Route("GET", "/v2/getWorkerPool", _get),
    Route("POST", "/v2/removeWorkerPool", _remove, "removeWorkerPool"),
    Route("DELETE", "/v1/clusters/{cluster}/workerpools/{pool}", _remove, "removeWorkerPool"),
    Route("POST", "/v2/resizeWorkerPool", _resize, "resizeWorkerPool"),
    Route("PATCH", "/v1/clusters/{cluster}/workerpools/{pool}", _patch_v1, "patchWorkerPool"),
    Route("POST", "/v2/rebalanceWorkerPool", _rebalance, "rebalanceWorkerPool"),
    Route("POST", "/v2/setWorkerPoolLabels", _label, "setWorkerPoolLabels"),
    Route("POST", "/v2/setWorkerPoolTaints", _taint, "setWorkerPoolTaints"),
    Route("POST", "/v2/setWorkerPoolOperatingSystem", _operating_system, "setWorkerPoolOperatingSystem"),
)
