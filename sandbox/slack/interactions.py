"""What a person does: type, press, fill in, close. Each is handed to the app as Slack would, and its failure shown.

Who may do what is the app's business; only what Slack's own client prevents is prevented here.
"""

import re
from dataclasses import dataclass
from typing import Any

from sandbox.journal import Journal
from sandbox.scenario import Person
from sandbox.slack import identity, payloads
from sandbox.slack.answers import Answers
from sandbox.slack.delivery import Ack, Delivery
from sandbox.slack.errors import SlackError
from sandbox.slack.interactivity import ResponseUrl, Triggers
from sandbox.slack.workspace import Channel, Message, Workspace

FAILED = {
    "dispatch_failed": "{what} failed with the error “dispatch_failed”: the app could not be reached.",
    "operation_timeout": "{what} failed because of the error “operation_timeout”: the app did not answer in 3 seconds.",
}
INVITE = "/invite"
UNKNOWN_COMMAND = "{command} is not a valid command. All messages that start with “/” are read as commands."
NOT_IN_THREADS = "{command} is not supported in threads. Sorry!"


@dataclass(frozen=True, slots=True)
class Press:
    """One press of a button or choice in a select.

    Attributes:
        value: narrows down buttons that share an action_id; for selects the option chosen.
        stale: also look at how the message stood before its last changes, as a client does that has not redrawn yet.
    """

    ts: str
    action_id: str
    value: str | None = None
    block_id: str = ""
    stale: bool = False


class Interactions:
    """The hands of everybody in the workspace. `base` in the methods: scheme and host for response URLs."""

    def __init__(self, workspace: Workspace, triggers: Triggers, delivery: Delivery, journal: Journal) -> None:
        self._workspace = workspace
        self._triggers = triggers
        self._delivery = delivery
        self._journal = journal
        self.answers = Answers(workspace, triggers, journal)

    async def type(self, person: Person, channel: Channel, text: str, base: str, thread_ts: str = "") -> dict[str, Any]:
        """Type a line into the composer: a command, or an ordinary message."""
        self._require_seat(person, channel)
        text = text.strip()
        if not text:
            raise SlackError("no_text")
        if not text.startswith("/"):
            return self._say(person, channel, text, thread_ts)
        command, rest = (*text.split(None, 1), "")[:2]
        if command == INVITE and rest.strip() == f"@{identity.BOT_NAME}" and not channel.is_im:
            return self._invite(person, channel, text)
        if command not in identity.COMMANDS or thread_ts:
            says = (NOT_IN_THREADS if command in identity.COMMANDS else UNKNOWN_COMMAND).format(command=command)
            self.tell_person(person, channel, says, thread_ts)
            return {"ok": False, "error": "unknown_command" if not thread_ts else "not_in_threads", "message": says}
        return await self._command(person, channel, command, rest, base)

    async def press(self, person: Person, channel: Channel, press: Press, base: str) -> dict[str, Any]:
        """Press something in a message."""
        self._require_seat(person, channel)
        message = channel.messages.get(press.ts)
        if message is None or message.deleted or message.only_for not in ("", person.id):
            raise SlackError("message_not_found")
        element, block_id = self._element(message, press)
        action = payloads.action_of(element, block_id, press.value)
        path = self._triggers.response_path(person.id, channel.id, message.ts, message.thread)
        origin = payloads.Origin(self._triggers.issue(person.id), base + path)
        payload = payloads.message_action(person, channel, message, action, origin)
        answer = self._remember("click", person, channel.id, {**_as_dict(press), "text": _label(element)})
        ack = await self._delivery.send("interactive", payload)
        answer.update(_outcome(ack, "The action"))
        if ack.error:
            self.tell_person(person, channel, str(answer["message"]), message.thread)
        return dict(answer)

    def tell_person(self, person: Person, channel: Channel, text: str, thread: str = "") -> None:
        """Slack's own voice: an ephemeral line that no app wrote."""
        body: dict[str, Any] = {"type": "message", "subtype": "slackbot", "user": "USLACKBOT", "text": text}
        self._workspace.add(channel, {**body, "thread_ts": thread} if thread else body, only_for=person.id)

    async def _command(self, person: Person, channel: Channel, command: str, rest: str, base: str) -> dict[str, Any]:
        origin = payloads.Origin(
            self._triggers.issue(person.id), base + self._triggers.response_path(person.id, channel.id)
        )
        payload = payloads.slash_command(person, channel, command, self._escaped(rest), origin)
        typed = f"{command} {rest}".strip()
        answer = self._remember("type", person, channel.id, {"text": typed})
        ack = await self._delivery.send("slash_commands", payload)
        answer.update(_outcome(ack, command))
        if ack.error:
            self.tell_person(person, channel, str(answer["message"]))
        elif ack.payload:
            self._show(person, channel, typed, ack.payload)
        return dict(answer)

    def _show(self, person: Person, channel: Channel, typed: str, payload: dict[str, Any]) -> None:
        """Show what came with the acknowledgement; with in_channel everybody also sees what was typed."""
        if payload.get("response_type") == "in_channel":
            self._workspace.add(channel, _person_message(person, typed))
        url = ResponseUrl(person.id, channel.id, "", 0.0)
        try:
            self.answers.show(url, payload)
        except SlackError as refusal:
            self.tell_person(person, channel, f"The app's answer could not be shown ({refusal.error}).")

    def _invite(self, person: Person, channel: Channel, text: str) -> dict[str, Any]:
        """Slack's own command: the bot becomes a member, everybody sees that it did."""
        if not channel.has_bot():
            channel.members.append(identity.BOT_USER)
            says = f"was added to {channel.name} by <@{person.id}>."
            self._workspace.add(channel, {"type": "message", "user": identity.BOT_USER, "text": says})
        answer = self._remember("type", person, channel.id, {"text": text})
        answer.update(ok=True)
        return dict(answer)

    def _say(self, person: Person, channel: Channel, text: str, thread_ts: str) -> dict[str, Any]:
        body = _person_message(person, self._escaped(text))
        parent = channel.public(thread_ts) if thread_ts else None
        if thread_ts and parent is None:
            raise SlackError("message_not_found")
        if parent is not None:
            body |= {"thread_ts": parent.thread or parent.ts, "parent_user_id": parent.body["user"]}
            parent.body["thread_ts"] = body["thread_ts"]
        message = self._workspace.add(channel, body)
        answer = self._remember("type", person, channel.id, {"text": text})
        answer.update(ok=True, ts=message.ts)
        return dict(answer)

    def _element(self, message: Message, press: Press) -> tuple[dict[str, Any], str]:
        """The pressed element and its block's id. Raises no_such_button.

        An update gives blocks without ids new ones, so a block_id decides only between several that fit.
        """
        bodies = [message.body, *(reversed(message.versions) if press.stale else ())]
        for body in bodies:
            fitting = [(element, block_id) for element, block_id in elements(body) if _fits(element, press)]
            for element, block_id in fitting:
                if block_id == press.block_id:
                    return element, block_id
            if fitting:
                return fitting[0]
        raise SlackError("no_such_button")

    def _escaped(self, text: str) -> str:
        """Text as an app gets it (should_escape): entities, and @name, #channel as <@U…|name>, <#C…|name>."""
        safe = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        names = {f"@{person.name}": f"<@{person.id}|{person.name}>" for person in self._workspace.people.values()}
        names[f"@{identity.BOT_NAME}"] = f"<@{identity.BOT_USER}|{identity.BOT_NAME}>"
        for channel in self._workspace.channels.values():
            if not channel.is_im:
                names[f"#{channel.name}"] = f"<#{channel.id}|{channel.name}>"
        pattern = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
        return re.sub(rf"(?<!\S)({pattern})(?![\w-])", lambda found: names[found[1]], safe)

    def _require_seat(self, person: Person, channel: Channel) -> None:
        if person.id not in channel.members:
            raise SlackError("not_in_channel")

    def _remember(self, verb: str, person: Person, target: str, request: dict[str, Any]) -> dict[str, Any]:
        """Journal an act before the app hears of it; the answer goes into the dictionary returned."""
        answer: dict[str, Any] = {}
        self._journal.add("slack", verb, target, actor=person.id, request=request, effect=answer)
        return answer


