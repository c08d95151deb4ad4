"""What people do in the pretend workspace, as a page for eyes and as JSON for scripts.

`slack_page` in endpoints.json is the URL of `/`, with its trailing slash; the rest hangs below it:

    GET  {slack_page}                     the HTML page
    GET  {slack_page}page/people          {"ok", "people": [{"id","name","role"}], "bot": {"id","name"},
                                           "channels": [{"id","name","is_im","is_member","user"?}], "channel": id of the
                                           channel where the bot is a member, "team": {"id","name"}}
    POST {slack_page}page/type            {"user","channel","text","thread_ts"?}
    POST {slack_page}page/click           {"user","channel","ts","action_id","value"?,"block_id"?,"stale"?: true also
                                           finds a button the message had before it was last changed}
    GET  {slack_page}page/messages        ?channel=&user=  (user: whose ephemeral messages are included)
    GET  {slack_page}page/events          server-sent events, one JSON object each: {"type","channel","ts","user"?}
    GET  {slack_page}page/views           ?user=  the open modal and the Home tab of one person
    POST {slack_page}page/submit          {"user","view_id","values": {block_id: {action_id: text or option value}}}
    POST {slack_page}page/press           {"user","view_id","action_id","value"?}  a button in a modal or Home tab
    POST {slack_page}page/close           {"user","view_id"}
    POST {slack_page}page/home            {"user"}  opens the app's Home tab (app_home_opened)
    POST {slack_page}page/switch          {"name","value"?}: drop_sockets, refuse_tickets (value: how many, -1 all),
                                           duplicate (value: how many envelopes), silent (value: true or false),
                                           refresh, request_url (value: URL or ""), limits (value: true or false),
                                           archive (value: channel), kick (value: channel: the bot leaves it),
                                           revoke (value: true or false: the tokens), scopes (value: list)

`user` is an id (U…) or a name, `channel` an id or a name with or without "#"; "@name" or a D… id is that person's
direct message with the bot. Where `user` is left out the first person of the scenario acts, where `channel` is left
out the channel of the scenario.

`type` and `click` answer when the app has acknowledged, or 3 s later:

    {"ok": true,  "ack": {…payload of the ack, {} when empty…}, "seconds": 0.012}
    {"ok": false, "error": "dispatch_failed" | "operation_timeout" | "no_such_channel" | "no_such_button" | …,
     "message"?: "what the person reads"}

A text without "/" at its beginning is an ordinary message: {"ok": true, "ts": "…"}.

`messages` answers {"ok": true, "channel": {...}, "messages": [...]}, oldest first, threads included, each:

    {"ts","thread_ts" (absent outside threads),"user" (author's id),"name","bot" (bool),"text","blocks",
     "edited" (bool),"ephemeral" (bool),"in_channel" (bool: false for what only a thread shows),"reply_count",
     "pinned" (bool),"reactions": [{"name","count","users"}],"metadata"?,
     "buttons": [{"action_id","block_id","value","text","style","confirm" (object or null),"type"}]}

Nothing here decides what a message means: a click is handed to the app exactly as Slack would.
"""

import asyncio
import json
from pathlib import Path
from typing import Any

from aiohttp import web

from sandbox.slack import identity
from sandbox.slack.page_rows import channel_row, message_row
from sandbox.slack.workspace import Workspace

STATIC = Path(__file__).parent / "static"
FILES = frozenset(path.name for path in STATIC.iterdir())
TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html"}
HEARTBEAT = 15.0


class Page:
    """The page and what it reads. Errors are HTTP 200 with ok false, as everywhere in Slack."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._open: set[asyncio.Task[Any]] = set()

    def routes(self) -> tuple[web.RouteDef, ...]:
        return (
            web.get("/", self._index),
            web.get("/static/{name}", self._static),
            web.get("/page/people", self._people),
            web.get("/page/messages", self._messages),
            web.get("/page/views", self._open_views),
            web.get("/page/events", self._events),
        )

    async def aclose(self) -> None:
        """End the event streams, so that the server can stop."""
        for task in tuple(self._open):
            task.cancel()

    async def _index(self, _request: web.Request) -> web.Response:
        return _file("index.html")

    async def _static(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        return _file(name) if name in FILES else web.Response(status=404, text="no such file")

    async def _people(self, _request: web.Request) -> web.Response:
        answer = {
            "people": [{"id": p.id, "name": p.name, "role": p.role} for p in self._workspace.people.values()],
            "bot": {"id": identity.BOT_USER, "name": identity.BOT_NAME},
            "team": {"id": identity.TEAM_ID, "name": identity.TEAM_NAME},
            "channels": [channel_row(channel) for channel in self._workspace.channels.values()],
            "channel": identity.HOME_CHANNEL,
            "commands": [
                {"name": name, "usage": usage, "says": says} for name, (usage, says) in identity.COMMANDS.items()
            ],
            "group": {"id": identity.APPROVERS_GROUP, "name": "gpu-approvers"},
        }
        return web.json_response({"ok": True, **answer})

    async def _messages(self, request: web.Request) -> web.Response:
        channel = self._workspace.channel(request.query.get("channel", ""))
        person = self._workspace.person(request.query.get("user", ""))
        if channel is None or person is None:
            return _refused("no_such_channel" if channel is None else "user_not_found")
        seen = [m for m in channel.messages.values() if not m.deleted and m.only_for in ("", person.id)]
        rows = [message_row(self._workspace, channel, message) for message in seen]
        return web.json_response({"ok": True, "channel": channel_row(channel), "messages": rows})

    async def _open_views(self, request: web.Request) -> web.Response:
        person = self._workspace.person(request.query.get("user", ""))
        if person is None:
            return _refused("user_not_found")
        modal, home = self._workspace.views.top(person.id), self._workspace.views.homes.get(person.id)
        answer = {"modal": modal.body if modal else None, "home": home.body if home else None}
        return web.json_response({"ok": True, **answer})

    async def _events(self, request: web.Request) -> web.StreamResponse:
        """Server-sent events until the reader leaves or the world ends."""
        stream = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            await stream.prepare(request)
            await self._pump(stream)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._open.discard(task)
        return stream

    async def _pump(self, stream: web.StreamResponse) -> None:
        with self._workspace.subscribed() as queue:
            await stream.write(b": connected\n\n")
            while True:
                try:
                    event = await asyncio.wait_for(queue.get(), HEARTBEAT)
                except TimeoutError:
                    await stream.write(b": still here\n\n")
                else:
                    await stream.write(f"data: {json.dumps(event)}\n\n".encode())


def _refused(error: str) -> web.Response:
    return web.json_response({"ok": False, "error": error})


def _file(name: str) -> web.Response:
    path = STATIC / name
    headers = {"Cache-Control": "no-cache"}
    text = path.read_text(encoding="utf-8")
    return web.Response(text=text, content_type=TYPES[path.suffix], charset="utf-8", headers=headers)
