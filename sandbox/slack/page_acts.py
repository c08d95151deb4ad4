"""POST /page/…: what people do, as JSON for the page and for scripts. The contract stands in page.py."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from sandbox.scenario import Person
from sandbox.slack.errors import SlackError, refuse_deep
from sandbox.slack.interactions import Interactions, Press
from sandbox.slack.view_interactions import ViewInteractions
from sandbox.slack.workspace import Channel, Workspace

Body = dict[str, Any]
Act = Callable[[Body, Person, str], Awaitable[dict[str, Any]]]


class PageActs:
    """One act for each path below /page/."""

    def __init__(self, workspace: Workspace, interactions: Interactions, views: ViewInteractions) -> None:
        self._workspace = workspace
        self._interactions = interactions
        self._views = views

    def routes(self) -> tuple[web.RouteDef, ...]:
        acts: dict[str, Act] = {
            "type": self._type,
            "click": self._click,
            "submit": self._submit,
            "press": self._press,
            "close": self._close,
            "home": self._home,
        }
        return tuple(web.post(f"/page/{name}", self._handler(act)) for name, act in acts.items())

    def _handler(self, act: Act) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def handle(request: web.Request) -> web.Response:
            try:
                body = await body_of(request)
                person = self._person(body)
                return web.json_response(await act(body, person, f"{request.scheme}://{request.host}"))
            except SlackError as refusal:
                return web.json_response(refusal.answer())

        return handle

    async def _type(self, body: Body, person: Person, base: str) -> dict[str, Any]:
        channel = self._channel(body)
        return await self._interactions.type(person, channel, _text(body, "text"), base, _text(body, "thread_ts"))

    async def _click(self, body: Body, person: Person, base: str) -> dict[str, Any]:
        press = Press(
            _text(body, "ts"),
            _text(body, "action_id"),
            _value(body),
            _text(body, "block_id"),
            body.get("stale") is True,
        )
        return await self._interactions.press(person, self._channel(body), press, base)

    async def _press(self, body: Body, person: Person, _base: str) -> dict[str, Any]:
        return await self._views.press(person, _text(body, "view_id"), _text(body, "action_id"), _value(body))

    async def _submit(self, body: Body, person: Person, _base: str) -> dict[str, Any]:
        values = body.get("values")
        return await self._views.submit(person, _text(body, "view_id"), values if isinstance(values, dict) else {})

    async def _close(self, body: Body, person: Person, _base: str) -> dict[str, Any]:
        return await self._views.close(person, _text(body, "view_id"))

    async def _home(self, _body: Body, person: Person, _base: str) -> dict[str, Any]:
        return await self._views.home(person)

    def _person(self, body: Body) -> Person:
        person = self._workspace.person(_text(body, "user"))
        if person is None:
            raise SlackError("user_not_found")
        return person

    def _channel(self, body: Body) -> Channel:
        channel = self._workspace.channel(_text(body, "channel"))
        if channel is None:
            raise SlackError("no_such_channel")
        return channel


async def body_of(request: web.Request) -> Body:
    """The JSON object of a request. Raises invalid_json."""
    try:
        body = json.loads(await request.text() or "{}")
    except (ValueError, LookupError, RecursionError) as exc:
        raise SlackError("invalid_json") from exc
    if not isinstance(body, dict):
        raise SlackError("invalid_json")
    refuse_deep(body)
    return body


def _text(body: Body, name: str) -> str:
    value = body.get(name)
    return "" if value is None else str(value)


def _value(body: Body) -> str | None:
    value = body.get("value")
    return None if value is None else str(value)
