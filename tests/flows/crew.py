"""The people of a flow: somebody starts a migration, somebody answers its questions, as they would in Slack.

They see messages and press buttons. Which run a message belongs to stands in its metadata, as Slack hands it out.
"""

import time
from collections.abc import Callable, Iterator

from sandbox.demo_script import key_of
from sandbox.http_client import NoAnswer
from sandbox.people import Message
from tests.flows.stage import POLL, Stage

OPERATOR, APPROVER, OTHER_APPROVER, ONLOOKER = "operator-1", "approver-1", "approver-2", "onlooker-1"
APPROVE, REJECT = "gm:approve", "gm:reject"
PATIENCE = 240.0  # real seconds for a whole migration on a slow, shared machine
ENDINGS = ("note:done", "note:aborted")

Hook = Callable[[int, Message], None]


class Crew:
    """Plays one cluster's run. `answered` grows by one with each card that was answered."""

    def __init__(self, stage: Stage, cluster: str) -> None:
        self.stage = stage
        self.cluster = cluster
        self.answered: list[str] = []  # values of the buttons that were pressed

    def command(self, word: str, name: str = OPERATOR) -> str:
        return self.stage.say(name, f"/gpu-migrate {word} {self.cluster}")

    def messages(self) -> list[Message]:
        """Messages of the newest run of this cluster, oldest first."""
        seen = self.stage.messages()
        run = self.run(seen)
        return [message for message in seen if run and key_of(message).startswith(f"{run}/")]

    def run(self, seen: list[Message] | None = None) -> str:
        """The run's id, "" before its first message."""
        roots = [m for m in seen or self.stage.messages() if key_of(m).endswith("/progress")]
        ours = [key_of(m).partition("/")[0] for m in roots if f" {self.cluster}:" in m["text"]]
        return ours[-1] if ours else ""

    def progress(self) -> str:
        """What the living message says now."""
        return next((m["text"] for m in self.messages() if key_of(m).endswith("/progress")), "")

    def told(self, key: str) -> str:
        """The news whose key begins so, with all its lines; "" when it was not told."""
        found = (m for m in self.messages() if key_of(m).partition("/")[2].startswith(f"note:{key}"))
        return next((f"{message['text']}\n{message['blocks']}" for message in found), "")

    def open_cards(self) -> Iterator[Message]:
        for message in self.messages():
            if any(b["action_id"] == APPROVE and b["value"] not in self.answered for b in message["buttons"]):
                yield message

    def answer(self, card: Message, name: str = APPROVER, action: str = APPROVE) -> None:
        """Press the button; a press that Slack reports as lost is pressed again at the next look, as people do."""
        button = next(b for b in card["buttons"] if b["action_id"] == action)
        try:
            self.stage.person(name).press(card["ts"], button)
        except NoAnswer:
            return
        self.answered.append(button["value"])

    def play(self, until: Callable[[], object] | None = None, *, before: Hook | None = None) -> None:
        """Approve every question until the run has ended, or until `until` says so.

        `before` is called with the number (from 1) and the message of each card, before it is answered.
        """
        deadline = time.monotonic() + PATIENCE
        while not (until() if until else self.ended()):
            assert time.monotonic() < deadline, f"{self.cluster} does not come on; last seen:\n{self.state()}"
            for card in tuple(self.open_cards()):
                if before is not None:
                    before(len(self.answered) + 1, card)
                self.answer(card)
            time.sleep(POLL)

    def ended(self) -> str:
        """How the run ended: "done", "aborted", or "" while it goes on."""
        keys = [key_of(message).partition("/")[2] for message in self.messages()]
        return next((key.removeprefix("note:") for key in keys if key in ENDINGS), "")

    def state(self) -> str:
        """Everything of the run that people see now."""
        return "\n".join(
            f"{message['text'][:300]} {[b['text'] for b in message['buttons']]}" for message in self.messages()
        )
