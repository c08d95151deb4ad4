"""Several replicas on one store: shares become even again, and a run changes hands without anybody noticing."""

import asyncio
from collections import Counter
from dataclasses import replace
from datetime import timedelta

from state import keys
from state.approval import open_for
from state.events import Approved
from state.journal import StoredRun
from state.run import Run, RunPhase
from state.store import RedisReader, RedisStore, open_reader, open_store, verify_chain
from state.store.share import PATIENCE_SECONDS, SETTLE_SECONDS
from tests.builders import one_worker
from tests.shell.fleet import PATIENT, Clusters, Replica, begin_replica, replicas, start_replica
from tests.shell.ports import QUICK, MemoryChat, World
from tests.shell.process import APPROVER, eventually, track_tasks
from tests.valkey import Valkey

NAMES = tuple(f"gpu-{number}" for number in range(6))
LONG = SETTLE_SECONDS + 10
UNHURRIED = replace(QUICK, poll=timedelta(milliseconds=150), idle=timedelta(milliseconds=150))
EXPECTED = ["InstallChart", "UpdateMaster", "CreatePool", "ReplaceWorker", "RemovePool"]


async def planned(reader: RedisReader, *names: str) -> dict[str, StoredRun]:
    """Once every run waits for the answer to its plan: the runs as they are stored then."""
    found: dict[str, StoredRun] = {}
    async with asyncio.timeout(10):
        while len(found) < len(names):
            for name in names:
                stored = await reader.runs.load(f"run-{name}")
                if stored is not None and stored.run.phase is RunPhase.PLANNED:
                    found[name] = stored
            await asyncio.sleep(0.01)
    return found


async def test_given_a_replica_that_joins_when_shares_settle_then_it_has_its_half_and_nobody_is_told(
    valkey: Valkey,
) -> None:
    track_tasks()
    clusters, chat = Clusters(), MemoryChat()
    reader = await open_reader(valkey.url)
    async with replicas() as alive:
        first = await start_replica(valkey.url, "bot-a", clusters, chat)
        alive.append(first)
        await clusters.begin(first.store, *NAMES)
        before = await planned(reader, *NAMES)
        await eventually(lambda: len(chat.posts) == 2 * len(NAMES), "a card for each")
        second = await start_replica(valkey.url, "bot-b", clusters, chat)
        alive.append(second)
        await eventually(lambda: (first.runs(), second.runs()) == (3, 3), "even shares", LONG)
        await asyncio.sleep(1.0)
        after = await planned(reader, *NAMES)

        assert (first.runs(), second.runs()) == (3, 3)
        assert first.number("gpu_migrate_runs_handed_over_total") == 3
        assert second.number("gpu_migrate_runs_handed_over_total") == 0
        assert Counter(chat.posts).most_common(1)[0][1] == 1
        assert len(chat.posts) == 2 * len(NAMES)
        assert {name: stored.run for name, stored in after.items()} == {n: s.run for n, s in before.items()}
    await reader.aclose()


async def test_given_three_replicas_when_one_leaves_and_another_comes_then_shares_are_even_each_time(
    valkey: Valkey,
) -> None:
    track_tasks()
    clusters, chat = Clusters(), MemoryChat()
    async with replicas() as alive:
        for name in ("bot-a", "bot-b", "bot-c"):
            alive.append(await start_replica(valkey.url, name, clusters, chat))
        await clusters.begin(alive[0].store, *NAMES)
        await eventually(lambda: [one.runs() for one in alive] == [2, 2, 2], "even shares", LONG)
        leaver = alive.pop()
        await leaver.close()
        await eventually(lambda: sum(one.runs() for one in alive) == 6, "all runs kept at once", 3)
        alive.append(await start_replica(valkey.url, "bot-c", clusters, chat))
        await eventually(lambda: [one.runs() for one in alive] == [2, 2, 2], "even shares again", LONG)


async def test_given_one_run_and_two_replicas_when_time_passes_then_nothing_moves(valkey: Valkey) -> None:
    track_tasks()
    clusters, chat = Clusters(), MemoryChat()
    async with replicas() as alive:
        first = await start_replica(valkey.url, "bot-a", clusters, chat)
        alive.append(first)
        await clusters.begin(first.store, "gpu-1")
        await eventually(lambda: first.runs() == 1, "the run is kept")
        alive.append(await start_replica(valkey.url, "bot-b", clusters, chat))
        await asyncio.sleep(SETTLE_SECONDS + 1)

        assert [one.runs() for one in alive] == [1, 0]


