"""Look at the cluster of one run: one look at a time, never a stale one, not more than one a second for a watch's sake.

A look that began before something was changed (`outdated`) is thrown away and repeated, so that no decision is made on a
world from before our own call. Watches only say "look again".
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import structlog

from bot.ending import end
from bot.forecast import foresee
from bot.observe import failed, together
from bot.ports import Kubernetes
from bot.recent_iks import RecentIks
from bot.surroundings import Surroundings
from state import marks
from state.errors import GpuMigrateError, PermanentError
from state.events import LookFailed, Observed
from state.foresight import worth_asking
from state.journal import StoredRun
from state.reasons import Code, reason
from state.run import RunPhase
from state.snapshot import Forecast, Snapshot

log = structlog.get_logger()

GAP_SECONDS = 1.0
MARKS = 4  # renewals of the mark while it is good; a waiting run looks three times meanwhile
WORKING = (RunPhase.ACTIVE, RunPhase.PREPARED, RunPhase.ABORTING)


class Lookout:
    """Owns the connection to one cluster. `stored` and `changed` are the keeper's."""

    def __init__(self, around: Surroundings, stored: Callable[[], StoredRun], changed: Callable[[], None]) -> None:
        self._around = around
        self._stored = stored
        self._changed = changed
        self._lock = asyncio.Lock()
        self._kubernetes: Kubernetes | None = None
        self._watching: asyncio.Task[None] | None = None
        self._recent = RecentIks()
        self._epoch = 0
        self._fresh = False
        self._looked = float("-inf")
        self._mark_due = float("-inf")
        self._foreseen = float("-inf")
        self._forecast: tuple[Forecast, ...] = ()
        self.cluster_id = stored().run.cluster_id

    def outdated(self) -> None:
        """Something was changed, by us or by a person: looks that have begun are worth nothing."""
        self._epoch += 1
        self._fresh = True

    async def look(self) -> Observed | LookFailed:
        """One fresh look."""
        while True:
            epoch, fresh = self._epoch, self._fresh
            self._fresh = False
            self._looked = max(self._looked, asyncio.get_running_loop().time())
            event = await self._seen(fresh=fresh)
            if epoch == self._epoch:
                return event

    def next_look(self) -> float:
        """Loop time at which a watch may cause a look; that moment is taken then, the next one is a gap later."""
        poll = self._stored().run.policy.durations.poll.total_seconds()
        self._looked = max(asyncio.get_running_loop().time(), self._looked + min(GAP_SECONDS, poll))
        return self._looked

    async def _seen(self, *, fresh: bool) -> Observed | LookFailed:
        around = self._around
        try:
            kubernetes = await self.reach()
            iks = around.iks(self._stored().run.cluster)
            young = 0.0 if fresh else self._young_seconds()
            machines = self._recent.look(iks, self.cluster_id, young_seconds=young)
            snapshot = await together(machines, kubernetes.look(fresh=fresh), around.clock)
            snapshot = await self._with_forecast(kubernetes, snapshot)
        except GpuMigrateError as error:
            return failed(error, around.clock)
        await self._renew_mark(kubernetes)
        return Observed(snapshot.at, snapshot)

    def _young_seconds(self) -> float:
        """How old IKS's half may be; a lost answer is settled by fresh looks only."""
        run = self._stored().run
        unknown = run.intent is not None and run.intent.unknown
        return 0.0 if unknown else run.policy.durations.poll.total_seconds() / 2

    async def _with_forecast(self, kubernetes: Kubernetes, snapshot: Snapshot) -> Snapshot:
        """What evictions would meet, asked at most once an idle interval; looks in between carry the last answers."""
        run, now = self._stored().run, asyncio.get_running_loop().time()
        if not worth_asking(run):
            return snapshot
        if now - self._foreseen >= run.policy.durations.idle.total_seconds():
            snapshot = await foresee(kubernetes, snapshot, run.policy.target_minor)
            self._foreseen, self._forecast = asyncio.get_running_loop().time(), snapshot.forecast
        return replace(snapshot, forecast=self._forecast)

    async def _renew_mark(self, kubernetes: Kubernetes) -> None:
        """While a run is at work its mark in the cluster stays fresh, so that no second bot begins beside it."""
        stored, now = self._stored(), asyncio.get_running_loop().time()
        if stored.run.phase not in WORKING or now < self._mark_due:
            return
        durations = stored.run.policy.durations
        mark = marks.facts(stored.run, stored.fence, self._around.instance, self._around.clock.now())
        try:
            await kubernetes.claim(mark, self._around.instance)
            self._mark_due = now + durations.stale.total_seconds() / MARKS
        except GpuMigrateError as error:
            log.warning("mark not renewed", run=stored.run.id, reason=str(error.reason))
            self._mark_due = now + durations.poll.total_seconds()

    async def forget_mark(self) -> None:
        """The run is over: the cluster is free for another."""
        try:
            if self._kubernetes is not None:
                await self._kubernetes.unclaim(self._stored().run.id)
        except GpuMigrateError as error:
            log.warning("mark not removed", run=self._stored().run.id, reason=str(error.reason))

    async def reach(self) -> Kubernetes:
        """The cluster's API; resolves the cluster once, by IKS's id from then on."""
        async with self._lock:
            if not self.cluster_id:
                self.cluster_id = await self._claimed()
            if self._kubernetes is None:
                self._kubernetes = await self._around.kubernetes(self._stored().run.cluster, self.cluster_id)
                self._watching = asyncio.create_task(self._kubernetes.watch(self._changed))
            if self._watching is not None and self._watching.done():
                self._watching.result()  # a watch ends only by a bug of ours: say so
            return self._kubernetes

    async def _claimed(self) -> str:
        run = self._stored().run
        found = await self._around.iks(run.cluster).resolve(run.cluster)
        other = await self._around.store.claim_cluster(self._stored(), found.id)
        if other is not None:
            raise PermanentError(reason(Code.RUN_EXISTS, run=other, cluster=run.cluster, phase=""))
        return found.id

    def renew_access(self) -> None:
        if self._kubernetes is not None:
            self._kubernetes.renew_access()

    async def aclose(self) -> None:
        if self._watching is not None:
            await end((self._watching,))
        if self._kubernetes is not None:
            await self._kubernetes.aclose()
