"""Fetch a kubeconfig without admin rights: applies the caller's IAM roles to the cluster and waits until they count.

The file stays in memory. What is in it is read by the Kubernetes adapter. Source: IBM's Go client (apply, then poll the
RBAC status with growing pauses); `getKubeconfig` is the older call without the role synchronisation.
"""

import asyncio
import time

from bot.adapters.iks.client import IksClient
from bot.adapters.iks.json_fields import truth
from state.errors import PermanentError, TransientError
from state.reasons import Code, reason

PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0)
TOTAL_SECONDS = 45.0


async def kubeconfig(client: IksClient, cluster_id: str, endpoint_type: str, resource_group: str) -> bytes:
    """The file. Raises TransientError or PermanentError."""
    body = {"cluster": cluster_id, "format": "yaml", "admin": False, "network": False, "endpointType": endpoint_type}
    try:
        async with asyncio.timeout(TOTAL_SECONDS):
            try:
                raw = await client.ask("/v2/applyRBACAndGetKubeconfig", body, resource_group)
            except PermanentError as error:
                if not _unknown_call(error):
                    raise
                return _file(await _plain(client, cluster_id, resource_group))
            await _synchronised(client, cluster_id, resource_group)
            return _file(raw)
    except TimeoutError as error:
        raise TransientError(reason(Code.IKS_UNREACHABLE, status=0, detail="no kubeconfig in time")) from error


async def _plain(client: IksClient, cluster_id: str, resource_group: str) -> bytes:
    query = {"cluster": cluster_id, "format": "yaml"}
    return await client.fetch("/v2/getKubeconfig", query, resource_group)


async def _synchronised(client: IksClient, cluster_id: str, resource_group: str) -> None:
    """Wait until the roles are in the cluster; a status that cannot be read or stays behind is no reason to give up.

    The API server says 403 then, and that is stated where it happens.
    """
    until = time.monotonic() + sum(PAUSES)
    for pause in PAUSES:
        try:
            status = await client.get("/v2/getRBACStatus", {"cluster": cluster_id}, resource_group)
        except (TransientError, PermanentError):
            return
        if truth(status, "synchronized") or truth(status, "error") or time.monotonic() > until:
            return
        await asyncio.sleep(pause)


def _unknown_call(error: PermanentError) -> bool:
    return error.reason.code is Code.IKS_REFUSED and error.reason.text("status") in ("404", "405", "501")


def _file(raw: bytes) -> bytes:
    """The answer, if it can be a kubeconfig at all."""
    if b"clusters" not in raw or b"server" not in raw:
        detail = "the answer is no kubeconfig"
        raise TransientError(reason(Code.IKS_UNREACHABLE, status=200, detail=detail))
    return raw
