"""Both worked examples of the guide as people read them, from the first look to the report."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from bot.messages import Words, terminal
from handlers.ports import Message
from state.events import Event
from state.run import Run
from state.snapshot import Snapshot
from tests.builders import one_worker, run, two_workers
from tests.core.model import Drive, Model
from tests.sandbox.blockcheck.check import problems

EXAMPLES = {"one worker": one_worker, "two workers": two_workers}


@dataclass
class Watched(Drive):
    """Keeps the run as it was after each event."""

    runs: list[Run] = field(default_factory=list)

    def send(self, event: Event) -> None:
        super().send(event)
        self.runs.append(self.run)


def played(name: str) -> tuple[Run, ...]:
    snapshot: Snapshot = EXAMPLES[name]()
    drive = Watched(Model(snapshot), run())
    drive.go()
    return tuple(drive.runs)


def messages(words: Words, runs: tuple[Run, ...]) -> Iterator[Message]:
    for made in runs:
        yield words.progress(made)
        yield from (words.card(made, approval) for approval in made.approvals)
    last = runs[-1]
    yield from (words.note(last, note) for note in last.notes)
    yield words.report(last)
    yield words.plan(runs[1])


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_given_an_example_when_played_then_slack_takes_every_message_and_no_fact_is_missing(
    name: str, language: str
) -> None:
    told: list[Message] = []
    for message in messages(Words(language), played(name)):
        told += [message] if message not in told else []

    assert len(told) > 20
    for message in told:
        assert problems({"text": message.text, "blocks": [dict(block) for block in message.blocks]}) == ()
        assert not {"unknown", "unbekannt"} & set(terminal(message).split())


def test_given_pods_with_nowhere_to_go_when_asked_then_they_are_named_once() -> None:
    runs = played("two workers")
    card = next(a for a in runs[-1].approvals if a.step_key.startswith("move-workloads"))
    text = terminal(Words().card(runs[-1], card))

    assert text.count("gpu-burn-7d-46pml") == 1
    assert "No free GPU elsewhere" in text
