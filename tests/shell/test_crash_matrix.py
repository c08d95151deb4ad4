"""Kill the process at every named place of every call of the guide's example 1: each once-only call is made once.

The store, ownership, keeper, engine and the last looks are the real ones, on a real Valkey; the oracle is the journal of
the world, never what the bot says.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from bot.points import Place
from state.events import AbortRequested
from state.run import Run, RunPhase
from state.store import open_reader
from tests.builders import one_worker
from tests.shell.ports import MemoryChat, Mood, World
from tests.shell.process import CLUSTER, OPERATOR, Deadly, People, end_lease, people, start_process, track_tasks
from tests.valkey import Valkey, running

ONCE = ("UpdateMaster", "ReplaceWorker", "CreatePool", "RemovePool", "InstallChart")
EXPECTED = ["InstallChart", "UpdateMaster", "CreatePool", "ReplaceWorker", "RemovePool"]
CALLS = 10  # of the example, idempotent ones included
AWAITED = {"update-master", "add-temporary-pool", "replace-worker/w1"}


@pytest.fixture(scope="module")
def databases() -> Iterator[Valkey]:
    """A server with a database for each world, since replicas share everything in one."""
    with running("--databases", "64") as server:
        yield server


@dataclass
class Stage:
    """Where a play happens. `same`: the dead replica comes back; else another one goes on. `redis`: it dies too."""

    server: Valkey
    number: int = 0
    same: bool = True
    redis: bool = False


async def play(stage: Stage, world: World, deadly: Deadly) -> tuple[Run, MemoryChat]:
    """Example 1 to its end, killed whenever `deadly` says, and gone on with."""
    url, chat, replica = f"{stage.server.url}?db={stage.number}", MemoryChat(), "bot-0"
    async with people(url, world) as humans:
        process = await start_process(url, replica, world, chat, deadly)
        run_id = await humans.start(process)
        run = await humans.until(run_id, deadly.hit)
        while deadly.hit.is_set():
            await process.kill()
            deadly.hit.clear()
            if stage.redis:
                stage.server.kill()
                stage.server.start()
            if not stage.same:
                await end_lease(url, replica)
                replica = f"bot-{len(deadly.subjects)}"
            process = await start_process(url, replica, world, chat, deadly)
            run = await humans.until(run_id, deadly.hit)
        await process.close()
    return run, chat


def once_only(world: World) -> list[str]:
    return [line.partition("(")[0] for line in world.journal if line.startswith(ONCE)]


async def test_given_no_crash_when_played_then_the_example_is_the_guides(databases: Valkey) -> None:
    track_tasks()
    world = World(one_worker())
    run, chat = await play(Stage(databases, 60), world, Deadly())

    assert run.phase is RunPhase.DONE
    assert once_only(world) == EXPECTED
    assert len(world.journal) == CALLS
    assert max(Counter(chat.posts).values()) == 1


@pytest.mark.parametrize("same", [True, False], ids=["same replica", "other replica"])
@pytest.mark.parametrize("place", Place)
async def test_given_a_death_at_each_call_when_gone_on_then_each_once_only_call_is_made_once(
    databases: Valkey, place: Place, same: bool
) -> None:
    track_tasks()
    base = 6 * list(Place).index(place) + 3 * int(same)
    worlds = [World(one_worker(), mood) for mood in Mood]
    deaths = [Deadly(place) for _ in worlds]
    played = await asyncio.gather(
        *(
            play(Stage(databases, base + number, same), world, deadly)
            for number, (world, deadly) in enumerate(zip(worlds, deaths, strict=True))
        )
    )

    for (run, chat), world, deadly in zip(played, worlds, deaths, strict=True):
        assert run.phase is RunPhase.DONE
        assert once_only(world) == EXPECTED, world.mood
        assert len(deadly.subjects) >= (1 if place is Place.VERIFYING else CALLS)
        assert max(Counter(chat.posts).values()) == 1
    # in one world an effect may be complete at the first look already: half a minute passes with each, however many come
    assert {subject for deadly in deaths for subject in deadly.subjects} >= AWAITED or place is not Place.VERIFYING


@pytest.mark.parametrize("place", [Place.INTENT_SAVED, Place.CALLED, Place.BEFORE_OUTCOME, Place.VERIFYING])
async def test_given_redis_dies_with_the_process_when_gone_on_then_each_once_only_call_is_made_once(
    place: Place,
) -> None:
    track_tasks()
    with running() as server:
        world, deadly = World(one_worker(), Mood.LATE), Deadly(place)
        run, _ = await play(Stage(server, redis=True), world, deadly)

    assert run.phase is RunPhase.DONE
    assert once_only(world) == EXPECTED
    assert len(deadly.subjects) >= len(AWAITED)


@dataclass
class Abandoned(Deadly):
    """Somebody aborts as soon as a node is closed; the process dies where it opens the node again."""

    world: World = field(default_factory=lambda: World(one_worker()))
    url: str = ""
    aborted: bool = False

    async def reach(self, place: Place, subject: str) -> None:
        if place is Place.CALLED and subject.startswith("CordonNode") and not self.aborted:
            self.aborted = True
            await self._abort()
        if subject.startswith("UncordonNode"):
            await super().reach(place, subject)

    async def _abort(self) -> None:
        """Before the call's outcome is known."""
        reader = await open_reader(self.url)
        try:
            run_id = await reader.runs.active(CLUSTER)
            assert run_id is not None
            humans = People(reader, self.world)
            await humans.submit(run_id, AbortRequested(self.world.now(), "abort-1", OPERATOR))
            await humans.once(run_id, lambda run: run.phase is RunPhase.ABORTING)
        finally:
            await reader.aclose()


@pytest.mark.parametrize("same", [True, False], ids=["same replica", "other replica"])
async def test_given_a_death_while_an_aborted_run_gives_back_when_gone_on_then_the_node_is_opened_once(
    databases: Valkey, same: bool
) -> None:
    track_tasks()
    places = [place for place in Place if place is not Place.VERIFYING]  # the next look finds the node open already
    stages = [Stage(databases, 48 + number, same) for number in range(len(places))]
    deaths = [
        Abandoned(place, url=f"{stage.server.url}?db={stage.number}")
        for place, stage in zip(places, stages, strict=True)
    ]
    played = await asyncio.gather(
        *(play(stage, deadly.world, deadly) for stage, deadly in zip(stages, deaths, strict=True))
    )

    for (run, chat), deadly in zip(played, deaths, strict=True):
        calls = Counter(line.partition(" ")[0] for line in deadly.world.journal)
        node = "10.240.0.64"

        assert run.phase is RunPhase.ABORTED
        assert len(deadly.subjects) == calls[f"CordonNode({node}"] == calls[f"UncordonNode({node}"] == 1, deadly.place
        assert "ReplaceWorker" not in once_only(deadly.world)
        assert not any(node.unschedulable for node in deadly.world.model.snapshot.kubernetes.nodes)
        assert max(Counter(chat.posts).values()) == 1
