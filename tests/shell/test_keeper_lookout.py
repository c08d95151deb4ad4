"""Looks: never one from before our own call, one mark at a time, one connection, and the forecast not too often."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.lookout import Lookout
from state.errors import PermanentError, TransientError
from state.events import LookFailed, Observed
from state.orders import EvictPod
from state.reasons import Code, Reason, reason
from state.run import Run, RunPhase
from state.snapshot import KubernetesView
from tests.builders import run
from tests.shell.ports import World, WorldKubernetes
from tests.shell.rig import QUICK, SLOW, Rig, begun, rig, settled, until


class WatchedKubernetes(WorldKubernetes):
    """Counts what it is asked; holds looks up while its gate is closed; fails when told to."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.gate = asyncio.Event()
        self.gate.set()
        self.looks: list[bool] = []
        self.claims = 0
        self.dry_runs = 0
        self.closed = 0
        self.trouble: TransientError | PermanentError | None = None
        self.refuses_marks: PermanentError | None = None
        self.watch_ends: BaseException | None = None

    async def look(self, *, fresh: bool = False) -> KubernetesView:
        self.looks.append(fresh)
        await self.gate.wait()
        if self.trouble is not None:
            raise self.trouble
        return await super().look(fresh=fresh)

    async def claim(self, facts: Mapping[str, str], holder: str) -> Mapping[str, str]:
        self.claims += 1
        if (trouble := self.trouble or self.refuses_marks) is not None:
            raise trouble
        return await super().claim(facts, holder)

    async def dry_run_evict(self, order: EvictPod) -> Reason | None:
        self.dry_runs += 1
        return await super().dry_run_evict(order)

    async def watch(self, changed: Callable[[], None]) -> None:
        changed()
        if self.watch_ends is not None:
            raise self.watch_ends
        await asyncio.Event().wait()

    async def aclose(self) -> None:
        self.closed += 1


@asynccontextmanager
async def looking(world: Rig, kept: Run) -> AsyncIterator[tuple[Lookout, WatchedKubernetes]]:
    world.kubernetes = kubernetes = WatchedKubernetes(world.world)
    stored = world.put(kept)
    lookout = Lookout(world.around(), lambda: stored, lambda: None)
    try:
        yield lookout, kubernetes
    finally:
        await lookout.aclose()


async def test_given_a_look_under_way_when_something_was_changed_then_it_is_thrown_away_and_made_anew() -> None:
    world = rig()
    async with looking(world, run()) as (lookout, kubernetes):
        kubernetes.gate.clear()
        look = asyncio.create_task(lookout.look())
        await until(lambda: kubernetes.looks, "the look")
        lookout.outdated()
        kubernetes.gate.set()
        event = await look

    assert kubernetes.looks == [False, True]  # fresh: what was read before stands for nothing
    assert world.world.looks == 2  # IKS too
    assert isinstance(event, Observed)


async def test_given_a_failed_look_under_way_when_something_was_changed_then_its_failure_counts_for_nothing() -> None:
    async with looking(rig(), begun()) as (lookout, kubernetes):
        kubernetes.gate.clear()
        kubernetes.trouble = TransientError(reason(Code.API_UNREACHABLE, detail="reset"))
        look = asyncio.create_task(lookout.look())
        await until(lambda: kubernetes.looks, "the look")
        lookout.outdated()
        kubernetes.trouble = None
        kubernetes.gate.set()

        assert isinstance(await look, Observed)


@pytest.mark.parametrize(
    ("trouble", "lost"),
    [
        (TransientError(reason(Code.API_UNREACHABLE, detail="reset")), False),
        (PermanentError(reason(Code.API_REFUSED, status=403, message="no")), False),
        (PermanentError(reason(Code.API_LOGIN, status=401)), True),
    ],
    ids=["away", "refused", "login"],
)
async def test_given_half_a_look_when_it_fails_then_there_is_no_snapshot(
    trouble: TransientError | PermanentError, lost: bool
) -> None:
    async with looking(rig(), begun()) as (lookout, kubernetes):
        kubernetes.trouble = trouble
        event = await lookout.look()

    assert isinstance(event, LookFailed)
    assert (event.reason, event.access_lost) == (trouble.reason, lost)


