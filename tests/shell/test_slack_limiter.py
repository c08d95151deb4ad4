from datetime import timedelta

import pytest

from bot.adapters.slack.limiter import RATES, SPARED, Limiter
from state.errors import TransientError


class Time:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    async def note(self, seconds: float) -> None:
        """Somebody sleeps while others ask at the same moment."""
        self.slept.append(seconds)


def limiter(time: Time, patience: float = 10) -> Limiter:
    return Limiter(timedelta(seconds=patience), time, time.sleep)


async def test_given_a_burst_when_posting_then_the_first_leave_at_once_and_then_one_a_second() -> None:
    time = Time()
    limits = limiter(time)
    for _ in range(8):
        await limits.admit("chat.postMessage", "C1")

    assert time.slept == [pytest.approx(1.0)] * 3


async def test_given_another_channel_when_posting_then_it_has_a_limit_of_its_own() -> None:
    time = Time()
    limits = limiter(time)
    for channel in ("C1", "C2", "C3"):
        for _ in range(5):
            await limits.admit("chat.postMessage", channel)

    assert time.slept == []


async def test_given_updates_in_many_channels_when_rewriting_then_one_limit_for_all() -> None:
    time = Time()
    limits = limiter(time)
    for number in range(RATES["chat.update"].burst + 1):
        await limits.admit("chat.update", f"C{number}")

    assert time.slept == [pytest.approx(60 / RATES["chat.update"].per_minute)]


async def test_given_nobody_would_wait_that_long_when_asking_then_sent_away_with_the_delay() -> None:
    limits = limiter(Time(), patience=1)
    for _ in range(5):
        await limits.admit("chat.postMessage", "C1")
    limits.hold("chat.postMessage", "C1", timedelta(seconds=30))

    with pytest.raises(TransientError) as raised:
        await limits.admit("chat.postMessage", "C1")

    assert raised.value.delay == timedelta(seconds=30)
    await limits.admit("chat.postMessage", "C2")


async def test_given_a_pause_when_calling_again_then_the_burst_is_back_but_not_more() -> None:
    time = Time()
    limits = limiter(time)
    for _ in range(5):
        await limits.admit("chat.postMessage", "C1")
    time.now += 3600
    for _ in range(6):
        await limits.admit("chat.postMessage", "C1")

    assert len(time.slept) == 1


async def test_given_many_rewrites_of_progress_when_a_card_is_rewritten_then_it_leaves_at_once() -> None:
    """B067: questions and news go before progress."""
    time = Time()
    limits = Limiter(timedelta(seconds=10), time, time.note)
    for _ in range(RATES["chat.update"].burst - SPARED + 1):
        await limits.admit("chat.update", "C1", modest=True)
    with pytest.raises(TransientError):
        await limits.admit("chat.update", "C1", modest=True)
    waits = len(time.slept)
    for _ in range(4):
        await limits.admit("chat.update", "C1")

    assert waits == 1
    assert len(time.slept) == waits


async def test_given_a_method_without_a_limit_when_held_then_nothing_happens() -> None:
    limits = limiter(Time())
    limits.hold("auth.test", "", timedelta(hours=1))

    await limits.admit("auth.test")
