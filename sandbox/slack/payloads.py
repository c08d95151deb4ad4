"""What Slack hands to an app for a command, a click, a view, an event: keys as in data/payloads.json.

Values only; nothing is sent from here.
"""

import time
from dataclasses import dataclass
from typing import Any

from sandbox.scenario import Person
from sandbox.slack import identity
from sandbox.slack.message_view import shown
from sandbox.slack.views import View
from sandbox.slack.workspace import Channel, Message


@dataclass(frozen=True, slots=True)
class Origin:
    """The ids that come along with one interaction. `response_url` is "" where Slack gives none."""

    trigger_id: str
    response_url: str = ""


def slash_command(person: Person, channel: Channel, command: str, text: str, origin: Origin) -> dict[str, Any]:
    return {
        "token": identity.VERIFICATION_TOKEN,
        "team_id": identity.TEAM_ID,
        "team_domain": identity.TEAM_DOMAIN,
        "channel_id": channel.id,
        "channel_name": channel.name,
        "user_id": person.id,
        "user_name": person.name,
        "command": command,
        "text": text,
        "api_app_id": identity.APP_ID,
        "is_enterprise_install": "false",
        "response_url": origin.response_url,
        "trigger_id": origin.trigger_id,
    }


def message_action(
    person: Person, channel: Channel, message: Message, action: dict[str, Any], origin: Origin
) -> dict[str, Any]:
    """A click on a message. An ephemeral message is not sent along, only its ts."""
    container: dict[str, Any] = {
        "type": "message",
        "message_ts": message.ts,
        "channel_id": channel.id,
        "is_ephemeral": bool(message.only_for),
    }
    if message.is_reply:
        container["thread_ts"] = message.thread
    payload = {
        **_common("block_actions", person),
        "container": container,
        "trigger_id": origin.trigger_id,
        "channel": {"id": channel.id, "name": channel.name},
        "state": {"values": {}},
        "response_url": origin.response_url,
        "actions": [action],
    }
    return payload if message.only_for else {**payload, "message": shown(channel, message, metadata=True)}


def view_action(person: Person, view: View, action: dict[str, Any], origin: Origin) -> dict[str, Any]:
    """A click in a modal or on the Home tab."""
    return {
        **_common("block_actions", person),
        "container": {"type": "view", "view_id": view.id},
        "trigger_id": origin.trigger_id,
        "view": dict(view.body),
        "state": view.body["state"],
        "actions": [action],
    }


def view_submission(person: Person, view: View, values: dict[str, Any], origin: Origin) -> dict[str, Any]:
    return {
        **_common("view_submission", person),
        "trigger_id": origin.trigger_id,
        "view": {**view.body, "state": {"values": values}},
    }


def view_closed(person: Person, view: View, *, cleared: bool) -> dict[str, Any]:
    return {**_common("view_closed", person), "view": dict(view.body), "is_cleared": cleared}


def home_opened(person: Person, channel: Channel, view: View | None, event_id: str) -> dict[str, Any]:
    event: dict[str, Any] = {
        "type": "app_home_opened",
        "user": person.id,
        "channel": channel.id,
        "tab": "home",
        "event_ts": f"{time.time():.6f}",
    }
    return event_callback({**event, "view": dict(view.body)} if view else event, event_id)


def event_callback(event: dict[str, Any], event_id: str) -> dict[str, Any]:
    """The wrapper every event of the Events API comes in."""
    return {
        "token": identity.VERIFICATION_TOKEN,
        "team_id": identity.TEAM_ID,
        "api_app_id": identity.APP_ID,
        "event": event,
        "type": "event_callback",
        "event_id": event_id,
        "event_time": int(time.time()),
        "authorizations": [
            {
                "enterprise_id": None,
                "team_id": identity.TEAM_ID,
                "user_id": identity.BOT_USER,
                "is_bot": True,
                "is_enterprise_install": False,
            }
        ],
        "is_ext_shared_channel": False,
        "event_context": f"4-{event_id}",
    }


def action_of(element: dict[str, Any], block_id: str, value: str | None) -> dict[str, Any]:
    """The entry of `actions` for one element. `value`: the chosen option of a select; None for buttons."""
    kept = ("type", "action_id", "text", "value", "style", "confirm", "placeholder", "url")
    action = {key: element[key] for key in kept if key in element}
    action |= {"block_id": block_id, "action_ts": f"{time.time():.6f}"}
    if element["type"] != "button":
        action |= chosen(element, value)
    return action


def chosen(element: dict[str, Any], value: str | None) -> dict[str, Any]:
    """What Slack says was chosen in an input or select."""
    kind = str(element["type"])
    if kind == "plain_text_input":
        return {"value": value or None}
    if kind in ("users_select", "channels_select", "conversations_select"):
        return {f"selected_{kind.removesuffix('s_select')}": value}
    if kind in ("datepicker", "timepicker"):
        return {f"selected_{kind.removesuffix('picker')}": value}
    wanted = [] if value is None else value.split(",") if kind in ("checkboxes", "multi_static_select") else [value]
    found = [option for option in options(element) if option.get("value") in wanted]
    if kind in ("checkboxes", "multi_static_select"):
        return {"selected_options": found}
    return {"selected_option": found[0] if found else None}


def options(element: dict[str, Any]) -> list[dict[str, Any]]:
    """All options of a select, in groups or not."""
    groups = element.get("option_groups") or []
    return [*element.get("options", ()), *(option for group in groups for option in group.get("options", ()))]


def _common(kind: str, person: Person) -> dict[str, Any]:
    return {
        "type": kind,
        "user": {"id": person.id, "username": person.name, "name": person.name, "team_id": identity.TEAM_ID},
        "api_app_id": identity.APP_ID,
        "token": identity.VERIFICATION_TOKEN,
        "team": {"id": identity.TEAM_ID, "domain": identity.TEAM_DOMAIN},
        "enterprise": None,
        "is_enterprise_install": False,
    }
