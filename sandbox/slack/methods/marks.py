"""reactions.add and pins.add: small marks on messages."""

import re

from sandbox.slack import identity
from sandbox.slack.call import Answer, Call
from sandbox.slack.errors import SlackError


def add_reaction(call: Call) -> Answer:
    name = call.text("name").strip(":")
    if not re.fullmatch(r"[a-z0-9_+'-]{1,100}(::skin-tone-[2-6])?", name):
        raise SlackError("invalid_name")
    channel = call.channel()
    message = call.message(channel, "timestamp")
    users = message.reactions.setdefault(name, [])
    if identity.BOT_USER in users:
        raise SlackError("already_reacted")
    users.append(identity.BOT_USER)
    call.workspace.note("changed", channel, message)
    return {}


def add_pin(call: Call) -> Answer:
    channel = call.channel()
    if not channel.has_bot():
        raise SlackError("not_in_channel")
    if not call.text("timestamp"):
        raise SlackError("no_item_specified")
    message = call.message(channel, "timestamp")
    if message.pinned:
        raise SlackError("already_pinned")
    message.pinned = True
    call.workspace.note("changed", channel, message)
    return {}


METHODS = {"reactions.add": add_reaction, "pins.add": add_pin}
