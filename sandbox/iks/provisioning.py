"""The lives of workers: how one is ordered, built, joins its cluster, is deleted and forgotten.

Source: reference of the IKS API, sections 2.1 and 5. No HTTP here: handlers decide whether an order is accepted,
this module carries it out in the scenario's time.
"""

import asyncio

from sandbox.iks.cloud import Cloud, has_ibm_driver
from sandbox.iks.knobs import NewWorker
from sandbox.iks.model import Cluster, Pool, Worker, Zone
from sandbox.iks.ports import Machine
from sandbox.iks.versions import minor_of, worker_build


def replace(cloud: Cloud, cluster: Cluster, worker: Worker, *, update: bool) -> None:
    """Delete `worker` and make its successor; with `update` in the control plane's minor, else in the old one."""
    minor = minor_of(cluster.master.version if update else worker.build)
    build = worker_build(cloud.scenario, minor)
    if not cloud.knobs.visible_lag:
        _doom(worker, "worker_replace")
    cloud.background.start(_replace(cloud, cluster, worker, build), f"replace {worker.id}")


def remove(cloud: Cloud, cluster: Cluster, worker: Worker, reason: str) -> asyncio.Task[None]:
    """Delete `worker` without a successor."""
    _doom(worker, reason)
    worker.going = True
    return cloud.background.start(_delete(cloud, cluster, worker), f"delete {worker.id}")


def fill(cloud: Cloud, cluster: Cluster, pool: Pool) -> None:
    """Make the workers that `pool` lacks, in the control plane's minor."""
    build = worker_build(cloud.scenario, minor_of(cluster.master.version))
    for zone in pool.zones:
        for _ in range(zone.wanted - len(cluster.workers_of(pool, zone))):
            create(cloud, cluster, pool, zone, build)


def shrink(cloud: Cloud, cluster: Cluster, pool: Pool) -> None:
    """Delete the workers that `pool` has too many, newest first."""
    for zone in pool.zones:
        for worker in cluster.workers_of(pool, zone)[zone.wanted :]:
            remove(cloud, cluster, worker, "worker_pool_resize")


def create(cloud: Cloud, cluster: Cluster, pool: Pool, zone: Zone, build: str) -> Worker:
    """Order one new worker."""
    machine = cloud.successor(cluster, pool, zone)
    worker = Worker(machine.id, pool.id, zone.id, zone.subnet, pool.flavor, pool.operating_system, build)
    cluster.workers[worker.id] = worker
    cloud.note("worker.created", worker.id, cluster, pool=pool.name, build=build)
    cloud.background.start(_build(cloud, cluster, worker, machine.ip), f"build {worker.id}")
    return worker


def empty(cloud: Cloud, cluster: Cluster, pool: Pool) -> None:
    """Delete a pool with all its workers."""
    pool.state = pool.desired_state = "deleting"
    doomed = [remove(cloud, cluster, worker, "worker_pool_delete") for worker in cluster.workers_of(pool)]
    cloud.background.start(_forget_pool(cloud, cluster, pool, doomed), f"remove pool {pool.id}")


def _doom(worker: Worker, reason: str) -> None:
    worker.desired_state, worker.reason_for_delete = "deleted", reason


async def _replace(cloud: Cloud, cluster: Cluster, worker: Worker, build: str) -> None:
    await asyncio.sleep(cloud.knobs.visible_lag)
    if not worker.going:
        remove(cloud, cluster, worker, "worker_replace")
    match cloud.knobs.successor_after:
        case "delete":
            await cloud.pause("delete_starts", 1.25)
        case "deleted":
            await cloud.pause("delete_starts")
            await cloud.pause("worker_deleted", 1.05)
        case _:
            pass
    pool = cluster.pools[worker.pool]
    zone = pool.zone(worker.zone)
    if zone is None or pool.state != "active":
        return
    if not zone.autobalance:
        cloud.note("worker.not_refilled", worker.id, cluster, reason="autobalance is off")
        return
    create(cloud, cluster, pool, zone, build)


