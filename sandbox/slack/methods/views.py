"""views.*: modals and the Home tab."""

from typing import Any

from sandbox.slack.call import Answer, Call
from sandbox.slack.content import named
from sandbox.slack.errors import SlackError, explained
from sandbox.slack.view_rules import too_large, view_faults
from sandbox.slack.views import View


def open_view(call: Call) -> Answer:
    """A new modal for the person behind the trigger id; one who reads a modal gets it on top, as with views.push."""
    given = _given(call)
    trigger = call.triggers.spend(call.text("trigger_id"))
    if not trigger.view_id:
        call.workspace.views.close(trigger.user, everything=True)
    return _told(call, call.workspace.views.push(trigger.user, given))


def push(call: Call) -> Answer:
    given = _given(call)
    trigger = call.triggers.spend(call.text("trigger_id"))
    if not trigger.view_id:
        raise SlackError("not_found")
    return _told(call, call.workspace.views.push(trigger.user, given))


def update(call: Call) -> Answer:
    given = _given(call)
    view = call.workspace.views.find(call.text("view_id"), call.text("external_id"))
    if view is None:
        raise SlackError("not_found")
    return _told(call, call.workspace.views.update(view, given, call.text("hash")))


def publish(call: Call) -> Answer:
    given = _given(call, "home")
    user = call.text("user_id")
    if user not in call.workspace.people:
        raise explained("invalid_arguments", "user not found [json-pointer:/user_id]")
    return _told(call, call.workspace.views.publish(user, given, call.text("hash")))


def _given(call: Call, kind: str = "modal") -> dict[str, Any]:
    """The view of the call, checked, with the ids Slack gives out."""
    view = call.parsed("view")
    faults = view_faults(view)
    if faults:
        raise explained("invalid_arguments", *map(str, faults))
    if too_large(view):
        raise SlackError("view_too_large")
    if view["type"] != kind and call.method != "views.update":
        raise explained("invalid_arguments", f"must be a {kind} [json-pointer:/view/type]")
    return {**view, "blocks": [named(block) for block in view["blocks"]]}


def _told(call: Call, view: View) -> Answer:
    call.workspace.tell({"type": "view", "channel": "", "ts": "", "user": view.user})
    return {"view": dict(view.body)}


METHODS = {"views.open": open_view, "views.push": push, "views.update": update, "views.publish": publish}
