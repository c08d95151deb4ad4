"""The loop of the fleet: which runs are ours to keep, and a keeper for each.

    signal → handler → event → submit ──▶ inbox ──▶ keeper of the run (this file finds it) ──▶ lap

A tick asks the journal which runs have something to do and are ours (or nobody's); losing or doubling a tick is harmless.
A keeper that ends by an error is reported and the run is picked up again from the journal, after a moment.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import structlog

from bot.ending import end
from bot.keeper import Keeper
from bot.perform import CALL_SECONDS
from bot.ports import Ownership
from bot.surroundings import Surroundings
from state.braking import why
from state.errors import GpuMigrateError, RunConflict, TransientError
from state.events import Event, Rewound
from state.reasons import Code, Reason, reason

log = structlog.get_logger()

REST_SECONDS = 3.0  # a run whose keeper failed is left alone this long
FRESH_END_SECONDS = 3600.0


class Engine:
    """Keeps all runs of this replica."""

    def __init__(self, around: Surroundings, ownership: Ownership) -> None:
        self._around = around
        self._ownership = ownership
        self._keepers: dict[str, Keeper] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._resting: dict[str, float] = {}
        self._missed: dict[str, tuple[Event, ...]] = {}
        self._closing = False

    def nudge(self, run_id: str) -> None:
        """A run may have something to do: wake its keeper, or find one at once."""
        keeper = self._keepers.get(run_id)
        if keeper is not None:
            keeper.nudge()
        else:
            self._start(run_id)

    async def tick(self) -> None:
        """Ask the journal what is due. Never raises: the next tick tries again."""
        try:
            brake = why(await self._around.fleet.get_brake())
            due = await self._ownership.due()
        except TransientError as error:
            log.warning("journal unreachable", reason=str(error.reason))
            self._around.metrics.journal_errors.inc()
            return
        self._around.metrics.brake.set(0 if brake is None else 1)
        for keeper in tuple(self._keepers.values()):
            keeper.brake(brake)
        for run_id in due:
            self.nudge(run_id)

    def _start(self, run_id: str) -> None:
        now = asyncio.get_running_loop().time()
        if self._closing or run_id in self._tasks or self._resting.get(run_id, 0.0) > now:
            return
        task = asyncio.create_task(self._keep(run_id))
        self._tasks[run_id] = task
        task.add_done_callback(lambda _: self._tasks.pop(run_id, None))

    async def _keep(self, run_id: str) -> None:
        try:
            stored = await self._ownership.take(run_id)
            if stored is None or stored.run.phase.ended:
                return
            keeper = Keeper(self._around, stored, self._missed.pop(run_id, ()))
            self._keepers[run_id] = keeper
            self._around.metrics.runs.set(len(self._keepers))
            await keeper.keep()
            if not keeper.run.phase.ended:  # lost, or one of its tasks failed: not again at once
                self._rest(run_id)
        except RunConflict as conflict:
            log.warning("run is somebody else's now", run=run_id, reason=str(conflict.reason))
            self._rest(run_id)
        except GpuMigrateError as error:
            log.warning("keeper ended", run=run_id, reason=str(error.reason))
            self._rest(run_id)
            if error.reason.code is Code.STORE_REWOUND:
                await self._journal_lost(run_id, error.reason)
        except Exception:  # top of a task: it reports
            log.exception("keeper failed: the run is picked up again", run=run_id)
            self._rest(run_id)
        finally:
            self._keepers.pop(run_id, None)
            self._around.metrics.runs.set(len(self._keepers))

    async def _journal_lost(self, run_id: str, what: Reason) -> None:
        """The journal is older than we knew, or empty: say so, and go on from what it holds now."""
        around, keeper = self._around, self._keepers.get(run_id)
        with suppress(GpuMigrateError):
            await self._ownership.take(run_id)  # raises the fence above all that we have seen, then says STORE_REWOUND
        around.store.accept_rewound(run_id)
        try:
            if await around.store.load(run_id) is not None:
                known, found = int(what.text("known")), int(what.text("found"))
                self._missed[run_id] = (Rewound(around.clock.now(), known, found),)
            elif keeper is not None and not keeper.run.phase.ended:
                lost = reason(Code.STORE_LOST, run=run_id, cluster=keeper.run.cluster)
                await around.chat.post(keeper.run.channel, around.words.answer(lost), key=f"{run_id}/lost")
        except GpuMigrateError as error:
            log.warning("could not tell that a record is lost", run=run_id, reason=str(error.reason))

    def _rest(self, run_id: str) -> None:
        self._resting[run_id] = asyncio.get_running_loop().time() + REST_SECONDS

    async def finish_telling(self) -> None:
        """After a start: runs that ended while nobody could say so get their last word."""
        now = self._around.clock.now()
        try:
            for stored in await self._around.store.recent(20):
                ended = stored.run.ended_at
                if ended is not None and (now - ended).total_seconds() < FRESH_END_SECONDS:
                    await self._around.teller.tell(stored.run)
        except GpuMigrateError as error:
            log.warning("could not tell the end of a run", reason=str(error.reason))

    async def aclose(self) -> None:
        """Stop all keepers and hand their runs over; nothing is lost, the journal has it."""
        self._closing = True
        kept = tuple(self._keepers)
        try:
            async with asyncio.timeout(CALL_SECONDS):  # for all of it: the platform's patience has an end too
                await asyncio.gather(*(keeper.wind_down(CALL_SECONDS) for keeper in self._keepers.values()))
        except TimeoutError:
            log.warning("calls under way are left to the next owner", runs=kept)
        await end(self._tasks.values())
        for run_id in kept:
            await _quietly(lambda run_id=run_id: self._ownership.release(run_id))  # type: ignore[misc]


async def _quietly(call: Callable[[], Awaitable[None]]) -> None:
    try:
        await call()
    except GpuMigrateError as error:
        log.warning("could not hand a run over", reason=str(error.reason))
