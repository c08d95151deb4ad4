"""SlackSocket against the pretend workspace: signals arrive, and the connection comes back by itself."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from bot.adapters.slack.access import Access, open_session, web_client
from bot.adapters.slack.app import build_app, identify
from bot.adapters.slack.calls import Calls
from bot.adapters.slack.chat import SlackChat
from bot.adapters.slack.limiter import Limiter
from bot.adapters.slack.socket_mode import SlackSocket, Watch
from bot.adapters.slack.whispers import Whispers
from bot.messages import Words
from handlers.listeners import register
from state.errors import GpuMigrateError
from tests.edge.ports import Desktop
from tests.edge.test_actions import asking
from tests.sandbox.slack_room import HOME, Room, room, until

FAST = Watch(every=0.05, renew_after=0.3, rebuild_after=2.0, ping=0.3, refused_pause=0.2)


@dataclass(slots=True)
class Line:
    where: Room
    socket: SlackSocket
    desktop: Desktop
    reports: list[tuple[str, BaseException]]
    chat: SlackChat
    whispers: Whispers


@asynccontextmanager
async def line(desktop: Desktop, watch: Watch = FAST, app_token: str = "", refuse: int = 0) -> AsyncIterator[Line]:
    async with room() as where:
        await where.act("switch", name="refuse_tickets", value=refuse)
        token = app_token or where.server.app_token
        access = Access(where.server.bot_token, token, f"{where.url}/api/")
        async with open_session(access) as session:
            client = web_client(access, session)
            calls = Calls(Limiter(timedelta(seconds=5)), 5)
            reports: list[tuple[str, BaseException]] = []
            who = await identify(client, calls)
            app = build_app(client, who, Words(), lambda at, error: reports.append((at, error)))
            socket = SlackSocket(app, client, access, lambda at, error: reports.append((at, error)), watch)
            chat, failed = SlackChat(client, calls, who.bot), list[GpuMigrateError]()
            whispers = Whispers(chat, failed.append)
            known = replace(desktop.edge.clusters, team=who.team)
            register(app, replace(desktop.edge, whisper=whispers, clusters=known))
            socket = SlackSocket(app, client, access, lambda at, error: reports.append((at, error)), watch)
            running = asyncio.create_task(socket.run())
            try:
                yield Line(where, socket, desktop, reports, chat, whispers)
            finally:
                await socket.aclose()
                await whispers.aclose()
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)
                assert failed == []


async def typed(at: Line, text: str, user: str = "operator-1") -> dict[str, Any]:
    return await at.where.act("type", user=user, channel=HOME, text=text)


async def test_given_a_command_when_typed_then_its_acknowledgement_is_the_answer() -> None:
    async with line(Desktop()) as at:
        await until(at.socket.connected)
        answer = await typed(at, "/gpu-migrate start gpu-multi")

        assert answer["ok"]
        assert "Looking at" in answer["ack"]["text"]
        assert len(at.desktop.submit.starts) == 1
        assert at.socket.trouble() == ""


async def test_given_a_card_when_pressed_by_the_wrong_person_then_whispered_and_by_the_right_one_then_recorded() -> (
    None
):
    async with line(Desktop(asking())) as at:
        await until(at.socket.connected)
        words, run = Words(), asking()
        place = await at.chat.post(HOME, words.card(run, run.approvals[0]), key="card")
        press = {"channel": HOME, "ts": place.ts, "action_id": "gm:approve"}
        refused = await at.where.act("click", user="operator-1", **press)
        taken = await at.where.act("click", user="U0APPROVER1", **press)
        await at.whispers.aclose()
        shown = await at.where.messages("operator-1")

        assert refused["ok"]
        assert taken["ok"]
        assert len(at.desktop.events) == 1
        assert any(m["ephemeral"] and "Only approvers" in m["text"] for m in shown)


async def test_given_a_refused_ticket_at_the_start_when_watched_then_a_fresh_one_is_asked_for() -> None:
    """The SDK alone never recovers from this."""
    async with line(Desktop(), refuse=1) as at:
        await until(at.socket.connected)

        assert (await typed(at, "/gpu-migrate help"))["ok"]


async def test_given_refusals_for_long_when_watched_then_trouble_is_told_and_then_it_recovers() -> None:
    watch = Watch(every=0.05, renew_after=0.1, rebuild_after=0.4, ping=0.1)
    async with line(Desktop(), watch, refuse=-1) as at:
        await until(lambda: at.socket.trouble() != "")
        assert not at.socket.connected()
        await at.where.act("switch", name="refuse_tickets", value=0)
        await until(at.socket.connected)

        assert at.socket.trouble() == ""


async def test_given_a_cut_or_silent_socket_when_watched_then_it_comes_back() -> None:
    async with line(Desktop()) as at:
        await until(at.socket.connected)
        for switch in ("drop_sockets", "refresh", "silent"):
            await at.where.act("switch", name=switch, value=True)
            await until(lambda: not at.socket.connected() or at.where.server.sockets.count > 0)
            await asyncio.wait_for(answered(at), timeout=10)


async def answered(at: Line) -> None:
    """Type until it is answered: what was sent into the gap is lost, as in life."""
    while not (await typed(at, "/gpu-migrate help"))["ok"]:
        await asyncio.sleep(0.05)


async def test_given_a_wrong_app_token_when_started_then_trouble_names_it_and_slack_is_not_hammered() -> None:
    async with line(Desktop(), app_token="xapp-wrong") as at:
        await until(lambda: at.socket.trouble() != "")

        assert at.socket.trouble() in ("invalid_auth", "not_allowed_token_type")
        assert not at.socket.connected()


def no_clock() -> datetime:
    raise RuntimeError("no clock")


async def test_given_a_listener_that_breaks_when_typed_then_a_sentence_and_a_report() -> None:
    desktop = Desktop()
    desktop.edge = replace(desktop.edge, now=no_clock)
    async with line(desktop) as at:
        await until(at.socket.connected)
        answer = await typed(at, "/gpu-migrate help")

        assert "error of the bot itself" in answer["ack"]["text"]
        assert [where for where, _ in at.reports] == ["slack listener"]


async def test_given_an_envelope_twice_when_taken_then_one_event() -> None:
    async with line(Desktop(asking())) as at:
        await until(at.socket.connected)
        await at.where.act("switch", name="duplicate", value=1)
        await typed(at, "/gpu-migrate pause gpu-multi")
        await until(lambda: len(at.desktop.heard) == 2)

        assert len(at.desktop.events) == 1
