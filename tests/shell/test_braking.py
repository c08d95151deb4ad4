"""The failure-rate brake over a real store: counted once, over runs, within the window, since the last lift."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bot.braking import FailureRate
from state.braking import Limit, why
from state.reasons import Code, reason
from state.run import Note, Run
from state.store import RedisStore
from tests.stored import a_run, opened
from tests.valkey import Valkey

LIMIT = Limit(3, timedelta(minutes=30))


def failed(key: str = "failed:x", age: timedelta = timedelta()) -> Note:
    return Note(key, datetime.now(UTC) - age, reason(Code.STEP_FAILED, step="x"))


def a(name: str) -> Run:
    return replace(a_run(f"r-{name}", f"gpu-{name}"))


async def braked(store: RedisStore) -> bool:
    return await store.get_brake() is not None


async def test_given_failures_of_three_runs_when_counted_then_the_brake_is_set_and_names_them(valkey: Valkey) -> None:
    async with opened(valkey.url) as store:
        rate = FailureRate(store.fleet, LIMIT)
        steps = []
        for name in ("b", "a", "c"):
            await rate.count(a(name), (failed(),))
            steps.append(await braked(store))
        brake = why(await store.get_brake())

    assert steps == [False, False, True]
    assert brake is not None
    assert brake.text("by") == ""
    assert brake.cause == reason(Code.RUNS_FAILED, clusters=("gpu-a", "gpu-b", "gpu-c"))


async def test_given_one_run_that_fails_often_and_is_counted_again_then_it_counts_once(valkey: Valkey) -> None:
    async with opened(valkey.url) as store:
        rate = FailureRate(store.fleet, LIMIT)
        for key in ("failed:x", "failed:y", "failed:z", "failed:x"):
            await rate.count(a("a"), (failed(key),))
        await rate.count(a("b"), (failed(),))

        assert not await braked(store)


async def test_given_old_failures_when_counted_then_only_the_window_counts(valkey: Valkey) -> None:
    async with opened(valkey.url) as store:
        rate = FailureRate(store.fleet, LIMIT)
        for name, minutes in (("a", 31), ("b", 29), ("c", 0)):
            await rate.count(a(name), (failed(age=timedelta(minutes=minutes)),))

        assert not await braked(store)
        await rate.count(a("d"), (failed(),))
        assert await braked(store)


async def test_given_a_lifted_brake_when_the_same_failures_are_counted_again_then_it_stays_lifted(
    valkey: Valkey,
) -> None:
    async with opened(valkey.url) as store:
        rate = FailureRate(store.fleet, LIMIT)
        notes = {name: failed() for name in "abc"}
        for name, note in notes.items():
            await rate.count(a(name), (note,))
        await store.lift_brake("U0OPERATOR1")
        for name, note in notes.items():
            await rate.count(a(name), (note,))
        log = [(row["event"], row["by"]) for row in await store.fleet.fleet_log()]

        assert not await braked(store)
        assert log == [("brake-set", ""), ("brake-lifted", "U0OPERATOR1")]


async def test_given_no_limit_or_no_store_when_counted_then_nothing_is_raised() -> None:
    with_server = Valkey()
    try:
        with_server.start()
        async with opened(with_server.url) as store:
            await FailureRate(store.fleet, Limit(0)).count(a("a"), (failed(),))
            with_server.kill()
            await FailureRate(store.fleet, LIMIT).count(a("a"), (failed(),))
    finally:
        with_server.close()