async def test_given_a_run_at_work_when_looked_at_often_then_its_mark_is_renewed_now_and_then_only() -> None:
    durations = replace(SLOW, stale=timedelta(milliseconds=150))
    async with looking(rig(), begun(durations)) as (lookout, kubernetes):
        for _ in range(5):
            await lookout.look()
        at_once = kubernetes.claims
        await asyncio.sleep(0.06)  # a third of the mark's life
        await lookout.look()

    assert (at_once, kubernetes.claims) == (1, 2)


async def test_given_a_mark_that_was_refused_when_the_next_look_is_due_then_it_is_tried_again() -> None:
    durations = replace(SLOW, stale=timedelta(hours=1), poll=timedelta(milliseconds=30))
    async with looking(rig(), begun(durations)) as (lookout, kubernetes):
        kubernetes.refuses_marks = PermanentError(reason(Code.API_REFUSED, status=403, message="no"))
        event = await lookout.look()
        await lookout.look()
        at_once = kubernetes.claims
        kubernetes.refuses_marks = None
        await asyncio.sleep(0.04)
        for _ in range(3):
            await lookout.look()

    assert isinstance(event, Observed)  # what was seen counts all the same
    assert (at_once, kubernetes.claims) == (1, 2)


async def test_given_a_run_that_only_plans_when_looked_at_then_it_leaves_no_mark() -> None:
    async with looking(rig(), run(phase=RunPhase.PLANNED)) as (lookout, kubernetes):
        await lookout.look()

    assert kubernetes.claims == 0


async def test_given_a_plan_when_looked_at_often_then_evictions_are_foreseen_once_an_idle_interval() -> None:
    async with looking(rig(), run(phase=RunPhase.PLANNED, policy=begun(SLOW).policy)) as (lookout, kubernetes):
        events = [await lookout.look() for _ in range(4)]

    assert kubernetes.dry_runs == 2  # one for each GPU pod
    assert {len(event.snapshot.forecast) for event in events if isinstance(event, Observed)} == {2}


async def test_given_a_run_at_work_when_no_worker_is_due_then_nothing_is_foreseen() -> None:
    async with looking(rig(), begun(QUICK)) as (lookout, kubernetes):
        await lookout.look()

    assert kubernetes.dry_runs == 0


async def test_given_a_cluster_that_another_run_holds_under_its_id_when_reached_then_the_look_says_so() -> None:
    world = rig()
    other = replace(begun(), id="r-2", cluster="by-id", cluster_id=world.world.model.snapshot.iks.cluster_id)
    world.put(other)
    async with looking(world, run()) as (lookout, _):
        event = await lookout.look()

    assert isinstance(event, LookFailed)
    assert event.reason.code is Code.RUN_EXISTS
    assert event.reason.text("run") == "r-2"


async def test_given_many_who_need_the_cluster_when_reached_at_once_then_it_is_connected_once() -> None:
    async with looking(rig(), begun()) as (lookout, kubernetes):
        found = await asyncio.gather(*(lookout.reach() for _ in range(5)))

    assert {id(one) for one in found} == {id(kubernetes)}
    assert kubernetes.closed == 1


async def test_given_a_watch_that_ended_by_a_bug_when_reached_again_then_the_bug_is_not_hidden() -> None:
    async with looking(rig(), begun()) as (lookout, kubernetes):
        kubernetes.watch_ends = ZeroDivisionError()
        await lookout.reach()
        await settled()

        with pytest.raises(ZeroDivisionError):
            await lookout.reach()


async def test_given_a_cluster_never_reached_when_the_run_is_over_then_there_is_no_mark_to_forget() -> None:
    async with looking(rig(), begun()) as (lookout, kubernetes):
        await lookout.forget_mark()

    assert kubernetes.closed == 0


async def test_given_our_mark_when_the_run_is_over_then_it_is_gone_and_a_strangers_stays() -> None:
    world = rig()
    async with looking(world, begun()) as (lookout, _):
        await lookout.look()
        marked = dict(world.world.mark)
        await lookout.forget_mark()
        left = dict(world.world.mark)
        world.world.mark = {**marked, "gpu-migrate/run": "r-other"}
        await lookout.forget_mark()

    assert marked["gpu-migrate/run"] == "r-1"
    assert left == {}
    assert world.world.mark["gpu-migrate/run"] == "r-other"
