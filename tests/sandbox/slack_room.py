"""One pretend workspace on loopback, with a real Bolt app or a bare client in it."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from sandbox import slack
from sandbox.faults import Faults
from sandbox.journal import Journal
from sandbox.scenario import Person, Scenario
from sandbox.serving import serve
from sandbox.slack.server import SlackServer

PEOPLE = (
    Person("U0APPROVER1", "approver-1", "approver"),
    Person("U0OPERATOR1", "operator-1", "operator"),
    Person("U0GUEST0001", "guest-1", "guest"),
)
HOME, RANDOM = "C0MIGRATION", "C0RANDOM001"
DATA = Path(slack.__file__).parent / "data"
PATIENCE = 10.0


@dataclass(slots=True)
class Room:
    """What a test holds in its hands."""

    server: SlackServer
    url: str
    journal: Journal
    faults: Faults
    session: aiohttp.ClientSession
    client: AsyncWebClient

    async def api(self, method: str, token: str | None = None, **args: Any) -> tuple[int, dict[str, Any], str]:
        """Call a method without any SDK: status, answer, Retry-After."""
        headers = {"Authorization": f"Bearer {self.server.bot_token if token is None else token}"}
        async with self.session.post(f"{self.url}/api/{method}", json=args, headers=headers) as answer:
            return answer.status, await answer.json(), answer.headers.get("Retry-After", "")

    async def act(self, what: str, **body: Any) -> dict[str, Any]:
        async with self.session.post(f"{self.url}/page/{what}", json=body) as answer:
            assert answer.status == 200
            found: dict[str, Any] = await answer.json()
            return found

    async def look(self, what: str = "messages", **query: str) -> dict[str, Any]:
        async with self.session.get(f"{self.url}/page/{what}", params=query) as answer:
            found: dict[str, Any] = await answer.json()
            return found

    async def messages(self, user: str = "operator-1", channel: str = "") -> list[dict[str, Any]]:
        found = await self.look(user=user, channel=channel)
        return list(found["messages"])

    def verbs(self) -> list[str]:
        return [entry.verb for entry in self.journal.entries()]


@asynccontextmanager
async def room() -> AsyncIterator[Room]:
    """A workspace, empty, and a client with the bot's token."""
    scenario = Scenario("room", "A room", (), PEOPLE, (), {}, {}, {})
    journal, faults = Journal(), Faults()
    server = SlackServer(scenario, journal, faults)
    served = await serve(server.app())
    try:
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=15)) as session:
            client = AsyncWebClient(token=server.bot_token, base_url=f"{served.url}/api/", session=session)
            yield Room(server, served.url, journal, faults, session, client)
    finally:
        await served.aclose()


@asynccontextmanager
async def bolted(where: Room, listen: Callable[[AsyncApp], None]) -> AsyncIterator[AsyncSocketModeHandler]:
    """A real Bolt app on a real socket."""
    app = AsyncApp(client=where.client, process_before_response=True)
    listen(app)
    handler = AsyncSocketModeHandler(app, where.server.app_token, ping_interval=1)
    await handler.connect_async()  # type: ignore[no-untyped-call]
    await until(lambda: where.server.sockets.count >= 1)
    try:
        yield handler
    finally:
        await handler.close_async()  # type: ignore[no-untyped-call]


@asynccontextmanager
async def app_room(listen: Callable[[AsyncApp], None]) -> AsyncIterator[Room]:
    async with AsyncExitStack() as stack:
        where = await stack.enter_async_context(room())
        await stack.enter_async_context(bolted(where, listen))
        yield where


def approval(app: AsyncApp) -> None:
    """A small app: a command that posts a card, a button that rewrites it, one that answers only the presser."""

    @app.command("/gpu-migrate")
    async def start(ack: Any, body: dict[str, Any], client: AsyncWebClient) -> None:
        await ack(f"starting {body['text']}")
        await client.chat_postMessage(channel=body["channel_id"], text="Approve?", blocks=card())

    @app.action("gm:approve")
    async def approve(ack: Any, body: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        await client.chat_update(
            channel=body["channel"]["id"], ts=body["message"]["ts"], text=f"Approved by {body['user']['id']}", blocks=[]
        )

    @app.action(re.compile("^gm:reject"))
    async def reject(ack: Any, respond: Any) -> None:
        await ack()
        await respond(text="not you", response_type="ephemeral")


def card() -> list[dict[str, Any]]:
    confirm = {
        "title": plain("Sure?"),
        "text": plain("The worker will be replaced."),
        "confirm": plain("Yes"),
        "deny": plain("No"),
    }
    return [
        {"type": "section", "text": {"type": "mrkdwn", "text": "*Replace* the worker?"}},
        {
            "type": "actions",
            "block_id": "decide",
            "elements": [
                button("gm:approve", "Approve", value="1", style="primary", confirm=confirm),
                button("gm:reject", "Reject", value="1", style="danger"),
            ],
        },
    ]


def plain(text: str) -> dict[str, str]:
    return {"type": "plain_text", "text": text}


def button(action_id: str, text: str, **keys: Any) -> dict[str, Any]:
    return {"type": "button", "action_id": action_id, "text": plain(text), **keys}


async def until(done: Callable[[], Any], seconds: float = PATIENCE) -> None:
    """Wait until `done` is true; fails after `seconds`."""
    async with asyncio.timeout(seconds):
        while not done():
            await asyncio.sleep(0.01)


def shapes(name: str) -> dict[str, Any]:
    """answers.json or payloads.json."""
    found: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text())
    return found


def foreign_keys(value: Any, tree: Any, at: str = "") -> list[str]:
    """Keys in `value` that Slack's samples do not have."""
    if isinstance(value, list) and isinstance(tree, list):
        return [key for inner in value for key in foreign_keys(inner, tree[0], at)]
    if not isinstance(value, dict) or not isinstance(tree, dict):
        return []
    found = [f"{at}/{key}" for key in value if key not in tree]
    for key, inner in value.items():
        if key in tree:
            found += foreign_keys(inner, tree[key], f"{at}/{key}")
    return found
