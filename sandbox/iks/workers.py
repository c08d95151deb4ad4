"""Endpoints of workers (reference of the IKS API, sections 1.4 and 2.1)."""

from sandbox.iks import provisioning
from sandbox.iks.calls import Answer, Call, Route
from sandbox.iks.model import Cluster, Worker
from sandbox.iks.refusals import bad_request, busy
from sandbox.iks.rows import worker_row

REBUILDING = ("deploying", "provisioning", "provisioned", "provision_pending")


def _list(call: Call) -> Answer:
    cluster = call.cluster()
    pool = call.pool(cluster).id if call.text("pool", "workerpool") else ""
    shown = [
        worker
        for worker in cluster.workers.values()
        if pool in ("", worker.pool) and (worker.state != "deleted" or call.flag("showDeleted"))
    ]
    return Answer(body=[worker_row(call.cloud.scenario, cluster, worker) for worker in shown])


def _get(call: Call) -> Answer:
    cluster = call.cluster()
    return Answer(body=worker_row(call.cloud.scenario, cluster, call.worker(cluster)))


def _replace(call: Call) -> Answer:
    cluster, worker = _free_worker(call)
    provisioning.replace(call.cloud, cluster, worker, update=call.flag("update"))
    return Answer(204, cluster=cluster.name, target=worker.id, effect={"pool": worker.pool, "build": worker.build})


def _remove(call: Call) -> Answer:
    """Delete one worker; the price is that the pool's automatic rebalancing is off from now on."""
    cluster, worker = _free_worker(call)
    zone = cluster.pools[worker.pool].zone(worker.zone)
    if zone is not None:
        zone.autobalance = False
    provisioning.remove(call.cloud, cluster, worker, "worker_delete")
    return Answer(204, cluster=cluster.name, target=worker.id, effect={"autobalance": False})


def _free_worker(call: Call) -> tuple[Cluster, Worker]:
    """Find the worker an order is for; refuse it while another operation runs on that worker."""
    cluster = call.cluster()
    worker = call.worker(cluster)
    if worker.going or not worker.alive:
        raise busy(f"The worker node {worker.id} is being deleted. No other operation is accepted.")
    if worker.state in REBUILDING and not worker.running_build:
        raise busy(f"The worker node {worker.id} is being provisioned. Wait until the operation is complete.")
    return cluster, worker


def _act_v1(call: Call) -> Answer:
    """Refuse reboot, reload and update: they exist for classic workers only."""
    call.worker(call.cluster())
    raise bad_request("This operation is not supported for VPC worker nodes.")


ROUTES = (
    Route("GET", "/v2/vpc/getWorkers", _list),
    Route("GET", "/v2/getWorkers", _list),
    Route("GET", "/v2/vpc/getWorker", _get),
    Route("GET", "/v2/getWorker", _get),
    Route("POST", "/v2/vpc/replaceWorker", _replace, "replaceWorker"),
    Route("POST", "/v2/replaceWorker", _replace, "replaceWorker"),
    Route("POST", "/v2/removeWorker", _remove, "removeWorker"),
    Route("DELETE", "/v1/clusters/{cluster}/workers/{worker}", _remove, "removeWorker"),
    Route("PUT", "/v1/clusters/{cluster}/workers/{worker}", _act_v1, "updateWorker"),
)