async def _delete(cloud: Cloud, cluster: Cluster, worker: Worker) -> None:
    worker.pending_operation = "delete"
    await cloud.pause("delete_starts")
    worker.say("deleting", "Deleting worker")
    worker.health, worker.health_message = "critical", "Not Ready"
    cloud.note("worker.deleting", worker.id, cluster)
    side = cloud.side(cluster)
    if worker.ip:
        await side.lost(worker.ip)
    node_gone = cloud.scenario.seconds("node_gone")
    await asyncio.sleep(node_gone)
    if worker.ip:
        await side.leave(worker.ip, worker.id)
    await asyncio.sleep(max(0.0, cloud.scenario.seconds("worker_deleted") - node_gone))
    worker.say("deleted", "")
    worker.pending_operation = ""
    cloud.note("worker.deleted", worker.id, cluster)
    await cloud.pause("deleted_listed")
    cluster.workers.pop(worker.id, None)


async def _forget_pool(cloud: Cloud, cluster: Cluster, pool: Pool, doomed: list[asyncio.Task[None]]) -> None:
    while any(worker.state != "deleted" for worker in cluster.workers.values() if worker.pool == pool.id):
        await cloud.pause("delete_starts", 0.1)
    pool.state = pool.desired_state = "deleted"
    cloud.note("pool.deleted", pool.id, cluster, name=pool.name)
    await asyncio.gather(*doomed, return_exceptions=True)


async def _build(cloud: Cloud, cluster: Cluster, worker: Worker, ip: str) -> None:
    knob = cloud.knobs.next_worker(cluster.name)
    for state, message, duration in (
        ("provision_pending", "Waiting to provision", "provision_pending"),
        ("provisioning", "Infrastructure instance status is 'pending'", "provisioning"),
        ("provisioned", "", "provisioned"),
        ("deploying", "Deploying", "deploying"),
    ):
        worker.say(state, message)
        if state == "provisioned":
            worker.ip = ip
        await cloud.pause(duration)
        if not worker.alive or _stopped(cloud, cluster, worker, knob):
            return
    worker.say("deployed", "")
    await cloud.side(cluster).join(machine_of(cluster, worker))
    await cloud.pause("node_ready")
    if worker.alive:
        worker.running_build, worker.health = worker.build, "unknown"
        await asyncio.sleep(max(0.0, cloud.scenario.seconds("health_normal") - cloud.scenario.seconds("node_ready")))
    if worker.alive:
        worker.health, worker.health_message = "normal", "Ready"
        cloud.note("worker.normal", worker.id, cluster, ip=worker.ip, build=worker.running_build)


def _stopped(cloud: Cloud, cluster: Cluster, worker: Worker, knob: NewWorker | None) -> bool:
    """Whether the worker stops here because a knob says so."""
    stops = {"provision_failed": "provisioning", "deploy_failed": "deploying"}
    if knob is None or stops.get(knob.state, knob.state) != worker.state:
        return False
    worker.say(knob.state, knob.message.replace("{flavor}", worker.flavor))
    if knob.state.endswith("failed"):
        worker.health = "critical"
    cloud.note(f"worker.{knob.state}", worker.id, cluster, message=worker.message)
    return True


def machine_of(cluster: Cluster, worker: Worker) -> Machine:
    """Describe the worker as the node it becomes: pool labels and taints come along, nothing else does."""
    pool = cluster.pools[worker.pool]
    return Machine(
        worker_id=worker.id,
        ip=worker.ip,
        flavor=worker.flavor,
        version=worker.build,
        pool_id=pool.id,
        pool_name=pool.name,
        zone=worker.zone,
        region=cluster.seed.region,
        operating_system=worker.operating_system,
        labels=dict(pool.labels),
        taints=dict(pool.taints),
        preinstalled=has_ibm_driver(cluster, worker),
    )
