"""The loop of the fleet: which runs are ours to keep, and a keeper for each.

    signal → handler → event → submit ──▶ inbox ──▶ keeper of the run (this file finds it) ──▶ lap

A tick asks the journal which runs have something to do and are ours (or nobody's); losing or doubling a tick is harmless.
A keeper that ends by an error is reported and the run is picked up again from the journal, after a moment. A run that
belongs to another's share, or that only newer code can read, is left to others and let alone for a while.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any

import structlog

from bot.answering import say_too_late
from bot.ending import end
from bot.keeper import Keeper
from bot.perform import CALL_SECONDS
from bot.ports import Ownership
from bot.rewinding import take_stock
from bot.surroundings import Surroundings
from state.braking import why
from state.codec import Unreadable
from state.errors import GpuMigrateError, RunConflict, TransientError
from state.events import Event
from state.journal import StoredRun
from state.reasons import Code, Reason
from state.run import Run

log = structlog.get_logger()

REST_SECONDS = 3.0  # a run whose keeper failed is left alone this long
HANDED_SECONDS = 2.0  # a run that was left to another replica: no click makes us take it back before
PASSED_SECONDS = 60.0  # a run that only newer code can read
TAKES = 8  # at once: who takes over hundreds of runs must still hear clicks and renew its lease
FRESH_END_SECONDS = 3600.0
MOMENT_SECONDS = 0.05


class Engine:
    """Keeps all runs of this replica."""

    def __init__(self, around: Surroundings, ownership: Ownership) -> None:
        self._around = around
        self._ownership = ownership
        self._keepers: dict[str, Keeper] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._resting: dict[str, float] = {}
        self._again: set[str] = set()  # to be kept again when they have rested
        self._passed: dict[str, float] = {}
        self._told: set[str] = set()  # ended runs whose last word is known to stand there
        self._missed: dict[str, tuple[Event, ...]] = {}
        self._leaving = self._heir = ""
        self._closing = False
        self._gate = asyncio.Semaphore(TAKES)

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
        for run_id in (*due, *self._rested()):
            self.nudge(run_id)
        self._share_out(self._ownership.heir())

    def _rested(self) -> tuple[str, ...]:
        """Runs whose keeper failed a while ago. Forgets who has rested, and who was passed by long ago."""
        now = asyncio.get_running_loop().time()
        self._resting = {run_id: until for run_id, until in self._resting.items() if until > now}
        self._passed = {run_id: until for run_id, until in self._passed.items() if until > now}
        self._around.metrics.unreadable.set(len(self._passed))
        return tuple(run_id for run_id in self._again if run_id not in self._resting)

    def _share_out(self, heir: str) -> None:
        """Leave one run at a time to a replica that has less than its share: one that has no call open just now."""
        leaving = self._keepers.get(self._leaving)
        if not heir or self._closing or (leaving is not None and (leaving.parting or leaving.parted)):
            return
        self._heir = heir
        self._leaving = next((run_id for run_id, keeper in self._keepers.items() if keeper.part()), "")

    def _start(self, run_id: str) -> None:
        now = asyncio.get_running_loop().time()
        if self._closing or run_id in self._tasks or self._resting.get(run_id, 0.0) > now:
            return
        self._again.discard(run_id)
        task = asyncio.create_task(self._keep(run_id))
        self._tasks[run_id] = task
        task.add_done_callback(lambda _: self._tasks.pop(run_id, None))

    async def _keep(self, run_id: str) -> None:
        try:
            async with self._gate:
                stored = await self._ownership.take(run_id)
            if stored is not None:
                await self._keep_on(stored)
        except Unreadable as unknown:
            await self._pass_by(run_id, unknown.reason)
        except RunConflict as conflict:
            log.warning("run is somebody else's now", run=run_id, reason=str(conflict.reason))
            self._rest(run_id)
        except GpuMigrateError as error:
            log.warning("keeper ended", run=run_id, reason=str(error.reason))
            if error.reason.code is Code.STORE_REWOUND:
                await self._journal_lost(run_id, error.reason)
            self._rest(run_id)
        except Exception:  # top of a task: it reports
            log.exception("keeper failed: the run is picked up again", run=run_id)
            self._rest(run_id)
        finally:
            self._keepers.pop(run_id, None)
            self._around.metrics.runs.set(len(self._keepers))

    async def _keep_on(self, stored: StoredRun) -> None:
        run_id = stored.run.id
        keeper = Keeper(self._around, stored, self._missed.get(run_id, ()))
        self._keepers[run_id] = keeper
        self._around.metrics.runs.set(len(self._keepers))
        try:
            if not stored.run.phase.ended:
                await keeper.keep()
        finally:
            if keeper.run != stored.run or keeper.run.phase.ended:
                self._missed.pop(run_id, None)
        if keeper.run.phase.ended:
            await _quietly(say_too_late(self._around, keeper.run))
            await _quietly(self._ownership.release(run_id))
        elif keeper.parted:
            await self._leave(run_id, self._heir)
        else:  # lost, or one of its tasks failed: not again at once
            self._rest(run_id)

    async def _leave(self, run_id: str, heir: str) -> None:
        self._rest(run_id, HANDED_SECONDS)
        if not await _quietly(self._ownership.release(run_id, heir)):
            return
        self._again.discard(run_id)
        if heir:
            self._around.metrics.handed_over.inc()
            log.info("run left to a replica that has fewer", run=run_id, owner=heir)

    async def _pass_by(self, run_id: str, what: Reason) -> None:
        log.warning("run can only be read by a newer version: left to others", run=run_id, reason=str(what))
        self._rest(run_id, PASSED_SECONDS)
        self._passed[run_id] = asyncio.get_running_loop().time() + PASSED_SECONDS + REST_SECONDS
        await _quietly(self._ownership.pass_by(run_id))

    async def _journal_lost(self, run_id: str, what: Reason) -> None:
        """The journal is older than we knew, or empty: say so, and go on from what it holds now."""
        keeper = self._keepers.get(run_id)
        try:
            rewound = await take_stock(self._around, self._ownership, keeper.run if keeper else None, what)
        except GpuMigrateError as error:
            log.warning("could not look what the journal holds", run=run_id, reason=str(error.reason))
            return
        if rewound is not None:
            self._missed[run_id] = (rewound,)

    def _rest(self, run_id: str, seconds: float = REST_SECONDS) -> None:
        self._resting[run_id] = asyncio.get_running_loop().time() + seconds
        self._again.add(run_id)

    async def finish_telling(self) -> None:
        """At a start and now and then: runs that ended while nobody could say so get their last word.

        Whoever ended one says it itself as long as it lives, and owns the run until then.
        """
        now = self._around.clock.now()
        try:
            recent = [stored.run for stored in await self._around.store.recent(20)]
            self._told &= {run.id for run in recent}
            for run in recent:
                fresh = run.ended_at is not None and (now - run.ended_at).total_seconds() < FRESH_END_SECONDS
                if fresh and run.id not in self._told and run.id not in self._tasks:
                    await self._tell_the_end(run)
        except GpuMigrateError as error:
            log.warning("could not tell the end of a run", reason=str(error.reason))

    async def _tell_the_end(self, run: Run) -> None:
        if await self._ownership.take(run.id) is None:
            return
        try:
            await self._around.teller.tell(run)
            self._told.add(run.id)
        finally:
            await _quietly(self._ownership.release(run.id))

    async def aclose(self) -> None:
        """Stop all keepers and hand their runs over; nothing is lost, the journal has it."""
        self._closing, self._heir = True, ""
        try:
            async with asyncio.timeout(CALL_SECONDS):  # for all of it: the platform's patience has an end too
                await asyncio.gather(*(self._let_go(*kept) for kept in self._keepers.items()))
        except TimeoutError:
            log.warning("calls under way are left to the next owner", runs=tuple(self._keepers))
        kept = tuple(self._keepers)
        await end(self._tasks.values())
        for run_id in kept:
            if not await _quietly(self._ownership.release(run_id)):
                break  # the store is away; our lease runs out by itself

    async def _let_go(self, run_id: str, keeper: Keeper) -> None:
        """Let a run go in good order: at once when no call is under way, else when that has its outcome."""
        await keeper.wind_down(CALL_SECONDS)
        while run_id in self._keepers and (keeper.untold() or keeper.part()):
            await asyncio.sleep(MOMENT_SECONDS)
            await keeper.wind_down(CALL_SECONDS)  # it may have decided on one more call meanwhile


async def _quietly(call: Coroutine[Any, Any, None]) -> bool:
    """Whether it worked; when not, it is said."""
    try:
        await call
    except GpuMigrateError as error:
        log.warning("could not leave a run in good order", reason=str(error.reason))
        return False
    return True
