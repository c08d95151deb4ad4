"""Have the calls of one run made, and see to it that none is broken off without need when this process winds down.

A call in flight is let come to its recorded outcome; a helm that is killed in the middle leaves a release that somebody
has to repair. An intent that was saved but not begun is taken back, so that whoever keeps the run next need not find out by
looking that nothing happened.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import structlog

from bot.lookout import Lookout
from bot.perform import NotOurs, give
from bot.surroundings import Surroundings
from state.errors import GpuMigrateError
from state.events import Event, Ordered, OutcomeKind
from state.journal import StoredRun
from state.reasons import Code, reason

log = structlog.get_logger()


class Caller:
    """Makes one call at a time. `put`: takes the outcome; `lose`: the run is no longer ours."""

    def __init__(
        self, around: Surroundings, lookout: Lookout, put: Callable[[Event], None], lose: Callable[[], None]
    ) -> None:
        self._around = around
        self._lookout = lookout
        self._put = put
        self._lose = lose
        self._closing = False
        self._under_way: asyncio.Task[Any] | None = None

    async def give(self, stored: StoredRun) -> None:
        """Make the call of the saved intent; while we are winding down say that nothing was sent."""
        intent = stored.run.intent
        assert intent is not None
        if self._closing:
            self._put(Ordered(self._around.clock.now(), intent.op, OutcomeKind.WITHHELD, reason(Code.HANDED_OVER)))
            return
        self._under_way = asyncio.current_task()
        try:
            kubernetes = await self._lookout.reach()
            hands = self._around.hands(stored.run.cluster, self._lookout.cluster_id, kubernetes)
            outcome = await give(hands, stored, intent)
        except NotOurs:
            log.warning("call withheld: the run is no longer ours", run=stored.run.id, order=intent.op)
            self._lose()
        except GpuMigrateError as error:  # nothing was sent: the cluster could not even be reached
            self._put(Ordered(self._around.clock.now(), intent.op, OutcomeKind.POSTPONED, error.reason))
        else:
            self._around.metrics.orders.labels(order=type(intent.order).__name__, outcome=outcome.kind.value).inc()
            self._put(outcome)

    async def wind_down(self, seconds: float) -> None:
        """Begin no new call; wait for the one under way."""
        self._closing = True
        if self._under_way is not None and not self._under_way.done():
            await asyncio.wait({self._under_way}, timeout=seconds)
