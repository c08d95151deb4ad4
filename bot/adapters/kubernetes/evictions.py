"""Ask the eviction API to move a pod, and read its refusals for what they are.

A budget's refusal, throttling and a misconfiguration share status codes. Causes, reasons and the budgets themselves
tell them apart, never the prose. Nothing here deletes.
"""

from collections.abc import Mapping
from datetime import timedelta

from bot.adapters.kubernetes.answers import Answer, refuse
from bot.adapters.kubernetes.bodies import eviction
from bot.adapters.kubernetes.budgets import ListedBudget, namespaced, project_budget
from bot.adapters.kubernetes.connection import Call, Connection, segment
from bot.adapters.kubernetes.fields import Json, strings, table, text
from bot.adapters.kubernetes.listing import Source, list_all
from bot.adapters.kubernetes.settings import Limits
from state.errors import GpuMigrateError, TransientError
from state.orders import EvictPod
from state.reasons import Code, Reason, reason
from state.snapshot import Budget

OWN_INTERVAL = timedelta(seconds=15)
BUDGET_CAUSE = "DisruptionBudget"
BLOCKS = (Code.EVICTION_BLOCKED, Code.EVICTION_THROTTLED, Code.EVICTION_MISCONFIGURED)


class Evictions:
    """Evicts pods of one cluster."""

    def __init__(self, connection: Connection, limits: Limits) -> None:
        self._connection = connection
        self._limits = limits

    async def evict(self, order: EvictPod) -> None:
        """Evict; a pod that is gone, or whose name another pod has now, is success.

        TransientError: EVICTION_BLOCKED (a budget; wait as long as told, else 15 s), EVICTION_THROTTLED,
        EVICTION_MISCONFIGURED (two budgets). PermanentError: refused. OutcomeUnknown: look.
        """
        await self._post(order, {})

    async def dry_run(self, order: EvictPod) -> Reason | None:
        """Ask whether it would be allowed now; None when it would. Other errors leave as they are."""
        try:
            await self._post(order, {"dryRun": "All"})
        except TransientError as exc:
            if exc.reason.code in BLOCKS:
                return exc.reason
            raise
        return None

    async def _post(self, order: EvictPod, query: Mapping[str, str]) -> None:
        path = f"{_pod_path(order)}/eviction"
        body = eviction(order.namespace, order.pod, order.uid)
        answer = await self._connection.call(Call("POST", path, query, body, safe=bool(query)))
        if answer.status == 404 or answer.good:
            return
        if answer.status == 409 and await self._is_gone(order):
            return
        raise await self._error(order, answer, mutating=not query)

    async def _error(self, order: EvictPod, answer: Answer, *, mutating: bool) -> GpuMigrateError:
        if answer.status not in (429, 500):
            return refuse(answer, mutating=mutating)
        told = BUDGET_CAUSE in answer.causes
        hinted = answer.status == 429 and not told and answer.wait is not None
        guards = () if hinted else await self._guards(order)
        if answer.status == 500:
            return _misconfigured(order, guards) if len(guards) > 1 else refuse(answer, mutating=mutating)
        if told or any(budget.allowed <= 0 for budget in guards):
            return _blocked(order, answer, guards)
        return _throttled(order, answer)

    async def _guards(self, order: EvictPod) -> tuple[Budget, ...]:
        """Find the budgets over this pod; none when that cannot be read, since it only adds names."""
        try:
            pod = await self._connection.get(_pod_path(order))
            source: Source[ListedBudget] = Source(namespaced(order.namespace), project_budget)
            budgets = (await list_all(self._connection, source, self._limits)).records
        except GpuMigrateError:
            return ()
        labels = strings(table(pod or {}, "metadata"), "labels")
        return tuple(listed.budget for listed in budgets if listed.guards(order.namespace, labels))

    async def _is_gone(self, order: EvictPod) -> bool:
        pod: Json | None = await self._connection.get(_pod_path(order))
        return pod is None or text(table(pod, "metadata"), "uid") != order.uid


def _blocked(order: EvictPod, answer: Answer, guards: tuple[Budget, ...]) -> TransientError:
    guard = min(guards, key=lambda budget: budget.allowed, default=None)
    why = reason(
        Code.EVICTION_BLOCKED,
        pods=(f"{order.namespace}/{order.pod}",),
        budget=f"{guard.namespace}/{guard.name}" if guard else "",
        allowed=guard.allowed if guard else 0,
    )
    return TransientError(why, answer.wait or OWN_INTERVAL)


def _throttled(order: EvictPod, answer: Answer) -> TransientError:
    wait = answer.wait or OWN_INTERVAL
    pod = f"{order.namespace}/{order.pod}"
    return TransientError(reason(Code.EVICTION_THROTTLED, pod=pod, seconds=int(wait.total_seconds())), wait)


def _misconfigured(order: EvictPod, guards: tuple[Budget, ...]) -> TransientError:
    names = tuple(f"{budget.namespace}/{budget.name}" for budget in guards)
    pod = f"{order.namespace}/{order.pod}"
    return TransientError(reason(Code.EVICTION_MISCONFIGURED, pod=pod, budgets=names), OWN_INTERVAL)


def _pod_path(order: EvictPod) -> str:
    return f"/api/v1/namespaces/{segment(order.namespace)}/pods/{segment(order.pod)}"
