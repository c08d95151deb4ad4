"""Hang the edge on Bolt: commands, buttons, and an acknowledgement for everything else that Slack may send."""

import re

from slack_bolt.async_app import AsyncAck, AsyncApp

from handlers import actions, commands
from handlers.edge import Edge


def register(app: AsyncApp, edge: Edge) -> None:
    """Register all listeners. What is not ours is acknowledged, so that Slack neither retries nor shows an error."""
    commands.register(app, edge)
    actions.register(app, edge)

    async def acknowledged(ack: AsyncAck) -> None:
        await ack()

    app.event(re.compile(".*"))(acknowledged)
    app.shortcut(re.compile(".*"))(acknowledged)
    app.view(re.compile(".*"))(acknowledged)
