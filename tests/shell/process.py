"""One process of the bot inside the test: everything real but for the outside, and mortal.

`kill` is what kill -9 is: all its tasks stop where they are and nothing is tidied up; what was on its way to Redis may or
may not arrive. A new process under the same name, or another one, goes on.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from redis.asyncio import Redis

from bot.braking import FailureRate
from bot.desk import Setup, SubmitDesk
from bot.engine import Engine
from bot.messages import Words
from bot.metrics import Metrics
from bot.perform import Hands
from bot.points import Place, Points
from bot.ports import Kubernetes
from bot.surroundings import Surroundings
from bot.telling import Teller
from handlers.ports import StartRequest
from state import keys
from state.braking import why
from state.events import Approved, HumanEvent, Person
from state.reasons import Reason
from state.run import Goal, Run
from state.store import RedisReader, RedisStore, open_reader, open_store
from tests.shell.ports import MemoryChat, World, WorldClock, WorldHelm, WorldIks, WorldKubernetes

CLUSTER = "gpu-single"
OPERATOR = Person("U0OPERATOR1", "T1", "C1")
APPROVER = Person("U0APPROVER1", "T1", "C1")
TICK = 0.02
PERSON = 0.01

_OF: ContextVar["Process | None"] = ContextVar("process", default=None)


def track_tasks() -> None:
    """Let every task of this loop belong to the process that made it."""

    def make(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Any], **more: Any) -> asyncio.Task[Any]:
        task = asyncio.Task(work, loop=loop, **more)
        owner = _OF.get()
        if owner is not None:
            owner.tasks.add(task)
            if owner.dead:  # what a dying process begins comes to nothing
                task.cancel()
        return task

    asyncio.get_running_loop().set_task_factory(make)  # type: ignore[arg-type]  # typeshed wants a generator too


@dataclass
class Deadly(Points):
    """Stops the process the first time that each subject reaches `place`; None: never. Shared with its successors."""

    place: Place | None = None
    subjects: list[str] = field(default_factory=list)
    hit: asyncio.Event = field(default_factory=asyncio.Event)

    async def reach(self, place: Place, subject: str) -> None:
        if place is self.place and subject not in self.subjects:
            self.subjects.append(subject)
            self.hit.set()
            await asyncio.Event().wait()  # until it is killed


@dataclass(eq=False)
class Process:
    """A running bot. Make it with `start_process`."""

    store: RedisStore
    engine: Engine
    submit: SubmitDesk
    metrics: Metrics
    tasks: set[asyncio.Task[Any]] = field(default_factory=set)
    dead: bool = False

    def begin(self) -> None:
        """Live from now on; whatever comes of it belongs to this process."""
        before = _OF.set(self)
        self.tasks.add(asyncio.create_task(self.live()))
        _OF.reset(before)

    async def live(self) -> None:
        """Renew the lease and tick, until killed."""
        lease = asyncio.create_task(self.store.ownership.keep())
        while not lease.done():
            await self.engine.tick()
            await asyncio.sleep(TICK)
        await lease

    async def start(self, request: StartRequest) -> Reason:
        """Somebody typed the start command here; what comes of it belongs to this process."""
        before = _OF.set(self)
        try:
            return await self.submit.start(request)
        finally:
            _OF.reset(before)

    def number(self, name: str) -> float:
        """A number of /metrics."""
        return self.metrics.registry.get_sample_value(name) or 0.0

    def saved(self) -> int:
        """How many transitions it has stored so far."""
        found = self.metrics.registry.collect()
        samples = (s for m in found for s in m.samples if s.name == "gpu_migrate_transitions_total")
        return int(sum(sample.value for sample in samples))

    async def kill(self) -> None:
        """Stop everything where it is: each task is asked at every turn of the loop until it has ended."""
        self.dead = True
        while tasks := [task for task in self.tasks if not task.done()]:
            for task in tasks:
                task.cancel()
            await asyncio.sleep(0)
        await self.store.link.aclose()

    async def close(self) -> None:
        """Leave in good order."""
        await self.engine.aclose()
        await self.store.ownership.resign()
        await self.kill()


async def start_process(url: str, replica: str, world: World, chat: MemoryChat, points: Points) -> Process:
    """Start a bot on a store; it ticks at once."""
    store = await open_store(url, replica=replica)
    metrics, clock = Metrics(), WorldClock(world)
    around = Surroundings(
        instance=f"{replica}.{store.ownership.replica.epoch}",
        store=store.runs,
        chat=chat,
        iks=lambda _: WorldIks(world),
        clock=clock,
        words=Words(),
        teller=Teller(chat, store.runs, Words(), clock),
        metrics=metrics,
        hands=lambda *_: hands_of(store, world, points),
        kubernetes=_kubernetes(world),
        fleet=store.fleet,
        failures=FailureRate(store.fleet, world.limit),
        points=points,
    )
    engine = Engine(around, store.ownership)
    setup = Setup({CLUSTER: world.policy}, {CLUSTER: "C1"})
    process = Process(store, engine, SubmitDesk(store.runs, chat, clock, setup, engine.nudge), metrics)
    process.begin()
    return process


def hands_of(store: RedisStore, world: World, points: Points) -> Hands:
    """What a call of this replica needs."""

    async def kubeconfig() -> bytes:
        return b""

    async def brake() -> Reason | None:
        return why(await store.get_brake())

    outside = (WorldIks(world), WorldKubernetes(world), WorldHelm(world), store.ownership, WorldClock(world))
    return Hands(store.ownership.replica.name, *outside, kubeconfig, brake, points)


def _kubernetes(world: World) -> Any:
    async def kubernetes(_cluster: str, _cluster_id: str) -> Kubernetes:
        return WorldKubernetes(world)

    return kubernetes


class People:
    """Ask for runs and answer their questions, over a store of their own."""

    def __init__(self, reader: RedisReader, world: World) -> None:
        self._reader = reader
        self._world = world
        self._count = 0

    async def start(self, process: Process) -> str:
        """Type the start command; the run's id."""
        self._count += 1
        request = StartRequest(f"start-{id(self)}-{self._count}", CLUSTER, Goal.MIGRATE, OPERATOR)
        await process.start(request)
        newest = await self._reader.runs.recent(1)  # it may have ended by now
        return newest[0].run.id

    async def run(self, run_id: str) -> Run | None:
        stored = await self._reader.runs.load(run_id)
        return stored.run if stored is not None else None

    async def approve(self, run: Run) -> None:
        """Press the button of every open question."""
        for question in run.approvals:
            if question.decision is None:
                event_id = f"{question.id}#{question.revision}"
                event = Approved(self._world.now(), event_id, APPROVER, question.id, question.revision)
                await self._reader.runs.submit(run.id, event)

    async def once(self, run_id: str, wanted: Callable[[Run], bool], within: float = 30.0) -> Run:
        """Wait, answering nothing, until the run is as wanted."""
        run: Run | None = None
        try:
            async with asyncio.timeout(within):
                while run is None or not wanted(run):
                    await asyncio.sleep(PERSON)
                    run = await self.run(run_id)
        except TimeoutError:
            raise AssertionError(f"never as wanted: {_state(run)}") from None
        return run

    async def submit(self, run_id: str, event: HumanEvent) -> None:
        await self._reader.runs.submit(run_id, event)

    async def until_ordered(self, run_id: str, world: World, call: str) -> None:
        """Approve everything until a call stands in the world's journal."""
        async with asyncio.timeout(30):
            while not any(line.startswith(call) for line in world.journal):
                run = await self.run(run_id)
                if run is not None:
                    await self.approve(run)
                await asyncio.sleep(PERSON)

    async def until(self, run_id: str, hit: asyncio.Event, within: float = 60.0) -> Run:
        """Approve everything until the run ends or somebody dies. Fails past `within` seconds."""
        run: Run | None = None
        try:
            async with asyncio.timeout(within):
                while not hit.is_set():
                    run = await self.run(run_id)
                    if run is not None and run.phase.ended:
                        break
                    if run is not None:
                        await self.approve(run)
                    await asyncio.sleep(PERSON)
        except TimeoutError:
            raise AssertionError(f"neither dead nor done: {_state(run)}") from None
        assert run is not None
        return run


async def eventually(condition: Callable[[], bool], what: str, within: float = 10.0) -> None:
    try:
        async with asyncio.timeout(within):
            while not condition():
                await asyncio.sleep(PERSON)
    except TimeoutError:
        raise AssertionError(what) from None


async def end_lease(url: str, replica: str) -> None:
    """The twelve seconds of a dead or stopped replica are over."""
    async with Redis.from_url(url) as client:
        await client.zrem(keys.REPLICAS, replica)


def _state(run: Run | None) -> str:
    if run is None:
        return "no run"
    steps = [f"{s.key}: {s.phase} {s.note}" for s in run.steps if s.phase.value not in ("done", "due")]
    return f"{run.phase} {run.pause} {run.trouble} {run.intent} {steps}"


@asynccontextmanager
async def people(url: str, world: World) -> AsyncIterator[People]:
    reader = await open_reader(url)
    try:
        yield People(reader, world)
    finally:
        await reader.aclose()
