"""Project IKS's JSON to the core's values: rename once, judge nothing, never raise for what is missing.

Words of states are passed verbatim, unknown ones too (B053). A list that is no list is not "empty" but an unreadable
answer, since an empty list of workers would be believed. Field names: IBM's public Go SDK.
"""

from collections.abc import Mapping
from typing import Any

from bot.adapters.iks.json_fields import dig, rows, text, texts, truth, whole
from bot.ports import ClusterRef
from state.errors import TransientError
from state.reasons import Code, reason
from state.snapshot import Addon, IksView, Master, OfferedVersion, Pool, Taint, Worker, Zone
from state.versions import is_pending

SYSTEM_LABELS = ("ibm-cloud.kubernetes.io/", "kubernetes.io/", "node.kubernetes.io/", "topology.kubernetes.io/")

Row = Mapping[str, Any]


def listed(body: Any, *names: str) -> tuple[Row, ...]:
    """Rows of a list answer (null is empty; some lists hang under a name). TransientError when it is none."""
    for name in names:
        if isinstance(body, Mapping) and name in body:
            body = body[name]
            break
    if body is None:
        return ()
    if not isinstance(body, list):
        raise TransientError(reason(Code.IKS_UNREACHABLE, status=200, detail="the answer is no list"))
    return rows(body)


def cluster_refs(body: Any) -> tuple[ClusterRef, ...]:
    """Clusters of a list answer."""
    found = (ClusterRef(text(row, "id"), text(row, "name")) for row in listed(body, "clusters"))
    return tuple(ref for ref in found if ref.id)


def view(cluster: Row, endpoint_type: str, workers: Any, pools: tuple[Row, ...], rest: tuple[Any, Any]) -> IksView:
    """Put the answers together. `rest`: versions and add-ons."""
    versions, addons = rest
    return IksView(
        cluster_id=text(cluster, "id"),
        cluster_name=text(cluster, "name"),
        offering=offering(cluster),
        provider=text(cluster, "provider"),
        master=master(cluster, endpoint_type),
        workers=tuple(worker(row) for row in listed(workers, "workers") if text(row, "id")),
        pools=tuple(pool(row) for row in pools),
        versions=offered(versions),
        addons=tuple(addon(row) for row in listed(addons, "addons")),
        region=text(cluster, "region"),
        state=text(cluster, "state"),
    )


def offering(cluster: Row) -> str:
    """Kubernetes or openshift: by field, else by the spelling of the version."""
    told = text(cluster, "offering") or text(cluster, "type")
    return told or ("openshift" if "openshift" in text(cluster, "masterKubeVersion") else "kubernetes")


def master(cluster: Row, endpoint_type: str) -> Master:
    """The control plane; v1 answers carry its state at the top level."""
    version = text(cluster, "masterKubeVersion")
    return Master(
        version=version.replace("(pending)", "").strip(),
        pending=is_pending(version),
        state=_either(cluster, "masterState"),
        status=_either(cluster, "masterStatus"),
        health=_either(cluster, "masterHealth"),
        target_version=text(cluster, "targetVersion"),
        endpoint=endpoint(cluster, endpoint_type),
    )


def endpoint(cluster: Row, endpoint_type: str) -> str:
    """URL of the API server for the configured way in."""
    told = {
        "public": text(cluster, "serviceEndpoints", "publicServiceEndpointURL"),
        "private": text(cluster, "serviceEndpoints", "privateServiceEndpointURL"),
        "vpe": text(cluster, "virtualPrivateEndpointURL"),
    }
    return told.get(endpoint_type) or text(cluster, "masterURL") or text(cluster, "serverURL")


def worker(row: Row) -> Worker:
    """A machine. `-` stands for no version while it is being made."""
    return Worker(
        id=text(row, "id"),
        pool_id=text(row, "poolID") or text(row, "poolid"),
        pool_name=text(row, "poolName"),
        flavor=text(row, "flavor"),
        zone=text(row, "location"),
        ip=_ip(row),
        state=text(row, "lifecycle", "actualState"),
        desired_state=text(row, "lifecycle", "desiredState"),
        health=text(row, "health", "state"),
        version=text(row, "kubeVersion", "actual").strip("- "),
        target_version=text(row, "kubeVersion", "target").strip("- "),
        message=text(row, "lifecycle", "message") or text(row, "health", "message"),
        pending_operation=text(row, "lifecycle", "pendingOperation"),
        operating_system=_first(row, ("actualOperatingSystem", "desiredOperatingSystem")),
    )


def pool(row: Row) -> Pool:
    """A pool. Workers are counted per zone; labels that IKS sets itself are no custom labels."""
    labels = texts(row, "labels")
    return Pool(
        id=text(row, "id"),
        name=text(row, "poolName") or text(row, "name"),
        flavor=text(row, "flavor"),
        zones=tuple(zone(entry, whole(row, "workerCount")) for entry in rows(row, "zones")),
        labels={key: value for key, value in labels.items() if not key.startswith(SYSTEM_LABELS)},
        taints=taints(row),
        autoscaled=truth(row, "autoscaleEnabled") or False,
        autobalanced=autobalanced(row),
        operating_system=text(row, "operatingSystem"),
        vpc=text(row, "vpcID"),
        state=text(row, "lifecycle", "actualState") or "active",
    )


def zone(row: Row, otherwise: int) -> Zone:
    """A zone with its primary subnet; `otherwise`: the pool's own count, where the zone tells none."""
    subnets = rows(row, "subnets")
    subnet = next((entry for entry in subnets if truth(entry, "primary")), subnets[0] if subnets else {})
    size = whole(row, "workerCount") if dig(row, "workerCount") is not None else otherwise
    return Zone(text(row, "id"), text(subnet, "id"), size)


def autobalanced(row: Row) -> bool | None:
    """Whether IKS refills the pool. `isBalanced` is no word on it: it is false during every replacement."""
    told = [truth(entry, "autobalanceEnabled") for entry in rows(row, "zones")]
    if False in told:
        return False
    return True if told and None not in told else None


def taints(row: Row) -> tuple[Taint, ...]:
    """Taints from `{key: "value:Effect"}`, or from a list of objects."""
    listed_taints = tuple(Taint(text(t, "key"), text(t, "value"), text(t, "effect")) for t in rows(row, "taints"))
    return listed_taints or tuple(_taint(key, value) for key, value in texts(row, "taints").items())


def offered(body: Any) -> tuple[OfferedVersion, ...]:
    """Kubernetes versions on offer, from the answer of v1 (by platform) or v2 (flat)."""
    return tuple(
        OfferedVersion(
            whole(row, "major"),
            whole(row, "minor"),
            whole(row, "patch"),
            text(row, "end_of_service") or text(row, "endOfService"),
        )
        for row in listed(body, "kubernetes")
    )


def addon(row: Row) -> Addon:
    return Addon(text(row, "name"), text(row, "version"), text(row, "supportedKubeRange"))


def _ip(row: Row) -> str:
    interfaces = rows(row, "networkInterfaces")
    primary = next((entry for entry in interfaces if truth(entry, "primary")), interfaces[0] if interfaces else {})
    return text(primary, "ipAddress") or text(row, "privateIP")


def _taint(key: str, value: str) -> Taint:
    head, _, effect = value.rpartition(":")
    return Taint(key, head, effect)


def _either(cluster: Row, name: str) -> str:
    return text(cluster, "lifecycle", name) or text(cluster, name)


def _first(row: Row, names: tuple[str, ...]) -> str:
    return next((found for name in names if (found := text(row, "lifecycle", name))), "")
