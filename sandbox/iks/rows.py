"""IBM's JSON of clusters, pools and workers, field by field.

Only shapes: nothing here decides or remembers. Source: reference of the IKS API, sections 1.1, 1.4, 1.5 and 5.
"""

from typing import Any

from sandbox.iks.model import Cluster, Pool, Worker, Zone, stamp
from sandbox.iks.versions import master_build, minor_of, newest, worker_build
from sandbox.scenario import Scenario

PENDING = " (pending)"
ACCOUNT = "a/0123456789abcdef0123456789abcdef"


def cluster_summary(scenario: Scenario, cluster: Cluster, url: str) -> dict[str, Any]:
    """Row of a list: v2 lists return fewer fields than v2 gets."""
    left_out = ("ingress", "features", "addons", "podSubnet", "serviceSubnet", "virtualPrivateEndpointURL")
    return {key: value for key, value in cluster_row(scenario, cluster, url).items() if key not in left_out}


def cluster_row(scenario: Scenario, cluster: Cluster, url: str) -> dict[str, Any]:
    """Answer of getCluster."""
    return {**_identity(cluster), **_health(cluster), **_control_plane(scenario, cluster, url), **_contents(cluster)}


def _identity(cluster: Cluster) -> dict[str, Any]:
    seed = cluster.seed
    return {
        "id": cluster.id,
        "name": cluster.name,
        "crn": f"crn:v1:bluemix:public:containers-kubernetes:{seed.region}:{ACCOUNT}:{cluster.id}::",
        "region": seed.region,
        "location": "Dallas",
        "dataCenter": "dal10",
        "resourceGroup": seed.resource_group,
        "resourceGroupName": seed.resource_group_name,
        "provider": "vpc-gen2",
        "type": "kubernetes",
        "isPaid": True,
        "createdDate": stamp(cluster.created_at),
    }


def _control_plane(scenario: Scenario, cluster: Cluster, url: str) -> dict[str, Any]:
    master = cluster.master
    return {
        "masterKubeVersion": f"{master.pending}{PENDING}" if master.pending else master.version,
        "targetVersion": _master_target(scenario, cluster),
        "versionEOS": "",
        "masterURL": url,
        "serverURL": "",
        "serviceEndpoints": {
            "privateServiceEndpointEnabled": True,
            "privateServiceEndpointURL": url,
            "publicServiceEndpointEnabled": True,
            "publicServiceEndpointURL": url,
        },
        "virtualPrivateEndpointURL": "",
        "lifecycle": master_lifecycle(cluster),
        "disableAutoUpdate": False,
    }


def _contents(cluster: Cluster) -> dict[str, Any]:
    return {
        "workerCount": len(cluster.alive()),
        "workerZones": sorted({worker.zone for worker in cluster.alive()}),
        "vpcs": [cluster.seed.vpc],
        "podSubnet": "172.17.64.0/18",
        "serviceSubnet": "172.21.0.0/16",
        "networkPlugin": "calico",
        "entitlement": "",
        "imageSecurityEnabled": False,
        "features": {"keyProtectEnabled": False, "pullSecretApplied": True},
        "ingress": {"hostname": "", "secretName": "", "status": "", "message": ""},
        "addons": [{"name": addon["name"], "version": addon["version"]} for addon in cluster.seed.addons],
    }


def master_lifecycle(cluster: Cluster) -> dict[str, str]:
    master = cluster.master
    return {
        "masterState": master.state,
        "masterStatus": master.status,
        "masterHealth": master.health,
        "masterStatusModifiedDate": stamp(master.changed_at),
        "modifiedDate": stamp(master.changed_at),
    }


def _health(cluster: Cluster) -> dict[str, str]:
    if all(worker.settled for worker in cluster.alive()):
        return {"state": "normal", "status": "All Workers Normal"}
    if any(worker.settled for worker in cluster.alive()):
        return {"state": "warning", "status": "Some Workers Not Normal"}
    return {"state": "critical", "status": "No Workers Normal"}


def _master_target(scenario: Scenario, cluster: Cluster) -> str:
    newer = newest(scenario, minor_of(cluster.master.version))
    return cluster.master.version if newer is None else master_build(scenario, newer)


def worker_row(scenario: Scenario, cluster: Cluster, worker: Worker) -> dict[str, Any]:
    """Row of getWorkers and answer of getWorker."""
    pool = cluster.pools[worker.pool]
    return {
        "id": worker.id,
        "flavor": worker.flavor,
        "location": worker.zone,
        "poolID": pool.id,
        "poolName": pool.name,
        "billing": "hourly",
        "dedicatedHostId": "",
        "dedicatedHostPoolId": "",
        "kubeVersion": {
            "actual": worker.running_build,
            "desired": worker.build,
            "target": worker_target(scenario, cluster),
            "eos": "",
            "masterEOS": "",
        },
        "lifecycle": {
            "actualState": worker.state,
            "desiredState": worker.desired_state,
            "message": worker.message,
            "messageDate": stamp(worker.message_at),
            "messageDetails": "",
            "messageDetailsDate": "",
            "pendingOperation": worker.pending_operation,
            "reasonForDelete": worker.reason_for_delete,
            "actualOperatingSystem": worker.operating_system if worker.running_build else "",
            "desiredOperatingSystem": pool.operating_system,
        },
        "health": {"state": worker.health, "message": worker.health_message},
        "networkInterfaces": _interfaces(worker),
    }


def worker_target(scenario: Scenario, cluster: Cluster) -> str:
    """Build that workers should run: it jumps for old workers as soon as the control plane is updated."""
    return worker_build(scenario, minor_of(cluster.master.version))


def _interfaces(worker: Worker) -> list[dict[str, Any]]:
    if not worker.ip:
        return []
    network = f"{worker.ip.rsplit('.', 1)[0]}.0/24"
    return [{"cidr": network, "ipAddress": worker.ip, "primary": True, "subnetID": worker.subnet}]


def pool_row(cluster: Cluster, pool: Pool) -> dict[str, Any]:
    """Row of getWorkerPools and answer of getWorkerPool."""
    return {
        "id": pool.id,
        "poolName": pool.name,
        "flavor": pool.flavor,
        "provider": "vpc-gen2",
        "vpcID": pool.vpc,
        "workerCount": max((zone.wanted for zone in pool.zones), default=pool.extra.get("workerCount", 0)),
        "isolation": "public",
        "operatingSystem": pool.operating_system,
        "autoscaleEnabled": bool(pool.extra.get("autoscaleEnabled", False)),
        "isBalanced": all(len(cluster.workers_of(pool, zone)) == zone.wanted for zone in pool.zones),
        "labels": {"ibm-cloud.kubernetes.io/worker-pool-id": pool.id, **pool.labels},
        "taints": dict(pool.taints),
        "lifecycle": {"actualState": pool.state, "desiredState": pool.desired_state},
        "zones": [_zone_row(zone) for zone in pool.zones],
        **{key: pool.extra[key] for key in ("workerVolumeEncryption", "secondaryStorageOption") if key in pool.extra},
    }


def _zone_row(zone: Zone) -> dict[str, Any]:
    return {
        "id": zone.id,
        "workerCount": zone.wanted,
        "autobalanceEnabled": zone.autobalance,
        "subnets": [{"id": zone.subnet, "primary": True}],
        "messages": [],
    }
