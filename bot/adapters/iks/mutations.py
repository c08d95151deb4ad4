"""Bodies of the mutating calls: exactly what is sent, and nothing that only may be.

Source: IBM's public Go SDK and Terraform provider. Never sent: `worker rm` (it turns auto-rebalance off), `force`,
a build number as version, `update: false`.
"""

from collections.abc import Mapping
from typing import Any

from bot.adapters.iks.json_fields import dig, text, texts
from bot.adapters.iks.views import SYSTEM_LABELS, taints
from state.errors import PermanentError
from state.opt_out import without_opt_out
from state.orders import CreatePool, RemovePool, ReplaceWorker, UpdateMaster
from state.reasons import Code, Reason
from state.versions import parse_version

UPDATE_MASTER = "/v2/updateMaster"
REPLACE_WORKER = "/v2/vpc/replaceWorker"
CREATE_POOL = "/v2/vpc/createWorkerPool"
SET_TAINTS = "/v2/setWorkerPoolTaints"
REMOVE_POOL = "/v2/removeWorkerPool"


def update_master(order: UpdateMaster) -> Mapping[str, Any]:
    """`version` as major.minor.patch: the build is IKS's choice, and a missing patch would be IBM's."""
    version = parse_version(order.version)
    if version is None or order.version.count(".") < 2:
        facts = {"status": "", "code": "", "message": f"not sent: {order.version!r} is no version", "incident": ""}
        raise PermanentError(Reason(Code.IKS_REFUSED, facts))
    return {"cluster": order.cluster_id, "version": str(version), "force": False}


def replace_worker(order: ReplaceWorker) -> Mapping[str, Any]:
    return {"cluster": order.cluster_id, "workerID": order.worker_id, "update": True}


def create_pool(order: CreatePool, model: Mapping[str, Any]) -> Mapping[str, Any]:
    """A pool with its zone in one call; without zone and subnet it would stay empty."""
    labels = without_opt_out(order.labels)
    body = {
        "cluster": order.cluster_id,
        "name": order.name,
        "flavor": order.flavor,
        "vpcID": order.vpc,
        "workerCount": order.size,
        "operatingSystem": order.operating_system,
        "entitlement": "",
        "labels": {key: value for key, value in labels.items() if not key.startswith(SYSTEM_LABELS)},
        "zones": [{"id": order.zone, "subnetID": order.subnet}],
    }
    return {key: value for key, value in {**body, **_copied(model)}.items() if value is not None}


def set_taints(order: CreatePool, pool_id: str, model: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The model's taints for the new pool; None when it has none."""
    found = {taint.key: f"{taint.value}:{taint.effect}" for taint in taints(model)}
    return {"cluster": order.cluster_id, "workerpool": pool_id, "taints": found} if found else None


def remove_pool(order: RemovePool) -> Mapping[str, Any]:
    return {"cluster": order.cluster_id, "workerpool": order.pool_id}


def _copied(model: Mapping[str, Any]) -> Mapping[str, Any]:
    encryption = {key: value for key, value in texts(model, "workerVolumeEncryption").items() if value}
    storage = dig(model, "secondaryStorageOption")
    storage_name = text(storage, "name") or text(model, "secondaryStorageOption")
    hosts = text(model, "dedicatedHostPoolId")
    return {
        "workerVolumeEncryption": encryption or None,
        "secondaryStorageOption": storage_name or None,
        "hostPool": hosts or None,
    }