def elements(body: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """All interactive elements of a message or view, with the ids of their blocks."""
    found: list[tuple[dict[str, Any], str]] = []
    for block in body.get("blocks") or ():
        inner = [*(block.get("elements") or ()), block.get("accessory"), block.get("element")]
        found += [(e, str(block.get("block_id", ""))) for e in inner if isinstance(e, dict) and "action_id" in e]
    return found


def _outcome(ack: Ack, what: str) -> dict[str, Any]:
    if ack.error:
        says = FAILED[ack.error].format(what=what)
        return {"ok": False, "error": ack.error, "message": says, "seconds": ack.seconds}
    return {"ok": True, "ack": ack.payload, "seconds": ack.seconds}


def _fits(element: dict[str, Any], press: Press) -> bool:
    if element["action_id"] != press.action_id:
        return False
    if press.value is None:
        return True
    if element["type"] == "button":
        return str(element.get("value", "")) == press.value
    known = payloads.options(element)
    return not known or press.value in [option.get("value") for option in known]


def _label(element: dict[str, Any]) -> str:
    text = element.get("text") or element.get("placeholder") or {}
    return str(text.get("text", ""))


def _as_dict(press: Press) -> dict[str, Any]:
    return {"ts": press.ts, "action_id": press.action_id, "value": press.value, "stale": press.stale}


def _person_message(person: Person, text: str) -> dict[str, Any]:
    return {"type": "message", "user": person.id, "text": text, "team": identity.TEAM_ID}
