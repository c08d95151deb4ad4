"""What the edge may call: start a run once, put words of people into its inbox, answer slow questions to one person."""

import asyncio
from dataclasses import replace

import pytest

from bot.desk import RunsDesk, Setup, SubmitDesk, run_id
from handlers.ports import StartRequest
from state.errors import TransientError
from state.events import ContinueRequested, PauseRequested, Person
from state.journal import StoredRun
from state.reasons import Code, reason
from state.run import Goal, RunPhase
from tests.builders import START, policy, run, two_workers
from tests.shell.journal import MemoryStore, away
from tests.shell.ports import MemoryChat, World, WorldClock

OPERATOR = Person("U0OPERATOR1", "T1", "C9")
SETUP = Setup({"gpu-multi": policy()}, {"gpu-multi": ""})
AWAY = TransientError(reason(Code.SLACK_UNREACHABLE, error="timeout"))


class Channel(MemoryChat):
    """Where the bot is a member, or not, or nobody knows."""

    member: bool | Exception | None = True

    async def is_member(self, channel: str) -> bool:
        self.whispers.append(("asked", channel))
        if isinstance(self.member, Exception):
            raise self.member
        if self.member is None:
            await asyncio.Event().wait()
        return bool(self.member)


class Office:
    """A desk with what it stands on."""

    def __init__(self, setup: Setup = SETUP) -> None:
        self.store, self.chat, self.nudged = MemoryStore(), Channel(), list[str]()
        clock = WorldClock(World(two_workers()))
        self.desk = SubmitDesk(self.store, self.chat, clock, setup, self.nudged.append)

    async def start(self, signal: str = "t-1", goal: Goal = Goal.MIGRATE) -> Code:
        return (await self.desk.start(StartRequest(signal, "gpu-multi", goal, OPERATOR))).code


async def test_given_a_start_when_asked_then_a_run_begins_planning_where_it_was_asked() -> None:
    office = Office()
    answer = await office.start()
    run = office.store.stored[run_id("t-1")].run

    assert answer is Code.STARTED_LOOKING
    assert (run.phase, run.channel, run.requested_by) == (RunPhase.PLANNING, "C9", "U0OPERATOR1")
    assert run.policy == SETUP.policies["gpu-multi"]
    assert office.nudged == [run.id]


async def test_given_a_channel_in_the_configuration_when_started_elsewhere_then_the_run_talks_there() -> None:
    office = Office(Setup(SETUP.policies, {"gpu-multi": "C1"}))
    await office.start()

    assert office.store.stored[run_id("t-1")].run.channel == "C1"
    assert office.chat.whispers == [("asked", "C1")]


async def test_given_the_same_command_delivered_twice_when_started_then_it_is_one_run_and_no_complaint() -> None:
    office = Office()
    answers = [await office.start(), await office.start()]

    assert answers == [Code.STARTED_LOOKING] * 2
    assert len(office.store.stored) == 1


async def test_given_a_run_when_started_by_another_command_then_it_is_named() -> None:
    office = Office()
    await office.start()
    answer = await office.desk.start(StartRequest("t-2", "gpu-multi", Goal.MIGRATE, OPERATOR))

    assert answer.code is Code.RUN_EXISTS
    assert answer.facts == {"run": run_id("t-1"), "cluster": "gpu-multi", "phase": "planning"}


@pytest.mark.parametrize(
    ("goal", "code", "inbox"),
    [(Goal.MIGRATE, Code.RECORDED, 1), (Goal.PREPARE, Code.RUN_EXISTS, 0)],
    ids=["start", "prepare again"],
)
async def test_given_a_prepared_run_when_asked_again_then_only_start_goes_on(
    goal: Goal, code: Code, inbox: int
) -> None:
    office = Office()
    await office.start(goal=Goal.PREPARE)
    first = office.store.stored[run_id("t-1")]
    office.store.stored[first.run.id] = replace(first, run=replace(first.run, phase=RunPhase.PREPARED))
    answer = await office.start("t-2", goal)
    entries = await office.store.inbox(first.run.id)

    assert answer is code
    assert len(entries) == inbox
    assert all(isinstance(entry.event, ContinueRequested) for entry in entries)


async def test_given_a_bot_that_is_no_member_when_started_then_nothing_begins() -> None:
    office = Office()
    office.chat.member = False

    assert await office.start() is Code.NOT_IN_CHANNEL
    assert office.store.stored == {}


@pytest.mark.parametrize("member", [AWAY, None], ids=["away", "hangs"])
async def test_given_slack_does_not_tell_when_started_then_the_run_begins_all_the_same(
    member: Exception | None,
) -> None:
    office = Office()
    office.chat.member = member
    async with asyncio.timeout(2):
        answer = await office.start()

    assert answer is Code.STARTED_LOOKING


PAUSE = PauseRequested(START, "t-9", OPERATOR)


async def test_given_the_journal_away_when_spoken_to_then_the_person_hears_that_it_was_not_recorded() -> None:
    office = Office()
    office.store.trouble = away()

    assert await office.start() is Code.NOT_RECORDED
    assert (await office.desk.submit("r-1", PAUSE)).code is Code.NOT_RECORDED
    assert office.nudged == []


class Stuck(MemoryStore):
    """Takes a click and never answers."""

    async def submit(self, run_id: str, event: object) -> bool:  # noqa: ARG002 (the port's signature)
        await asyncio.Event().wait()
        return True


async def test_given_a_journal_that_hangs_when_spoken_to_then_it_is_given_up_before_slack_does() -> None:
    office = Office()
    stuck = SubmitDesk(Stuck(), office.chat, WorldClock(World(two_workers())), SETUP, office.nudged.append)
    loop = asyncio.get_running_loop()
    began = loop.time()
    answer = await stuck.submit("r-1", PAUSE)

    assert answer.code is Code.NOT_RECORDED
    assert loop.time() - began < 2.5


async def test_given_an_event_when_recorded_then_the_loop_is_woken_and_a_stranger_run_is_none() -> None:
    office = Office()
    await office.start()
    run = run_id("t-1")
    answers = [(await office.desk.submit(target, PAUSE)).code for target in (run, run, "r-none")]

    assert answers == [Code.RECORDED, Code.RECORDED, Code.NO_SUCH_RUN]
    assert len(await office.store.inbox(run)) == 1
    assert office.nudged == [run, run, run]


async def test_given_a_run_that_has_ended_when_spoken_to_then_the_person_hears_that_and_nobody_is_woken() -> None:
    office = Office()
    office.store.stored["r-1"] = StoredRun(run(phase=RunPhase.DONE), 4, 1)

    assert await office.desk.submit("r-1", PAUSE) == reason(Code.RUN_ENDED, run="r-1")
    assert office.nudged == []


async def test_given_runs_when_read_then_the_active_one_is_found_by_cluster() -> None:
    office, runs = Office(), RunsDesk(MemoryStore())
    await office.start()
    reader = RunsDesk(office.store)

    assert (found := await reader.active("gpu-multi")) is not None
    assert await reader.get(found.id) == found
    assert await reader.recent(5) == (found,)
    assert await runs.active("gpu-multi") is None
    assert await runs.get("r-none") is None
