"""History that was lost is said even when the store and Slack are away again in that very moment."""

import asyncio

from bot import rewinding
from bot.engine import Engine
from bot.ports import Place
from bot.rewinding import take_stock
from handlers.ports import Message
from state.errors import PermanentError, TransientError
from state.events import Rewound
from state.journal import StoredRun
from state.reasons import Code, reason
from state.run import RunPhase
from tests.builders import run
from tests.shell.journal import MemoryOwnership, MemoryStore, away
from tests.shell.ports import MemoryChat
from tests.shell.rig import QUICK, begun, rig, until

LOST = reason(Code.STORE_REWOUND, run="r-1", known=5, found=-1)
WAITING = run(phase=RunPhase.PLANNED)


class Moody(MemoryChat):
    """Slack refuses the first posts with what it is given."""

    def __init__(self, *troubles: TransientError | PermanentError) -> None:
        super().__init__()
        self.troubles = list(troubles)
        self.asked = 0

    async def post(self, channel: str, message: Message, *, key: str, thread: str = "") -> Place:
        self.asked += 1
        if self.troubles:
            raise self.troubles.pop(0)
        return await super().post(channel, message, key=key, thread=thread)


async def test_given_the_store_away_when_history_was_lost_then_it_is_asked_until_it_answers() -> None:
    world = rig()
    world.put(WAITING)
    world.store.trouble = away()
    looking = asyncio.create_task(take_stock(world.around(), world.ownership, WAITING, LOST))
    await until(lambda: world.store.tries >= 3, "a third try")
    world.store.trouble = None

    assert await asyncio.wait_for(looking, 10) == Rewound(world.world.now(), 5, -1)
    assert world.memory_chat.posts == []


async def test_given_slack_away_when_the_record_is_gone_then_it_is_said_when_slack_is_back_and_once() -> None:
    world = rig()
    world.chat = chat = Moody(TransientError(reason(Code.SLACK_UNREACHABLE, error="timeout")))

    found = await asyncio.wait_for(take_stock(world.around(), world.ownership, WAITING, LOST), 10)
    again = await take_stock(world.around(), world.ownership, WAITING, LOST)

    assert (found, again) == (None, None)
    assert chat.posts == ["r-1/lost"]
    assert chat.asked == 2


async def test_given_the_record_comes_back_when_slack_was_away_then_the_run_goes_on_and_no_loss_is_told() -> None:
    world = rig()
    world.chat = chat = Moody(*[TransientError(reason(Code.SLACK_UNREACHABLE, error="timeout"))] * 9)
    looking = asyncio.create_task(take_stock(world.around(), world.ownership, WAITING, LOST))
    await until(lambda: chat.asked, "a vain try")
    world.put(WAITING)

    assert isinstance(await asyncio.wait_for(looking, 2 * rewinding.AGAIN_SECONDS), Rewound)
    assert chat.posts == []


async def test_given_a_channel_that_is_closed_when_the_record_is_gone_then_nobody_waits_for_ever() -> None:
    world = rig()
    world.chat = Moody(PermanentError(reason(Code.SLACK_REFUSED, error="is_archived")))

    assert await asyncio.wait_for(take_stock(world.around(), world.ownership, WAITING, LOST), 5) is None


class AwayThen(MemoryStore):
    """Away for some calls after it has said that history was lost."""

    left = 0

    async def load(self, run_id: str) -> StoredRun | None:
        if self.left:
            self.left -= 1
            raise away()
        return await super().load(run_id)


async def test_given_the_store_away_again_when_a_rewound_run_is_taken_up_then_it_still_stops_and_says_so() -> None:
    world = rig()
    world.store = store = AwayThen()
    world.ownership = MemoryOwnership(store)
    world.put(begun(QUICK))
    engine = Engine(world.around(), world.ownership)
    engine.nudge("r-1")
    await until(lambda: world.world.journal, "work")
    store.left = 3
    store.trouble = TransientError(reason(Code.STORE_REWOUND, run="r-1", known=9, found=3))
    engine.nudge("r-1")
    await until(lambda: "r-1" in store.accepted, "the loss noticed")
    async with asyncio.timeout(15):
        while not any(change.log["event"] == "Rewound" for change in store.changes):
            await engine.tick()
            await asyncio.sleep(0.02)
    await engine.aclose()

    pause = store.stored["r-1"].run.pause
    assert pause is not None
    assert pause.reason.code is Code.STORE_REWOUND
