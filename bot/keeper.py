"""Keep one run going while this replica owns it: one lap at a time.

    event → transition → save → effects → follow-up events

Events come from the inbox (people), from watches and alarms ("look again"), and from the effects themselves (what a look
saw, what became of a call). Effects run as tasks beside the loop; only the loop changes the run.
"""

import asyncio
from collections import deque
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

import structlog

from bot.announcer import Announcer
from bot.answering import Answers
from bot.calling import Caller
from bot.ending import end
from bot.lookout import Lookout
from bot.patience import patiently
from bot.points import Place, around_save, verified
from bot.story import master_moved, told
from bot.surroundings import Surroundings
from state.braking import failures
from state.effects import Answer, Effect, GiveOrder, Observe, Tell
from state.events import Braked, Event, Nudged, Observed, Ordered, OutcomeKind, RetryRequested, Rewound
from state.journal import Change, StoredRun
from state.machine import Transition, transition
from state.reasons import Code, Reason, reason
from state.run import Note, Run

log = structlog.get_logger()
SHORTEST_SECONDS = 0.05


class Keeper:
    """The loop of one run. `first`: what is known already when it begins."""

    def __init__(self, around: Surroundings, stored: StoredRun, first: tuple[Event, ...] = ()) -> None:
        self._around = around
        self._stored = stored
        self._events: deque[Event] = deque(first)
        self._signal = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._lookout = Lookout(around, lambda: self._stored, self._changed)
        self._looking = self._look_again = False
        self._inbox = True
        self._sure = asyncio.get_running_loop().time()  # when the journal was last seen to hold what we keep
        self._failed = around.metrics.journal_errors.inc
        self._alarm: float | None = None  # loop time of the next look that nobody asked for
        self._watch_alarm: float | None = None
        self._lost = self.parting = self.parted = False
        self._call: asyncio.Task[None] | None = None
        self._log = log.bind(run=stored.run.id, cluster=stored.run.cluster)
        self._announcer = Announcer(around.teller, lambda: self.run, self._log)
        self._answers = Answers(around, lambda: self.run, self._log)
        self._caller = Caller(around, self._lookout, self._put, self._lose)

    @property
    def run(self) -> Run:
        return self._stored.run

    def nudge(self) -> None:
        """Something may be in the inbox, or an alarm has passed."""
        self._inbox = True
        self._signal.set()

    def brake(self, why: Reason | None) -> None:
        """The fleet's brake as it is now."""
        if self.run.brake != why:
            self._put(Braked(self._around.clock.now(), why))

    def part(self) -> bool:
        """Somebody else shall keep this run: end soon, as `parted`; False when a call is under way or open."""
        self.parting = self.run.intent is None and (self._call is None or self._call.done())
        self._signal.set()
        return self.parting

    async def wind_down(self, seconds: float) -> None:
        """Begin no new call, and wait for the one under way."""
        await self._caller.wind_down(seconds)

    def untold(self) -> bool:
        """Whether the outcome of a call that has ended, or was not begun, is still to be stored."""
        intent, ended = self.run.intent, self._call is not None and self._call.done()
        return ended and intent is not None and not intent.unknown and not self._lost

    async def keep(self) -> None:
        """Work until the run ends or is no longer ours. Raises RunConflict when somebody else changed it."""
        self._recover()
        self._spawn(self._announcer.keep_on())
        self._count(failures(self.run.notes))
        try:
            while not self.run.phase.ended and not self._lost and not self._parts():
                await self._lap()
            if self.parted:
                await self._announcer.hush()
            elif self.run.phase.ended:
                await self._lookout.forget_mark()
                await self._announcer.last_word()
        finally:
            await self._stop()

    def _parts(self) -> bool:
        """Whether to leave the run now, with nothing left to take in; a wish that does not fit is dropped."""
        if self.parting and not self._events:
            self.parted, self.parting = self.part(), False
        return self.parted

    def _recover(self) -> None:
        """An intent without an outcome may have been called: from now on only looking tells."""
        intent = self.run.intent
        now = self._around.clock.now()
        if intent is not None and not intent.unknown:
            why = reason(Code.WAIT_SETTLE, order=type(intent.order).__name__)
            self._events.append(Ordered(now, intent.op, OutcomeKind.UNKNOWN, why))
        self._events.append(Nudged(now))

    async def _lap(self) -> None:
        if self._inbox:
            self._inbox = False
            for entry in await patiently(lambda: self._around.store.inbox(self.run.id), self._log, self._failed):
                await self._apply(entry.event, (entry.id,))
        if asyncio.get_running_loop().time() - self._sure > self.run.policy.durations.idle.total_seconds():
            await self._make_sure()
        while self._events and not self.run.phase.ended and not self._lost:
            await self._apply(self._events.popleft(), ())
        if not (self.run.phase.ended or self._lost or self.parting):
            await self._rest()

    async def _rest(self) -> None:
        """Until a signal, a watch's look, or the alarm."""
        loop = asyncio.get_running_loop()
        alarms = [t for t in (self._alarm, self._watch_alarm) if t is not None]
        with suppress(TimeoutError):
            async with asyncio.timeout_at(min(alarms)) if alarms else asyncio.timeout(None):
                await self._signal.wait()
        self._signal.clear()
        if any(t <= loop.time() for t in (self._alarm, self._watch_alarm) if t is not None):
            self._alarm = self._watch_alarm = None
            self._events.append(Nudged(self._around.clock.now()))

    async def _make_sure(self) -> None:
        """Now and then: is the journal's run still the one we keep? A lost or rewound journal says nothing by itself."""
        found = await patiently(lambda: self._around.store.load(self.run.id), self._log, self._failed)
        if found is None or (found.version, found.fence) != (self._stored.version, self._stored.fence):
            self._log.warning("the journal holds another run than we keep: it is taken up anew")
            self._lose()
        self._sure = asyncio.get_running_loop().time()

    def _changed(self) -> None:
        """A watch saw something: look, but not more than once a second."""
        if self._watch_alarm is None:
            self._watch_alarm = self._lookout.next_look()
            self._signal.set()

    async def _apply(self, event: Event, taken: tuple[str, ...]) -> None:
        before = self.run
        if taken:
            self._lookout.outdated()
        step = transition(before, event)
        if step.run != before or taken:
            await self._save(event, step, taken)
        if step.wake_at is not None:
            delay = max((step.wake_at - event.at).total_seconds(), SHORTEST_SECONDS)
            self._alarm = asyncio.get_running_loop().time() + delay
        for effect in step.effects:
            self._perform(effect)
        if isinstance(event, RetryRequested | Rewound):  # what is known of messages may be old too
            self._announcer.wake(anew=True)
        for key in verified(self.run) if isinstance(event, Observed) else ():
            await self._around.points.reach(Place.VERIFYING, key)

    async def _save(self, event: Event, step: Transition, taken: tuple[str, ...]) -> None:
        """Save before acting: the effects of a transition start only after this returns."""
        before, stored = self.run, self._stored
        op = f"{before.id}:{stored.fence}:{stored.version}"
        row = told(event, before, step)
        change = Change(stored, step.run, op, row, step.wake_at, taken)
        spots = around_save(event, before, step.run)
        for spot in spots:
            await self._around.points.reach(spot.before, spot.subject)
        self._stored = await patiently(lambda: self._around.store.apply(change), self._log, self._failed)
        for spot in spots:
            await self._around.points.reach(spot.after, spot.subject)
        self._count(failures(self.run.notes, before.notes))
        self._around.metrics.transitions.labels(event=type(event).__name__).inc()
        effects = [type(e).__name__ for e in step.effects]
        self._log.info("lap", before=before.phase.value, effects=effects, **{f"run_{k}": v for k, v in row.items()})
        if master_moved(before, step.run):
            self._lookout.renew_access()

    def _count(self, failed: tuple[Note, ...]) -> None:
        if failed:
            self._spawn(self._around.failures.count(self.run, failed))

    def _perform(self, effect: Effect) -> None:
        match effect:
            case Observe():
                self._look_soon()
            case GiveOrder():
                self._call = self._spawn(self._caller.give(self._stored))
            case Tell():
                self._announcer.wake()
            case Answer():
                self._answers.give(effect)

    def _put(self, event: Event) -> None:
        if isinstance(event, Ordered):  # at once: a look that ends before the outcome is applied must not count
            self._lookout.outdated()
        self._events.append(event)
        self._signal.set()

    def _look_soon(self) -> None:
        self._look_again = self._looking
        if not self._looking:
            self._looking = True
            self._spawn(self._look())

    async def _look(self) -> None:
        event = await self._lookout.look()
        self._looking = False
        self._put(event)
        if self._look_again:
            self._look_soon()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(self._guarded(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: work.close())  # of a task that was cancelled before it began
        return task

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception:  # noqa: BLE001 (top of a task: it reports)
            self._log.exception("a task of this run failed: the run is picked up anew")
            self._lose()

    def _lose(self) -> None:
        self._lost = True
        self._signal.set()

    async def _stop(self) -> None:
        await end(self._tasks)
        await self._answers.aclose()
        await self._lookout.aclose()
