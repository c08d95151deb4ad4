"""Answers to people of a run: given beside the loop, and to those whose words came too late."""

from dataclasses import replace

import structlog

from bot.answering import Answers, say_too_late
from handlers.ports import Message
from state.effects import Answer
from state.errors import TransientError
from state.events import PauseRequested, Person, TurnedAway
from state.reasons import Code, reason
from state.run import RunPhase
from tests.builders import START, run
from tests.shell.ports import MemoryChat
from tests.shell.rig import rig, settled

SOMEBODY, NOBODY_HEARD = Person("U0OPERATOR1", "T1", "C9"), Person("U0ONLOOKER1", "T1", "C9")
ENDED = run(phase=RunPhase.DONE)


class Deaf(MemoryChat):
    """Slack is away, or something breaks that nobody thought of."""

    def __init__(self, trouble: Exception) -> None:
        super().__init__()
        self.trouble = trouble

    async def whisper(self, channel: str, user: str, message: Message) -> None:  # noqa: ARG002 (the port's signature)
        raise self.trouble


async def test_given_words_that_nobody_took_when_the_run_has_ended_then_each_person_reads_so() -> None:
    world = rig()
    world.put(replace(ENDED, phase=RunPhase.ACTIVE))
    await world.store.submit("r-1", PauseRequested(START, "t-1", SOMEBODY))
    await world.store.submit(
        "r-1", TurnedAway(START, "t-2", NOBODY_HEARD, "pause", reason(Code.NOT_OPERATOR, user="U"))
    )
    await say_too_late(world.around(), ENDED)

    ((user, text),) = world.memory_chat.whispers
    assert user == SOMEBODY.user
    assert "has ended" in text


async def test_given_slack_away_when_answered_then_nothing_breaks() -> None:
    for trouble in (TransientError(reason(Code.SLACK_UNREACHABLE, error="timeout")), ZeroDivisionError()):
        world = rig()
        world.chat = Deaf(trouble)
        answers = Answers(world.around(), lambda: ENDED, structlog.get_logger())
        answers.give(Answer(SOMEBODY, reason(Code.STALE_CARD)))
        await settled()
        await answers.aclose()

        assert world.memory_chat.whispers == []


async def test_given_an_answer_with_a_command_to_type_when_given_then_the_cluster_stands_in_it() -> None:
    world = rig()
    answers = Answers(world.around(), lambda: ENDED, structlog.get_logger())
    answers.give(Answer(SOMEBODY, reason(Code.STORE_REWOUND, run="r-1", known=9, found=4)))
    await settled()
    await answers.aclose()

    ((_, text),) = world.memory_chat.whispers
    assert f"/gpu-migrate resume {ENDED.cluster}" in text
