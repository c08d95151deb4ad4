"""Switches by which a person at the controls makes Slack misbehave in ways that HTTP faults cannot."""

from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from sandbox.slack import identity
from sandbox.slack.delivery import Delivery
from sandbox.slack.errors import SlackError
from sandbox.slack.page_acts import body_of
from sandbox.slack.sockets import Sockets
from sandbox.slack.web_api import WebApi
from sandbox.slack.workspace import Channel, Workspace


class Switches:
    """POST /page/switch {"name", "value"}. The contract stands in page.py."""

    def __init__(self, workspace: Workspace, api: WebApi, sockets: Sockets, delivery: Delivery) -> None:
        self._workspace = workspace
        self._api = api
        self._sockets = sockets
        self._delivery = delivery
        self._known: dict[str, Callable[[Any], Awaitable[None]]] = {
            "drop_sockets": self.drop_sockets,
            "refresh": self.refresh,
            "refuse_tickets": self.refuse_tickets,
            "duplicate": self.duplicate,
            "silent": self.silent,
            "request_url": self.request_url,
            "limits": self.limits,
            "archive": self.archive,
            "kick": self.kick,
            "revoke": self.revoke,
            "scopes": self.scopes,
        }

    def routes(self) -> tuple[web.RouteDef, ...]:
        return (web.post("/page/switch", self.handle),)

    async def handle(self, request: web.Request) -> web.Response:
        try:
            body = await body_of(request)
            switch = self._known.get(str(body.get("name")))
            if switch is None:
                return web.json_response({"ok": False, "error": "no_such_switch", "known": sorted(self._known)})
            await switch(body.get("value"))
        except SlackError as refusal:
            return web.json_response(refusal.answer())
        return web.json_response({"ok": True, "sockets": self._sockets.count})

    async def drop_sockets(self, _value: Any = None) -> None:
        """Cut all sockets without a word."""
        await self._sockets.drop()

    async def refresh(self, _value: Any = None) -> None:
        """Ask all sockets to reconnect."""
        await self._sockets.refresh()

    async def refuse_tickets(self, value: Any = 1) -> None:
        """Refuse the next `value` connections; -1 all, 0 none."""
        self._sockets.refuse = _number(value, 1)

    async def duplicate(self, value: Any = 1) -> None:
        """Send the next `value` envelopes twice."""
        self._sockets.duplicate = _number(value, 1)

    async def silent(self, value: Any = True) -> None:
        """Make the open sockets fall silent while TCP stays up; false lets them speak again."""
        self._sockets.hush(value is not False)

    async def request_url(self, value: Any) -> None:
        """Deliver by signed HTTP to this URL; "" goes back to sockets."""
        self._delivery.request_url = str(value or "")

    async def limits(self, value: Any = True) -> None:
        """Switch rate limits on or off."""
        self._api.limits.enabled = value is not False

    async def archive(self, value: Any) -> None:
        self._channel(value).archived = True

    async def kick(self, value: Any) -> None:
        """Take the bot out of a channel."""
        channel = self._channel(value)
        if channel.has_bot():
            channel.members.remove(identity.BOT_USER)

    async def revoke(self, value: Any = True) -> None:
        """Make both tokens invalid, or valid again with false."""
        self._api.revoked = set() if value is False else {identity.BOT_TOKEN, identity.APP_TOKEN}

    async def scopes(self, value: Any) -> None:
        """Grant exactly these scopes; null restores the first ones."""
        given = value if isinstance(value, list) else identity.SCOPES
        self._workspace.scopes = {str(scope) for scope in given}

    def _channel(self, value: Any) -> Channel:
        channel = self._workspace.channel(str(value or ""))
        if channel is None:
            raise SlackError("no_such_channel")
        return channel


def _number(value: Any, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else default
