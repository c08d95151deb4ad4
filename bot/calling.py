"""Have the calls of one run made, and see to it that none is broken off without need when this process winds down.

A call in flight is let come to its recorded outcome; a helm that is killed in the middle leaves a release that somebody
has to repair. An intent that was saved but not begun stays: whoever keeps the run next finds out by looking.
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
        """Make the call of the saved intent, unless we are winding down."""
        if self._closing:
            return
        self._under_way = asyncio.current_task()
        intent = stored.run.intent
        assert intent is not None
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

    async def wind_down(self, seconds: float) -> bool:
        """Begin no new call; wait for the one under way. Whether there was one, and it has ended."""
        self._closing = True
        call = self._under_way
        if call is None or call.done():
            return False
        await asyncio.wait({call}, timeout=seconds)
        return call.done()
