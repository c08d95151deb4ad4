"""The port `Iks` over IBM's REST API.

One facade per cluster's settings (resource group, endpoint type); all share one client, its identity and its limit.
Only the choice and order of calls belongs here.
"""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import structlog

from bot.adapters.iks import kubeconfig_file, mutations
from bot.adapters.iks.client import IksClient
from bot.adapters.iks.json_fields import text
from bot.adapters.iks.views import cluster_refs, listed, view
from bot.adapters.kubeconfigs import Kubeconfig
from bot.ports import ClusterRef
from state.errors import GpuMigrateError, OutcomeUnknown, PermanentError, TransientError
from state.orders import CreatePool, RemovePool, ReplaceWorker, UpdateMaster
from state.reasons import Code, reason
from state.snapshot import IksView

VPC = "vpc-gen2"
TAINT_TRIES = 3

_log = structlog.get_logger(__name__)


class IksRest:
    """IKS as one cluster's settings reach it."""

    def __init__(self, client: IksClient, resource_group: str = "", endpoint_type: str = "public") -> None:
        self._client = client
        self._resource_group = resource_group
        self._endpoint_type = endpoint_type

    async def resolve(self, name_or_id: str) -> ClusterRef:
        """Ids win over names; clusters that are not VPC are found too, so that they can be refused by what they are."""
        refs = cluster_refs(await self._get("/v2/vpc/getClusters", provider=VPC))
        matches = [ref for ref in refs if ref.id == name_or_id] or [ref for ref in refs if ref.name == name_or_id]
        if len(matches) > 1:
            ids = tuple(ref.id for ref in matches)
            raise PermanentError(reason(Code.CLUSTER_AMBIGUOUS, cluster=name_or_id, ids=ids))
        if matches:
            return matches[0]
        row = await self._cluster(name_or_id)
        return ClusterRef(text(row, "id"), text(row, "name") or name_or_id)

    async def look(self, cluster_id: str) -> IksView:
        """Everything at once, so that the view is as much of one moment as five answers can be."""
        row = await self._cluster(cluster_id)
        if text(row, "provider") not in ("", VPC):
            return view(row, self._endpoint_type, [], (), ([], []))
        try:
            async with asyncio.TaskGroup() as group:
                workers = group.create_task(self._get("/v2/vpc/getWorkers", cluster=cluster_id, showDeleted="false"))
                pools = group.create_task(self._pools(cluster_id))
                versions = group.create_task(self._get("/v1/versions"))
                addons = group.create_task(self._get(f"/v1/clusters/{cluster_id}/addons"))
        except* GpuMigrateError as errors:
            raise _first(errors) from errors
        return view(row, self._endpoint_type, workers.result(), pools.result(), (versions.result(), addons.result()))

    async def update_master(self, order: UpdateMaster) -> None:
        await self._order(mutations.UPDATE_MASTER, mutations.update_master(order))

    async def replace_worker(self, order: ReplaceWorker) -> None:
        await self._order(mutations.REPLACE_WORKER, mutations.replace_worker(order))

    async def create_pool(self, order: CreatePool) -> str:
        """Create the pool, then give it its model's taints (IKS takes none at creation)."""
        query = {"cluster": order.cluster_id, "workerpool": order.like_pool}
        model = await self._get("/v2/vpc/getWorkerPool", **query)
        answer = await self._order(mutations.CREATE_POOL, mutations.create_pool(order, model))
        pool_id = text(answer, "workerPoolID")
        if not pool_id:
            raise OutcomeUnknown(reason(Code.IKS_UNREACHABLE, status=201, detail="no pool id in the answer"))
        await self._taint(mutations.set_taints(order, pool_id, model))
        return pool_id

    async def remove_pool(self, order: RemovePool) -> None:
        await self._order(mutations.REMOVE_POOL, mutations.remove_pool(order))

    async def kubeconfig(self, cluster_id: str) -> Kubeconfig:
        """A fresh kubeconfig, its life counted from before it was asked for. TransientError or PermanentError."""
        asked_at = datetime.now(UTC)
        raw = await kubeconfig_file.kubeconfig(self._client, cluster_id, self._endpoint_type, self._resource_group)
        return Kubeconfig(raw, asked_at)

    async def _get(self, path: str, **query: str) -> Any:
        return await self._client.get(path, query, self._resource_group)

    async def _order(self, path: str, body: Mapping[str, Any]) -> Any:
        return await self._client.order(path, body, self._resource_group)

    async def _cluster(self, name_or_id: str) -> Mapping[str, Any]:
        row = await self._get("/v2/getCluster", cluster=name_or_id)
        if not isinstance(row, Mapping) or not text(row, "id"):
            raise TransientError(reason(Code.IKS_UNREACHABLE, status=200, detail="the answer is no cluster"))
        return row

    async def _pools(self, cluster_id: str) -> tuple[Mapping[str, Any], ...]:
        """All pools; those whose row lacks what a plan needs are read one by one (lists may tell less than gets)."""
        found = []
        for row in listed(await self._get("/v2/vpc/getWorkerPools", cluster=cluster_id), "workerPools"):
            short = "labels" not in row or "zones" not in row
            pool_id = text(row, "id")
            whole = await self._get("/v2/vpc/getWorkerPool", cluster=cluster_id, workerpool=pool_id) if short else row
            found.append({**row, **whole} if isinstance(whole, Mapping) else row)
        return tuple(row for row in found if text(row, "id"))

    async def _taint(self, body: Mapping[str, Any] | None) -> None:
        """Set the taints. The pool exists, so a failure is told and not raised: it would read as "nothing happened"."""
        for left in reversed(range(TAINT_TRIES if body else 0)):
            try:
                await self._order(mutations.SET_TAINTS, body or {})
            except GpuMigrateError as error:
                if left == 0:
                    _log.warning("pool without taints", pool=(body or {})["workerpool"], reason=str(error.reason))
            else:
                return


def _first(errors: ExceptionGroup[GpuMigrateError]) -> GpuMigrateError:
    """One error of several: a refusal says more than a silence."""
    found = [error for error in errors.exceptions if isinstance(error, GpuMigrateError)]
    return next((error for error in found if isinstance(error, PermanentError)), found[0])
