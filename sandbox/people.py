"""What a person does in the pretend Slack, from a shell or a script: read, type, press buttons.

It goes through the page's JSON (contract in sandbox/slack/page.py), so nothing is possible here that a person could not
do with eyes and a mouse.
"""

from dataclasses import dataclass
from typing import Any

from sandbox.http_client import NoAnswer, call

Message = dict[str, Any]
Button = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Card:
    """A message with the one of its buttons that fits what was asked for."""

    message: Message
    button: Button


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody at the page. `name` "" is the scenario's first person, `channel` "" the scenario's channel."""

    page: str
    name: str = ""
    channel: str = ""

    def people(self) -> Any:
        return self._checked(call("GET", f"{self.page}page/people"))

    def messages(self) -> list[Message]:
        """Everything the person sees in the channel, oldest first, threads and ephemeral messages included."""
        query = {"channel": self.channel, "user": self.name}
        rows: list[Message] = self._checked(call("GET", f"{self.page}page/messages", query=query))["messages"]
        return rows

    def type(self, text: str, thread: str = "") -> Any:
        """Send a message or a slash command; raises NoAnswer with what the person would read."""
        body = {"user": self.name, "channel": self.channel, "text": text, **({"thread_ts": thread} if thread else {})}
        return self._checked(call("POST", f"{self.page}page/type", body))

    def cards(self, wanted: str) -> list[Card]:
        """Messages with a button of that label or action id, newest first."""
        found = []
        for message in reversed(self.messages()):
            button = next((button for button in message["buttons"] if _fits(button, wanted)), None)
            if button is not None:
                found.append(Card(message, button))
        return found

    def click(self, wanted: str, number: int = 1) -> Any:
        """Press a button by label or action id, on the newest card that has it (`number` 1), or an older one.

        Raises NoAnswer when there is no such card, with the buttons there are.
        """
        cards = self.cards(wanted)
        if len(cards) < number:
            there = sorted({button["text"] for message in self.messages() for button in message["buttons"]})
            raise NoAnswer(f"no card {number} with a button {wanted!r}; buttons: {', '.join(there) or 'none'}")
        card = cards[number - 1]
        return self.press(card.message["ts"], card.button)

    def press(self, ts: str, button: Button, *, stale: bool = False) -> Any:
        """Press a known button of a known message; `stale` also when the message has changed since."""
        body = {
            "user": self.name,
            "channel": self.channel,
            "ts": ts,
            "action_id": button["action_id"],
            "block_id": button.get("block_id", ""),
            **({"value": button["value"]} if button.get("value") else {}),
            **({"stale": True} if stale else {}),
        }
        return self._checked(call("POST", f"{self.page}page/click", body))

    @staticmethod
    def _checked(answer: Any) -> Any:
        if not answer.get("ok"):
            raise NoAnswer(answer.get("message") or answer.get("error") or "refused")
        return answer


def _fits(button: Button, wanted: str) -> bool:
    label = button.get("text") or ""
    return wanted.casefold() in (label.casefold(), button["action_id"].casefold())


def shown(message: Message) -> str:
    """One message as plain lines: who, what, and its buttons."""
    lines = [f"{'  ' if 'thread_ts' in message else ''}{message['name']}: {message['text']}"]
    lines += [f"    [{button['text']}] {button['action_id']}" for button in message["buttons"]]
    return "\n".join(lines)
