"""Ask the eviction API beforehand which pods it would not let go. A dry run changes nothing, so mode `observe` may ask too.

Bounded in number, width and time, since it only adds warnings: what is not answered in time is not known, and no failure
of a forecast fails a look.
"""

import asyncio
from dataclasses import replace

import structlog

from bot.ports import Kubernetes
from state.errors import GpuMigrateError
from state.foresight import candidates
from state.orders import EvictPod
from state.snapshot import Forecast, Snapshot

log = structlog.get_logger()

PODS = 50
AT_ONCE = 8
SECONDS = 5.0


async def foresee(kubernetes: Kubernetes, snapshot: Snapshot, target_minor: str) -> Snapshot:
    """The snapshot with what the eviction API says about the pods that have to move. Raises nothing of the port's."""
    found: list[Forecast] = []
    failed: list[str] = []
    gate = asyncio.Semaphore(AT_ONCE)

    async def ask(order: EvictPod) -> None:
        async with gate:
            try:
                found.append(Forecast(order.uid, await kubernetes.dry_run_evict(order)))
            except GpuMigrateError as error:
                failed.append(str(error.reason))

    orders = candidates(snapshot, target_minor)[:PODS]
    try:
        async with asyncio.timeout(SECONDS), asyncio.TaskGroup() as asking:
            for order in orders:
                asking.create_task(ask(order))
    except TimeoutError:
        failed.append(f"not within {SECONDS:g} s")
    if failed:
        cluster = snapshot.iks.cluster_name
        log.info("evictions not foreseen", cluster=cluster, asked=len(orders), answered=len(found), first=failed[0])
    return replace(snapshot, forecast=tuple(found))
