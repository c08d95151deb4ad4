"""When a run's messages are brought up to date: after a start, when woken, again after a failure, at the very end."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from bot import announcer as bot_announcer
from bot.announcer import Announcer
from bot.messages import Words
from bot.ports import Place
from bot.telling import Teller
from handlers.ports import Message
from state.errors import PermanentError, TransientError
from state.events import Observed, RetryRequested
from state.machine import transition
from state.reasons import Code, reason
from state.run import RunPhase
from tests.builders import START, run, two_workers
from tests.core.model import OPERATOR
from tests.shell.journal import MemoryStore
from tests.shell.ports import MemoryChat, World, WorldClock
from tests.shell.rig import rig, until
from tests.shell.test_keeper import keeping

AWAY = TransientError(reason(Code.SLACK_UNREACHABLE, error="timeout"))
GONE = PermanentError(reason(Code.SLACK_REFUSED, error="message_not_found"))
CARD = "r-1/card:r-1:1"


class Slack(MemoryChat):
    """Is away for the next calls, or has lost a message."""

    away = 0
    gone = ""

    async def post(self, channel: str, message: Message, *, key: str, thread: str = "") -> Place:
        if self.away:
            self.away -= 1
            raise AWAY
        return await super().post(channel, message, key=key, thread=thread)

    async def update(self, place: Place, message: Message, *, key: str) -> None:
        if key == self.gone:
            self.gone = ""
            raise GONE
        await super().update(place, message, key=key)


@asynccontextmanager
async def announcing(slack: Slack) -> AsyncIterator[Announcer]:
    planned = transition(run(), Observed(START, two_workers())).run
    teller = Teller(slack, MemoryStore(), Words(), WorldClock(World(two_workers())))
    announcer = Announcer(teller, lambda: planned, structlog.get_logger())
    task = asyncio.create_task(announcer.keep_on())
    try:
        yield announcer
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def test_given_a_start_when_nobody_wakes_it_then_what_was_left_is_told() -> None:
    slack = Slack()
    async with announcing(slack):
        await until(lambda: CARD in slack.posts, "the card")


async def test_given_slack_away_when_it_is_back_then_it_is_told_without_being_woken() -> None:
    slack = Slack()
    slack.away = 1
    async with announcing(slack):
        await until(lambda: CARD in slack.posts, "the card", 2 * bot_announcer.GAP_SECONDS + 2)

    assert slack.posts.count(CARD) == 1


async def test_given_the_end_of_a_run_when_slack_is_away_for_a_moment_then_the_last_word_still_comes() -> None:
    slack = Slack()
    slack.away = 1
    announcer = Announcer(
        Teller(slack, MemoryStore(), Words(), WorldClock(World(two_workers()))),
        lambda: run(phase=RunPhase.DONE),
        structlog.get_logger(),
    )
    async with asyncio.timeout(bot_announcer.GAP_SECONDS + 2):
        await announcer.last_word()

    assert slack.posts == ["r-1/progress"]


async def test_given_a_deleted_card_when_somebody_types_retry_then_the_question_stands_there_again() -> None:
    world = rig()
    world.chat = slack = Slack()
    waiting = transition(run(), Observed(START, two_workers())).run
    async with keeping(world, waiting) as (keeper, _):
        await until(lambda: CARD in slack.posts, "the card")
        slack.gone = CARD
        await world.store.submit("r-1", RetryRequested(START, "t-1", OPERATOR))
        keeper.nudge()
        await until(lambda: len([key for key in slack.posts if "/card:" in key]) > 1, "another card", 8)
