"""Endpoints of clusters and their control plane (reference of the IKS API, sections 1.1 to 1.3, 1.6 and 1.7)."""

from typing import Any

from sandbox.iks import master
from sandbox.iks.calls import Answer, Call, Route
from sandbox.iks.model import Cluster
from sandbox.iks.refusals import bad_request
from sandbox.iks.rows import cluster_row, cluster_summary, master_lifecycle
from sandbox.iks.versions import target_of


def _url(call: Call, cluster: Cluster) -> str:
    return call.cloud.side(cluster).url


def _list(call: Call) -> Answer:
    rows = [cluster_summary(call.cloud.scenario, c, _url(call, c)) for c in call.cloud.visible(call.group)]
    return Answer(body=rows)


def _list_none(_: Call) -> Answer:
    return Answer(body=[])


def _list_v1(call: Call) -> Answer:
    rows = [_v1(call, cluster) for cluster in call.cloud.visible(call.group)]
    return Answer(body=rows)


def _get(call: Call) -> Answer:
    cluster = call.cluster()
    return Answer(body=cluster_row(call.cloud.scenario, cluster, _url(call, cluster)))


def _get_v1(call: Call) -> Answer:
    return Answer(body=_v1(call, call.cluster()))


def _v1(call: Call, cluster: Cluster) -> dict[str, Any]:
    """Shape a cluster as v1 does: the control plane's state at the top level."""
    row = cluster_row(call.cloud.scenario, cluster, _url(call, cluster))
    lifecycle = master_lifecycle(cluster)
    row.update({key: lifecycle[key] for key in ("masterState", "masterStatus", "masterHealth", "modifiedDate")})
    return {**row, "serverURL": row["masterURL"]}


def _update_master(call: Call) -> Answer:
    cluster = call.cluster()
    build = target_of(call.cloud.scenario, cluster, call.need("version"), force=call.flag("force"))
    master.update(call.cloud, cluster, build)
    return Answer(204, cluster=cluster.name, target=cluster.id, effect={"version": build})


def _update_v1(call: Call) -> Answer:
    if call.text("action") != "update":
        raise bad_request("The specified action is not supported.")
    return _update_master(call)


def _accepted(call: Call) -> Answer:
    cluster = call.cluster()
    return Answer(204, cluster=cluster.name, target=cluster.id)


def _versions(call: Call) -> Answer:
    return Answer(body={"kubernetes": _version_rows(call), "openshift": []})


def _versions_flat(call: Call) -> Answer:
    return Answer(body=_version_rows(call))


def _version_rows(call: Call) -> list[dict[str, Any]]:
    return [dict(row) for row in call.cloud.scenario.versions]


def _addons(call: Call) -> Answer:
    return Answer(body=[_addon_row(addon) for addon in call.cluster().seed.addons])


def _all_addons(call: Call) -> Answer:
    rows = {addon["name"]: _addon_row(addon) for c in call.cloud.clusters.values() for addon in c.seed.addons}
    return Answer(body=list(rows.values()))


def _addon_row(addon: dict[str, Any]) -> dict[str, Any]:
    return {
        "targetVersion": addon.get("version", ""),
        "supportedKubeRange": ">=1.31.0",
        "minKubeVersion": "1.31.0",
        "allowed_upgrade_versions": [],
        "healthState": "normal",
        "healthStatus": "Addon Ready",
        "deprecated": False,
        **addon,
    }


def _protection(call: Call) -> Answer:
    cluster = call.cluster()
    match call.need("operation"):
        case "disable-outbound-protection":
            cluster.outbound_protection = False
        case "enable-outbound-protection":
            cluster.outbound_protection = True
        case other:
            raise bad_request(f"The operation {other!r} is not supported.")
    return Answer(204, cluster=cluster.name, target=cluster.id, effect={"protected": cluster.outbound_protection})


def _key_owner(call: Call) -> Answer:
    call.cluster()
    return Answer(body={"id": "IBMid-550000ABCD", "name": "Cluster Key Owner", "email": "key-owner@sandbox.example"})


ROUTES = (
    Route("GET", "/v2/vpc/getClusters", _list),
    Route("GET", "/v2/classic/getClusters", _list_none),
    Route("GET", "/v2/satellite/getClusters", _list_none),
    Route("GET", "/v1/clusters", _list_v1),
    Route("GET", "/v2/getCluster", _get),
    Route("GET", "/v2/vpc/getCluster", _get),
    Route("GET", "/v1/clusters/{cluster}", _get_v1),
    Route("PUT", "/v1/clusters/{cluster}", _update_v1, "updateMaster"),
    Route("POST", "/v2/updateMaster", _update_master, "updateMaster"),
    Route("POST", "/v2/refreshMaster", _accepted, "refreshMaster"),
    Route("GET", "/v1/versions", _versions),
    Route("GET", "/v1/kube-versions", _versions_flat),
    Route("GET", "/v2/getVersions", _versions_flat),
    Route("GET", "/v1/clusters/{cluster}/addons", _addons),
    Route("GET", "/v2/getClusterAddons", _addons),
    Route("GET", "/v1/addons", _all_addons),
    Route("GET", "/v1/logging/{cluster}/clusterkeyowner", _key_owner),
    Route("POST", "/network/v2/outbound-traffic-protection", _protection, "outboundProtection"),
)
