"""The journal's promises, against a real server: creating, changing and reading runs."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.ports import Ownership, RunStore
from state.errors import RunConflict
from state.journal import MessageRecord, StoredRun
from state.reasons import Code
from state.run import RunPhase
from state.store import RedisStore, verify_chain
from tests.stored import AT, a_click, a_run, an_intent, begun, change, opened
from tests.valkey import Valkey


@pytest.fixture
async def store(valkey: Valkey) -> AsyncIterator[RedisStore]:
    async with opened(valkey.url) as store:
        yield store


def test_given_the_store_when_typed_then_it_is_what_the_shell_asks_for(store: RedisStore) -> None:
    runs: RunStore = store.runs
    ownership: Ownership = store.ownership

    assert (runs, ownership) == (store.runs, store.ownership)


async def test_given_a_transition_when_applied_then_run_and_version_moved(store: RedisStore) -> None:
    stored = await begun(store)
    run = replace(stored.run, phase=RunPhase.ACTIVE, intent=an_intent("op-1"))

    after = await store.runs.apply(change(stored, "t1", run))

    assert after == StoredRun(run, 1, stored.fence)
    assert await store.runs.load("run-1") == after


async def test_given_the_same_operation_when_applied_again_then_it_counts_once(store: RedisStore) -> None:
    stored = await begun(store)
    first = change(stored, "t1")

    once = await store.runs.apply(first)
    twice = await store.runs.apply(first)

    assert once == twice
    assert len(await store.runs.log("run-1")) == 2


async def test_given_the_same_operation_with_another_run_when_applied_then_conflict_and_not_a_silent_yes(
    store: RedisStore,
) -> None:
    stored = await begun(store)
    late = await store.runs.apply(change(stored, "t1", replace(stored.run, ops=7)))

    with pytest.raises(RunConflict):
        await store.runs.apply(change(stored, "t1", replace(stored.run, ops=8)))

    assert await store.runs.load("run-1") == late


async def test_given_eight_later_operations_when_the_ninth_last_comes_again_then_only_that_one_conflicts(
    store: RedisStore,
) -> None:
    stored = await begun(store)
    changes = []
    for number in range(9):
        changes.append(change(stored, f"t{number}"))
        stored = await store.runs.apply(changes[-1])

    assert [(await store.runs.apply(one)).version for one in changes[1:]] == list(range(2, 10))
    with pytest.raises(RunConflict):
        await store.runs.apply(changes[0])


@pytest.mark.parametrize(("version", "fence", "what"), [(-1, 0, "version"), (1, 0, "version"), (0, -1, "fence")])
async def test_given_an_overtaken_transition_when_applied_then_conflict_and_nothing_changed(
    store: RedisStore, version: int, fence: int, what: str
) -> None:
    stored = await store.runs.apply(change(await begun(store), "t0"))
    moved = replace(stored, version=stored.version + version, fence=stored.fence + fence)

    with pytest.raises(RunConflict) as caught:
        await store.runs.apply(change(moved, "t1"))

    assert caught.value.reason.code is Code.STORE_OVERTAKEN
    assert caught.value.reason.text("what") == what
    assert await store.runs.load("run-1") == stored


async def test_given_an_open_intent_that_the_caller_does_not_know_when_applied_then_busy(store: RedisStore) -> None:
    stored = await begun(store)
    opened_run = replace(stored.run, intent=an_intent("op-1"))
    after = await store.runs.apply(change(stored, "t1", opened_run))
    forgetful = replace(after, run=replace(after.run, intent=None))

    with pytest.raises(RunConflict) as caught:
        await store.runs.apply(change(forgetful, "t2", replace(after.run, intent=an_intent("op-2"))))

    assert caught.value.reason.text("what") == "busy"


async def test_given_a_recorded_outcome_when_the_next_intent_opens_with_it_then_it_is_stored(store: RedisStore) -> None:
    stored = await begun(store)
    first = await store.runs.apply(change(stored, "t1", replace(stored.run, intent=an_intent("op-1"))))

    second = await store.runs.apply(change(first, "t2", replace(stored.run, intent=an_intent("op-2", "w2"))))

    assert second.version == 2


async def test_given_a_run_that_ends_when_applied_then_its_cluster_is_free_and_it_stays_readable(
    store: RedisStore,
) -> None:
    stored = await begun(store)
    await store.runs.claim_cluster(stored, "iks-1")
    done = replace(stored.run, phase=RunPhase.DONE)

    after = await store.runs.apply(change(stored, "end", done))

    assert (await store.runs.active("gpu-1"), await store.runs.active("iks-1")) == (None, None)
    assert await store.runs.actives() == ()
    assert await store.runs.load("run-1") == after
    assert await store.runs.create(a_run("run-2"), "e2") is None


async def test_given_an_alarm_when_applied_then_the_run_is_due_no_earlier(store: RedisStore) -> None:
    stored = await begun(store)

    later = await store.runs.apply(change(stored, "t1", wake_at=datetime.now(UTC) + timedelta(hours=1)))
    due_later = await store.ownership.due()
    await store.runs.apply(change(later, "t2", wake_at=datetime.now(UTC) - timedelta(hours=1)))

    assert due_later == ()
    assert await store.ownership.due() == ("run-1",)


async def test_given_an_ended_run_with_an_alarm_when_asked_then_it_is_not_due(store: RedisStore) -> None:
    stored = await begun(store)
    done = replace(stored.run, phase=RunPhase.DONE)

    after = await store.runs.apply(change(stored, "end", done, wake_at=datetime.now(UTC)))
    due = await store.ownership.due()
    await store.runs.apply(change(after, "told", done, wake_at=datetime.now(UTC)))

    assert due == ()
    assert await store.ownership.due() == ()


async def test_given_many_runs_when_asked_for_the_recent_then_newest_first_ended_included(store: RedisStore) -> None:
    for number in range(4):
        stored = await begun(store, f"run-{number}", f"gpu-{number}")
        await asyncio.sleep(0.002)  # creation is told apart by milliseconds
    await store.runs.apply(change(stored, "end", replace(stored.run, phase=RunPhase.ABORTED)))

    recent = await store.runs.recent(3)

    assert [one.run.id for one in recent] == ["run-3", "run-2", "run-1"]
    assert recent[0].run.phase is RunPhase.ABORTED


async def test_given_no_such_run_when_read_then_nothing(store: RedisStore) -> None:
    assert await store.runs.load("nobody") is None
    assert await store.runs.active("nowhere \ud800") is None
    assert await store.runs.inbox("nobody") == ()
    assert await store.runs.log("nobody") == ()
    assert await store.runs.messages("nobody") == {}
    assert await store.runs.submit("nobody", a_click("e")) is False


async def test_given_message_records_when_put_then_the_last_word_per_key_counts(store: RedisStore) -> None:
    await begun(store)
    intent, sent = MessageRecord("C1", "", "d1", AT), MessageRecord("C1", "17.1", "d1", AT, thread="16.9")

    await store.runs.put_message("run-1", "progress", intent)
    await store.runs.put_message("run-1", "progress", sent)
    await store.runs.put_message("run-1", "card", intent)

    assert await store.runs.messages("run-1") == {"progress": sent, "card": intent}


async def test_given_transitions_when_the_log_is_read_then_it_is_a_whole_chain_that_tells_who(
    store: RedisStore,
) -> None:
    stored = await begun(store)
    for number in range(130):
        stored = await store.runs.apply(change(stored, f"t{number}", log={"event": "Nudged", "actor": f"U{number}"}))

    rows = await store.runs.log("run-1")
    newest = await store.runs.log("run-1", limit=120)

    assert [row["version"] for row in rows] == list(range(131))
    assert (rows[0]["event"], rows[0]["actor"], rows[9]["actor"]) == ("Created", "U1", "U8")
    assert newest == rows[-120:]
    assert verify_chain(rows) == verify_chain(newest) == ()
    assert abs(datetime.fromisoformat(str(rows[5]["at"])) - datetime.now(UTC)) < timedelta(minutes=1)


async def test_given_a_row_changed_in_redis_when_verified_then_it_is_named(valkey: Valkey, store: RedisStore) -> None:
    stored = await begun(store)
    for number in range(3):
        stored = await store.runs.apply(change(stored, f"t{number}"))
    key = "{gpu-migrate}:log:run-1"

    valkey.say("XDEL", key, "2-1")

    assert verify_chain(await store.runs.log("run-1")) == (3,)
