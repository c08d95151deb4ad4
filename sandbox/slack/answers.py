"""What an app sends back to one interaction: with the acknowledgement, or to its response_url.

Such answers work without a token and in channels the bot is not in, and they may be shown to one person only.
Source: docs.slack.dev, "Handling user interaction", "Using response_url".
"""

import json
from typing import Any

from aiohttp import web

from sandbox.journal import Journal
from sandbox.slack import identity
from sandbox.slack.content import bot_message, checked
from sandbox.slack.errors import SlackError, refuse_deep
from sandbox.slack.interactivity import ResponseUrl, Triggers
from sandbox.slack.workspace import Channel, Message, Workspace


class Answers:
    """Puts answers before people's eyes."""

    def __init__(self, workspace: Workspace, triggers: Triggers, journal: Journal) -> None:
        self._workspace = workspace
        self._triggers = triggers
        self._journal = journal

    def routes(self) -> tuple[web.RouteDef, ...]:
        pattern = "/{kind:commands|actions}/{team}/{number}/{secret}"
        return (web.post(pattern, self.handle),)

    async def handle(self, request: web.Request) -> web.Response:
        """One post to a response_url."""
        try:
            url = self._triggers.answer(request.match_info["secret"])
        except SlackError as refusal:
            return web.json_response(refusal.answer(), status=404)
        body: dict[str, Any] = {}
        status, effect = 200, {"ok": True}
        try:
            body = await _body(request)
            self.show(url, body)
        except SlackError as refusal:
            status, effect = 400, refusal.answer()
        self._journal.add(
            "slack",
            "response_url",
            url.channel,
            actor=identity.BOT_USER,
            status=status,
            request={"body": body, "user": url.user},
            effect=effect,
        )
        return web.json_response(effect, status=status) if status != 200 else web.Response(text="ok")

    def show(self, url: ResponseUrl, body: dict[str, Any]) -> None:
        """Do what an answer asks: delete or replace the original, or show something new."""
        channel = self._workspace.channels[url.channel]
        original = channel.messages.get(url.ts)
        if body.get("delete_original"):
            if original is not None:
                self._workspace.delete(channel, original)
            return
        content = checked(body.get("text"), body.get("blocks"), body.get("attachments"))
        if content.empty:
            raise SlackError("no_text")
        if body.get("replace_original") and original is not None:
            self._replace(channel, original, bot_message(content))
            return
        only_for = "" if body.get("response_type") == "in_channel" else url.user
        message = bot_message(content)
        thread = str(body.get("thread_ts") or "")
        if thread and channel.public(thread):
            message["thread_ts"] = thread
        elif url.thread and only_for:
            message["thread_ts"] = url.thread
        self._workspace.add(channel, message, only_for)

    def _replace(self, channel: Channel, original: Message, new: dict[str, Any]) -> None:
        edited = {"user": identity.BOT_USER, "ts": self._workspace.next_ts()}
        gone: dict[str, Any] = {"blocks": [], "attachments": []}
        self._workspace.change(channel, original, **{**gone, **new}, edited=edited)


async def _body(request: web.Request) -> dict[str, Any]:
    try:
        body = json.loads(await request.text())
    except (ValueError, LookupError, RecursionError) as exc:
        raise SlackError("invalid_payload") from exc
    if not isinstance(body, dict):
        raise SlackError("invalid_payload")
    refuse_deep(body)
    return body
