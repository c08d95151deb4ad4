"""The shell's side of what the edge calls: put into the journal, read from it, and answer slow questions.

Nothing here decides about a run: it creates one, or appends to its inbox, and wakes the loop.
"""

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import structlog

from bot.ending import end
from bot.forecast import foresee
from bot.observe import look
from bot.ports import Chat, Clock, RunStore
from bot.surroundings import Surroundings
from handlers.ports import Message, StartRequest
from state.errors import GpuMigrateError
from state.events import ContinueRequested, HumanEvent, Person
from state.planner import plan
from state.policy import Policy
from state.reasons import Code, Reason, reason
from state.run import Goal, Run, RunPhase

log = structlog.get_logger()

SUBMIT_SECONDS = 2.0
MEMBER_SECONDS = 1.0
LOOK_SECONDS = 60.0
PLANS = 4  # dry runs at once: reading is free for everybody, and each one asks a whole cluster


@dataclass(frozen=True, slots=True)
class Setup:
    """What the desk knows of the configuration: policy and channel ("" = where it was asked) per cluster name."""

    policies: Mapping[str, Policy]
    channels: Mapping[str, str]


def run_id(request_id: str) -> str:
    """A run's id is made of the signal's natural id: the same command twice is the same run."""
    return f"r-{hashlib.sha256(request_id.encode()).hexdigest()[:8]}"


class SubmitDesk:
    """handlers.ports.Submit over the journal."""

    def __init__(self, store: RunStore, chat: Chat, clock: Clock, setup: Setup, nudge: Callable[[str], None]) -> None:
        self._store = store
        self._chat = chat
        self._clock = clock
        self._setup = setup
        self._nudge = nudge

    async def start(self, request: StartRequest) -> Reason:
        channel = self._setup.channels.get(request.cluster) or request.by.channel
        if not await self._member(channel):
            return reason(Code.NOT_IN_CHANNEL, channel=channel)
        run = Run(
            id=run_id(request.id),
            cluster=request.cluster,
            goal=request.goal,
            phase=RunPhase.PLANNING,
            policy=self._setup.policies[request.cluster],
            requested_by=request.by.user,
            channel=channel,
            created_at=self._clock.now(),
        )
        try:
            async with asyncio.timeout(SUBMIT_SECONDS):
                return await self._create(run, request)
        except (TimeoutError, GpuMigrateError):
            return reason(Code.NOT_RECORDED)

    async def _create(self, run: Run, request: StartRequest) -> Reason:
        other = await self._store.create(run, request.id)
        if other is None or other == run.id:
            self._nudge(run.id)
            return reason(Code.STARTED_LOOKING, cluster=run.cluster)
        existing = await self._store.load(other)
        if existing is not None and existing.run.phase is RunPhase.PREPARED and request.goal is Goal.MIGRATE:
            return await self.submit(other, ContinueRequested(self._clock.now(), request.id, request.by))
        phase = existing.run.phase.value if existing is not None else ""
        return reason(Code.RUN_EXISTS, run=other, cluster=run.cluster, phase=phase)

    async def submit(self, run_id: str, event: HumanEvent) -> Reason:
        try:
            async with asyncio.timeout(SUBMIT_SECONDS):
                recorded = await self._store.submit(run_id, event)
        except (TimeoutError, GpuMigrateError) as error:
            return _unrecorded(error)
        if not recorded:
            return reason(Code.NO_SUCH_RUN, run=run_id)
        self._nudge(run_id)
        return reason(Code.RECORDED)

    async def _member(self, channel: str) -> bool:
        """Whether the bot may post there; when Slack does not answer in time the post itself will tell."""
        try:
            async with asyncio.timeout(MEMBER_SECONDS):
                return await self._chat.is_member(channel)
        except (TimeoutError, GpuMigrateError):
            return True


def _unrecorded(error: TimeoutError | GpuMigrateError) -> Reason:
    """Press again, unless that cannot help."""
    if isinstance(error, GpuMigrateError) and error.reason.code is Code.RUN_ENDED:
        return error.reason
    return reason(Code.NOT_RECORDED)


class RunsDesk:
    """handlers.ports.Runs over the journal."""

    def __init__(self, store: RunStore) -> None:
        self._store = store

    async def active(self, cluster: str) -> Run | None:
        found = await self._store.active(cluster)
        return await self.get(found) if found else None

    async def get(self, run_id: str) -> Run | None:
        stored = await self._store.load(run_id)
        return stored.run if stored is not None else None

    async def recent(self, limit: int) -> tuple[Run, ...]:
        return tuple(stored.run for stored in await self._store.recent(limit))


class PlanDesk:
    """handlers.ports.Desk: look at a cluster and show one person what a run would do."""

    def __init__(self, around: Surroundings, setup: Setup, show: Callable[[Run], Message]) -> None:
        self._around = around
        self._setup = setup
        self._show = show
        self._gate = asyncio.Semaphore(PLANS)
        self._tasks: dict[tuple[str, str], asyncio.Task[None]] = {}

    def plan(self, cluster: str, by: Person) -> None:
        """Whoever asks again while an answer is on its way gets that one."""
        key = (cluster, by.user)
        if key not in self._tasks:
            self._tasks[key] = task = asyncio.create_task(self._answer(cluster, by))
            task.add_done_callback(lambda _: self._tasks.pop(key, None))

    async def _answer(self, cluster: str, by: Person) -> None:
        try:
            async with self._gate, asyncio.timeout(LOOK_SECONDS):
                message = self._show(await self.dry_run(cluster, by))
        except TimeoutError:
            message = self._around.words.answer(reason(Code.IKS_UNREACHABLE, status=0, detail="timeout"))
        except GpuMigrateError as error:
            message = self._around.words.answer(error.reason, cluster)
        try:
            await self._around.chat.whisper(by.channel, by.user, message)
        except GpuMigrateError as error:
            log.warning("could not answer", reason=str(error.reason))

    async def dry_run(self, cluster: str, by: Person) -> Run:
        """A planned run that is stored nowhere."""
        around = self._around
        iks = around.iks(cluster)
        ref = await iks.resolve(cluster)
        kubernetes = await around.kubernetes(cluster, ref.id)
        policy = self._setup.policies[cluster]
        try:
            snapshot = await look(iks, kubernetes, ref.id, around.clock)
            snapshot = await foresee(kubernetes, snapshot, policy.target_minor)
        finally:
            await kubernetes.aclose()
        blank = Run("plan", cluster, Goal.MIGRATE, RunPhase.PLANNED, policy, by.user, by.channel, snapshot.at)
        return plan(blank, snapshot)

    async def aclose(self) -> None:
        await end(self._tasks.values())
