"""What a person does in modals and on the Home tab: open, press, submit, close.

Source: docs.slack.dev, "Modals": response_action errors, update, push, clear.
"""

from typing import Any

from sandbox.journal import Journal
from sandbox.scenario import Person
from sandbox.slack import payloads
from sandbox.slack.content import named
from sandbox.slack.delivery import Ack, Delivery
from sandbox.slack.errors import SlackError
from sandbox.slack.interactions import FAILED, elements
from sandbox.slack.interactivity import Triggers
from sandbox.slack.view_rules import view_faults
from sandbox.slack.views import View
from sandbox.slack.workspace import Workspace


class ViewInteractions:
    """The hands of everybody, for views."""

    def __init__(self, workspace: Workspace, triggers: Triggers, delivery: Delivery, journal: Journal) -> None:
        self._workspace = workspace
        self._triggers = triggers
        self._delivery = delivery
        self._journal = journal

    async def home(self, person: Person) -> dict[str, Any]:
        """Open the app's Home tab."""
        view = self._workspace.views.homes.get(person.id)
        channel = self._workspace.direct(person.id)
        event_id = self._workspace.next_id("Ev")
        ack = await self._delivery.event(payloads.home_opened(person, channel, view, event_id))
        return self._outcome("home", person, "", {}, ack)

    async def press(self, person: Person, view_id: str, action_id: str, value: str | None) -> dict[str, Any]:
        view = self._mine(person, view_id)
        found = [(e, b) for e, b in elements(view.body) if e["action_id"] == action_id]
        if not found:
            raise SlackError("no_such_button")
        element, block_id = found[0]
        origin = payloads.Origin(self._triggers.issue(person.id, view.id))
        action = payloads.action_of(element, block_id, value)
        ack = await self._delivery.send("interactive", payloads.view_action(person, view, action, origin))
        return self._outcome("click", person, view_id, {"action_id": action_id, "value": value}, ack)

    async def submit(self, person: Person, view_id: str, values: dict[str, Any]) -> dict[str, Any]:
        """Press a modal's submit button. `values`: block_id -> action_id -> text or option value."""
        view = self._mine(person, view_id)
        state = _state(view, values)
        origin = payloads.Origin(self._triggers.issue(person.id, view.id))
        ack = await self._delivery.send("interactive", payloads.view_submission(person, view, state, origin))
        answer = self._outcome("submit", person, view_id, {"values": values}, ack)
        if not ack.error:
            answer |= self._respond(person, view, ack.payload)
        return answer

    async def close(self, person: Person, view_id: str) -> dict[str, Any]:
        view = self._mine(person, view_id)
        closed = self._workspace.views.close(person.id, everything=bool(view.body["clear_on_close"]))
        self._tell(person)
        for gone in closed:
            if gone.body["notify_on_close"]:
                payload = payloads.view_closed(person, gone, cleared=len(closed) > 1)
                await self._delivery.send("interactive", payload)
        self._journal.add("slack", "close", view_id, actor=person.id)
        return {"ok": True}

    def _respond(self, person: Person, view: View, payload: dict[str, Any]) -> dict[str, Any]:
        """Do what the acknowledgement of a submission asks. A faulty view keeps the modal open, as in Slack."""
        views = self._workspace.views
        action, given = payload.get("response_action"), payload.get("view")
        if action == "errors":
            return {"ok": False, "error": "errors", "errors": payload.get("errors", {})}
        if action in ("update", "push"):
            if view_faults(given) or not isinstance(given, dict):
                return {"ok": False, "error": "invalid_view", "message": "We had some trouble connecting. Try again?"}
            given = {**given, "blocks": [named(block) for block in given["blocks"]]}
            if action == "update":
                views.update(view, given)
            else:
                views.push(person.id, given)
        else:
            views.close(person.id, everything=action == "clear")
        self._tell(person)
        return {}

    def _mine(self, person: Person, view_id: str) -> View:
        view = self._workspace.views.find(view_id)
        if view is None or view.user != person.id:
            raise SlackError("not_found")
        return view

    def _tell(self, person: Person) -> None:
        self._workspace.tell({"type": "view", "channel": "", "ts": "", "user": person.id})

    def _outcome(self, verb: str, person: Person, target: str, request: dict[str, Any], ack: Ack) -> dict[str, Any]:
        answer: dict[str, Any] = {"ok": not ack.error, "seconds": ack.seconds}
        if ack.error:
            answer |= {"error": ack.error, "message": FAILED[ack.error].format(what="The action")}
        else:
            answer["ack"] = ack.payload
        self._journal.add("slack", verb, target, actor=person.id, request=request, effect=dict(answer))
        return answer


def _state(view: View, values: dict[str, Any]) -> dict[str, Any]:
    """state.values of a submission: every input, also those left empty. Raises required_field_missing."""
    state: dict[str, Any] = {}
    missing: dict[str, str] = {}
    for block in view.body["blocks"]:
        element = block.get("element")
        if block.get("type") != "input" or not isinstance(element, dict):
            continue
        block_id, action_id = str(block["block_id"]), str(element["action_id"])
        given = (values.get(block_id) or {}).get(action_id)
        text = element.get("initial_value") if given is None else str(given)
        if not text and not block.get("optional"):
            missing[block_id] = "Please complete this required field."
        state[block_id] = {action_id: {"type": element["type"], **payloads.chosen(element, text or None)}}
    if missing:
        raise SlackError("required_field_missing", errors=missing)
    return state
