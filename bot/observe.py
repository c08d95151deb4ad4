"""Look at a whole cluster: both halves at once, one snapshot or none.

When one half cannot be read there is no snapshot, since nothing may be decided on half a look (B076). Times out as its
ports do; translates nothing, judges nothing.
"""

import asyncio
from collections.abc import Awaitable

from bot.ports import Clock, Iks, Kubernetes
from state.errors import GpuMigrateError
from state.events import LookFailed
from state.reasons import Code
from state.snapshot import IksView, KubernetesView, Snapshot

LOGIN = frozenset({Code.IKS_LOGIN, Code.API_LOGIN})
"""Reasons that waiting does not cure: somebody has to mend the access."""


async def look(iks: Iks, kubernetes: Kubernetes, cluster_id: str, clock: Clock, *, fresh: bool = False) -> Snapshot:
    """Both halves, read side by side. Raises what the ports raise; the first one when both fail."""
    return await together(iks.look(cluster_id), kubernetes.look(fresh=fresh), clock)


async def together(iks: Awaitable[IksView], kubernetes: Awaitable[KubernetesView], clock: Clock) -> Snapshot:
    """Await both halves; the first error when both fail."""
    at = clock.now()
    first, second = await asyncio.gather(iks, kubernetes, return_exceptions=True)
    for half in (first, second):
        if isinstance(half, BaseException):
            raise half
    assert not isinstance(first, BaseException)
    assert not isinstance(second, BaseException)
    return Snapshot(at, first, second)


def failed(error: GpuMigrateError, clock: Clock) -> LookFailed:
    return LookFailed(clock.now(), error.reason, access_lost=error.reason.code in LOGIN)
