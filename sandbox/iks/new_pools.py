"""Endpoints that make worker pools and give them zones (reference of the IKS API, sections 0.5 and 1.5)."""

from typing import Any

from sandbox.iks import provisioning
from sandbox.iks.calls import Answer, Call, Route
from sandbox.iks.cloud import Cloud
from sandbox.iks.estate import FLAVORS, zone_ids
from sandbox.iks.model import Cluster, Pool, Zone
from sandbox.iks.refusals import bad_request, busy, no_pool

REMEMBERED = ("workerVolumeEncryption", "secondaryStorageOption", "entitlement", "diskEncryption", "securityGroupIDs")
OPERATING_SYSTEMS = ("UBUNTU_24_64",)


def _create(call: Call) -> Answer:
    """Make the pool at once; its worker rows appear `pool_rows` later, and none at all without a zone."""
    cluster = call.cluster()
    name, flavor = call.need("name"), call.need("flavor")
    if cluster.pool(name) is not None:
        raise busy(f"A worker pool with the name {name!r} already exists in the cluster.")
    if flavor not in FLAVORS:
        raise bad_request(f"The specified flavor {flavor!r} could not be found.")
    if call.need("vpcID") != cluster.seed.vpc:
        raise bad_request("The specified VPC does not match the VPC of the cluster.")
    system = call.text("operatingSystem") or OPERATING_SYSTEMS[0]
    if system not in OPERATING_SYSTEMS:
        raise bad_request(f"The operating system {system!r} is not supported for this cluster version.")
    count = call.number("workerCount")
    zones = [_zone(cluster, row, count) for row in _rows(call)]
    pool = Pool(call.cloud.pool_id(cluster), name, flavor, cluster.seed.vpc, zones, system, call.texts("labels"))
    pool.extra = {"workerCount": count, **{key: call.body[key] for key in REMEMBERED if key in call.body}}
    cluster.pools[pool.id] = pool
    call.cloud.background.start(_populate(call.cloud, cluster, pool), f"populate {pool.id}")
    effect = {"name": name, "zones": [zone.id for zone in zones], "workerCount": count}
    return Answer(201, {"workerPoolID": pool.id}, cluster.name, pool.id, effect)


def _add_zone(call: Call) -> Answer:
    cluster = call.cluster()
    pool = cluster.pool(call.need("workerpool", "workerPoolID"))
    if pool is None:
        raise no_pool()
    zone = _zone(cluster, {"id": call.need("id"), "subnetID": call.need("subnetID")}, pool.extra.get("workerCount", 1))
    if pool.zone(zone.id) is not None:
        raise busy(f"The zone {zone.id} is already part of the worker pool.")
    pool.zones.append(zone)
    call.cloud.background.start(_populate(call.cloud, cluster, pool), f"populate {pool.id}")
    return Answer(201, {}, cluster.name, pool.id, {"name": pool.name, "zone": zone.id})


def _remove_zone(call: Call) -> Answer:
    cluster = call.cluster()
    pool = call.pool(cluster)
    zone = pool.zone(call.need("zone"))
    if zone is None:
        raise bad_request("The specified zone is not part of the worker pool.")
    for worker in cluster.workers_of(pool, zone):
        provisioning.remove(call.cloud, cluster, worker, "zone_delete")
    pool.zones.remove(zone)
    return Answer(204, None, cluster.name, pool.id, {"name": pool.name, "zone": zone.id})


async def _populate(cloud: Cloud, cluster: Cluster, pool: Pool) -> None:
    await cloud.pause("pool_rows")
    if pool.state == "active":
        provisioning.fill(cloud, cluster, pool)


def _rows(call: Call) -> list[dict[str, Any]]:
    rows = call.body.get("zones") or []
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise bad_request("The property 'zones' must be a list of objects.")
    return rows


def _zone(cluster: Cluster, row: dict[str, Any], count: int) -> Zone:
    zone, subnet = row.get("id"), row.get("subnetID")
    if zone not in zone_ids(cluster.seed.region):
        raise bad_request(f"The specified zone {zone!r} could not be found.")
    if not isinstance(subnet, str) or not subnet:
        raise bad_request(f"A subnet ID is required for the zone {zone!r}.")
    return Zone(str(zone), subnet, count)


ROUTES = (
    Route("POST", "/v2/vpc/createWorkerPool", _create, "createWorkerPool"),
    Route("POST", "/v2/vpc/createWorkerPoolZone", _add_zone, "createWorkerPoolZone"),
    Route("POST", "/v2/removeWorkerPoolZone", _remove_zone, "removeWorkerPoolZone"),
)
