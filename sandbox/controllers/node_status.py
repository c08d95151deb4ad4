"""What a kubelet writes about its own node: the Ready condition and the lease. Nothing about pods."""

from sandbox.controllers.desk import micro_stamp, settled, stamp
from sandbox.controllers.nodes import PRESSURES
from sandbox.controllers.resources import LEASES
from sandbox.kubernetes_client import Api, Json

LEASE_NAMESPACE = "kube-node-lease"
LEASE_SECONDS = 10.0  # by the real clock: a real control plane gives a node up after 50
_CALM = {
    "MemoryPressure": ("KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    "DiskPressure": ("KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    "PIDPressure": ("KubeletHasSufficientPID", "kubelet has sufficient PID available"),
}


def ready_status(node: Json) -> Json:
    """Body of a strategic merge patch: the node is Ready and suffers no pressure."""
    at = stamp()
    known = {row["type"]: row for row in (node.get("status") or {}).get("conditions") or ()}
    rows = [("Ready", "True", "KubeletReady", "kubelet is posting ready status")]
    rows += [(kind, "False", *_CALM[kind]) for kind in PRESSURES]
    return {
        "status": {
            "conditions": [
                {
                    "type": kind,
                    "status": status,
                    "reason": reason,
                    "message": message,
                    "lastHeartbeatTime": at,
                    "lastTransitionTime": known[kind]["lastTransitionTime"]
                    if known.get(kind, {}).get("status") == status
                    else at,
                }
                for kind, status, reason, message in rows
            ]
        }
    }


async def renew(api: Api, node: Json, *, first: bool) -> None:
    """Make the node's lease, or renew it; a cluster without leases or their namespace is left alone."""
    name = node["metadata"]["name"]
    lease: Json = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": name, "namespace": LEASE_NAMESPACE},
        "spec": {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": micro_stamp()},
    }
    if first and await settled(api.post(LEASES.within(LEASE_NAMESPACE), lease)) is not None:
        return
    await settled(api.patch(LEASES.at(lease), {"spec": {"renewTime": lease["spec"]["renewTime"]}}))
