"""Many runs, three replicas that are killed and renewed: each run has one owner at the end, and shares are even."""

import asyncio
from collections import Counter

from state.store import open_reader
from tests.shell.crowd import NAMES, Crowd
from tests.shell.process import track_tasks
from tests.valkey import Valkey

RUNS = 45


async def test_given_many_runs_when_every_replica_is_killed_and_renewed_then_each_has_one_owner_and_shares_are_even(
    valkey: Valkey,
) -> None:
    track_tasks()
    crowd = Crowd(valkey, RUNS, tick=0.05)
    try:
        async with asyncio.timeout(60):
            await crowd.begin()
            await crowd.kept()
            for name in NAMES:
                await crowd.kill(name)
            await crowd.kept()
            await crowd.renew(NAMES[1])
            await crowd.even()
            owners = await crowd.owners()
            await asyncio.sleep(0.5)
            later = await crowd.owners()
            reader = await open_reader(valkey.url)
            runs = await reader.runs.recent(RUNS)
            await reader.aclose()

        assert owners == later
        assert sorted(crowd.shares()) == sorted(owners.values()) == [15, 15, 15]
        assert Counter(crowd.chat.posts).most_common(1)[0][1] == 1
        assert len(runs) == RUNS
        assert {stored.version for stored in runs} == {1}, "each was planned once, and nothing else was decided"
    finally:
        await crowd.aclose()