async def test_given_a_replica_with_a_lease_that_does_nothing_when_a_run_was_left_to_it_then_it_comes_back_once(
    valkey: Valkey,
) -> None:
    """Alive by its lease, frozen otherwise: it starves one run for as long as patience lasts, and no second one."""
    track_tasks()
    clusters, chat = Clusters(), MemoryChat()
    async with replicas() as alive:
        first = await start_replica(valkey.url, "bot-a", clusters, chat)
        alive.append(first)
        await clusters.begin(first.store, "gpu-1", "gpu-2")
        await eventually(lambda: first.runs() == 2, "both are kept")
        frozen = await open_store(valkey.url, replica="bot-b")
        lease = asyncio.create_task(frozen.ownership.keep())
        await eventually(lambda: first.runs() == 1, "one is left to the frozen one", LONG)
        await eventually(lambda: first.runs() == 2, "it is taken back", PATIENCE_SECONDS + 3)

        assert first.number("gpu_migrate_runs_handed_over_total") == 1
    lease.cancel()
    await frozen.aclose()


async def test_given_a_click_of_a_newer_version_when_an_older_replica_owns_the_run_then_the_newer_one_gets_it(
    valkey: Valkey,
) -> None:
    """Both run the same code here: the newer one is the one that comes when the click has become readable."""
    track_tasks()
    clusters, chat = Clusters(), MemoryChat()
    reader = await open_reader(valkey.url)
    async with replicas() as alive:
        older = await start_replica(valkey.url, "bot-a", clusters, chat)
        alive.append(older)
        await clusters.begin(older.store, "gpu-1")
        before = (await planned(reader, "gpu-1"))["gpu-1"]
        valkey.say("XADD", keys.inbox(before.run.id), "9999999999999-0", "event", '{"$":"Teleported"}')
        older.engine.nudge(before.run.id)
        await eventually(lambda: older.runs() == 0, "the run is left")
        await asyncio.sleep(0.5)  # some 25 ticks
        lonely = await reader.runs.load(before.run.id)
        unreadable = older.number("gpu_migrate_runs_unreadable")
        valkey.say("XDEL", keys.inbox(before.run.id), "9999999999999-0")
        newer = await start_replica(valkey.url, "bot-b", clusters, chat)
        alive.append(newer)
        await eventually(lambda: newer.runs() == 1, "the newer one keeps it", 2)

        assert lonely == before
        assert unreadable == 1
        assert older.runs() == 0
    await reader.aclose()


class Restless:
    """An ownership that wants to leave its runs to the other replica all the time."""

    def __init__(self, store: RedisStore) -> None:
        self._own = store.ownership
        self.other = ""

    def __getattr__(self, name: str) -> object:
        return getattr(self._own, name)

    def heir(self) -> str:
        return self.other


async def test_given_a_run_that_changes_hands_all_the_time_when_it_is_done_then_nothing_was_lost_or_doubled(
    valkey: Valkey,
) -> None:
    track_tasks()
    clusters, chat = Clusters(replace(PATIENT, durations=UNHURRIED)), MemoryChat()
    world = clusters.worlds["gpu-single"] = World(one_worker(), policy=clusters.policy)
    reader = await open_reader(valkey.url)
    async with replicas() as alive:
        first, second = (
            await restless(valkey.url, "bot-a", clusters, chat),
            await restless(valkey.url, "bot-b", clusters, chat),
        )
        (one, its), (other, others) = first, second
        its.other, others.other = other.owner, one.owner
        alive += [one, other]
        await clusters.begin(one.store, "gpu-single")
        run = await approve_all(reader, "run-gpu-single", world)
        rows = await reader.runs.log(run.id)

        handed = [each.number("gpu_migrate_runs_handed_over_total") for each in alive]
        calls = [line.partition("(")[0] for line in world.journal if line.partition("(")[0] in EXPECTED]
        assert run.phase is RunPhase.DONE
        assert calls == EXPECTED
        assert min(handed) >= 3, handed
        assert verify_chain(rows) == ()
        assert Counter(chat.posts).most_common(1)[0][1] == 1
        await eventually(lambda: valkey.say("HLEN", keys.OWNERS) == ":0", "an ended run belongs to nobody", 70)
    await reader.aclose()


async def restless(url: str, name: str, clusters: Clusters, chat: MemoryChat) -> tuple[Replica, Restless]:
    store = await open_store(url, replica=name)
    ownership = Restless(store)
    return begin_replica(store, ownership, clusters, chat), ownership  # type: ignore[arg-type]  # by __getattr__


async def approve_all(reader: RedisReader, run_id: str, world: World) -> Run:
    """Press every button until the run has ended."""
    async with asyncio.timeout(60):
        while True:
            stored = await reader.runs.load(run_id)
            assert stored is not None
            if stored.run.phase.ended:
                return stored.run
            for question in stored.run.approvals:
                if question is open_for(stored.run, question.step_key):
                    event_id = f"{question.id}#{question.revision}"
                    event = Approved(world.now(), event_id, APPROVER, question.id, question.revision)
                    await reader.runs.submit(run_id, event)
            await asyncio.sleep(0.01)
