"""`gpu-migrate serve`: open everything, serve until told to stop, close in the right order.

Closing: the socket first, so that no click arrives that nobody records; then the loop, whose runs are handed over; then
the journal. What ends by itself (another process took our name) ends the program with a sentence, for the platform to
start it anew.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass

import structlog

from bot.adapters.helm import forget_leftovers
from bot.adapters.slack.access import Access, open_session, web_client
from bot.adapters.slack.app import Identity, build_app
from bot.adapters.slack.calls import Calls
from bot.adapters.slack.chat import SlackChat
from bot.adapters.slack.greeting import greet
from bot.adapters.slack.limiter import Limiter
from bot.adapters.slack.socket_mode import SlackSocket
from bot.adapters.slack.whispers import Whispers
from bot.adapters.timers import Tick, Timers
from bot.adapters.web import Web
from bot.config import Settings
from bot.desk import PlanDesk, RunsDesk, SubmitDesk
from bot.ending import end
from bot.engine import Engine
from bot.messages.words import Words
from bot.metrics import Metrics
from bot.points import Points
from bot.surroundings import Surroundings
from bot.wiring import open_adapters, opened_store, setup_of, surroundings, tls_of, wait_for_signal
from handlers.edge import Edge
from handlers.listeners import register
from handlers.ports import Clusters
from state.errors import GpuMigrateError
from state.store import RedisStore

log = structlog.get_logger()

TICK_SECONDS = 1.0
LAST_WORDS_SECONDS = 60.0
SWEEP_SECONDS = 3600.0
LISTEN_SECONDS = 5.0
SILENT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Bot:
    """Everything that runs, opened."""

    store: RedisStore
    engine: Engine
    socket: SlackSocket
    timers: Timers
    plans: PlanDesk
    whispers: Whispers
    calls: Calls
    metrics: Metrics


async def serve(settings: Settings, points: Points | None = None) -> None:
    """Serve until SIGTERM or SIGINT. Raises GpuMigrateError when something that is needed is not to be had.

    `points`: what happens at the named places of a call (bot/points.py); nothing, unless a test says so.
    """
    async with AsyncExitStack() as stack:
        bot = await _open(settings, points or Points(), stack)
        web = Web(lambda: _alive(bot.timers), lambda: _ready(bot), lambda: _numbers(bot))
        await web.start(settings.http_host, settings.http_port)
        stack.push_async_callback(web.aclose)
        log.info("serving", replica=settings.replica, clusters=sorted(settings.clusters), port=web.port)
        tasks = tuple(
            asyncio.create_task(work) for work in (_lease(bot), bot.socket.run(), bot.timers.keep(), _listen(bot))
        )
        try:
            await _until_stopped(tasks)
        finally:
            await _close(bot, tasks)


async def _open(settings: Settings, points: Points, stack: AsyncExitStack) -> Bot:
    await asyncio.to_thread(forget_leftovers, time.time())
    adapters = await stack.enter_async_context(open_adapters(settings))
    store = await stack.enter_async_context(opened_store(settings))
    access, words = _access(settings), Words(settings.language)
    for risk in (await store.durability()).risks:
        log.warning("what Redis acknowledges may be lost", reason=str(risk), hint=words.sentence(risk))
    client = web_client(access, await stack.enter_async_context(open_session(access)))
    calls = Calls(Limiter(), access.call_seconds)
    who = await greet(client, calls)
    chat = SlackChat(client, calls, who.bot, lambda what, error: log.error("message refused", what=what, error=error))
    around = surroundings(adapters, store, chat, words, points)
    engine = Engine(around, store.ownership)
    plans = PlanDesk(around, setup_of(settings), words.plan)
    whispers = Whispers(chat, lambda error: log.warning("could not answer", reason=str(error.reason)))
    app = build_app(client, who, words, _report)
    register(app, _edge(settings, around, engine, Voices(who, words, plans, whispers, store)))
    ticks = (
        Tick("due", TICK_SECONDS, engine.tick),
        Tick("last words", LAST_WORDS_SECONDS, engine.finish_telling),
        Tick("sweep", SWEEP_SECONDS, _sweep(store)),
    )
    timers = Timers(ticks)
    socket = SlackSocket(app, client, access, _report)
    return Bot(store, engine, socket, timers, plans, whispers, calls, around.metrics)


async def _close(bot: Bot, tasks: tuple[asyncio.Task[None], ...]) -> None:
    await bot.socket.aclose()
    await bot.plans.aclose()
    await bot.engine.aclose()
    await bot.whispers.aclose()
    await end(tasks)
    try:
        await bot.store.ownership.resign()
    except GpuMigrateError as error:
        log.warning("could not hand over", reason=str(error.reason))


def _access(settings: Settings) -> Access:
    return Access(
        bot_token=settings.secret("SLACK_BOT_TOKEN"),
        app_token=settings.secret("SLACK_APP_TOKEN"),
        url=settings.slack_api_url.rstrip("/") + "/",
        proxy=settings.proxy,
        tls=tls_of(settings),
    )


@dataclass(frozen=True, slots=True)
class Voices:
    """Who we are in Slack and what we answer with."""

    who: Identity
    words: Words
    plans: PlanDesk
    whispers: Whispers
    brake: RedisStore


def _edge(settings: Settings, around: Surroundings, engine: Engine, voices: Voices) -> Edge:
    return Edge(
        submit=SubmitDesk(around.store, around.chat, around.clock, setup_of(settings), engine.nudge),
        runs=RunsDesk(around.store),
        desk=voices.plans,
        words=voices.words,
        clusters=Clusters(settings.policies(), settings.team or voices.who.team),
        whisper=voices.whispers,
        now=around.clock.now,
        brake=voices.brake,
        heard=lambda heard: log.info("heard", what=heard.what, user=heard.by.user, outcome=str(heard.outcome)),
    )


def _report(where: str, error: BaseException) -> None:
    log.error("failed", where=where, error=type(error).__name__, exc_info=error)


def _sweep(store: RedisStore) -> Callable[[], Awaitable[None]]:
    async def sweep() -> None:
        """Fleet chores, by whoever leads."""
        try:
            if await store.ownership.lead():
                log.info("swept", forgotten=await store.fleet.sweep())
        except GpuMigrateError as error:
            log.warning("could not sweep", reason=str(error.reason))

    return sweep


async def _lease(bot: Bot) -> None:
    await bot.store.ownership.keep()


async def _listen(bot: Bot) -> None:
    """Hear at once what other replicas recorded; the tick would find it a second later."""
    while True:
        try:
            for run_id in await bot.store.fleet.listen(LISTEN_SECONDS):
                bot.engine.nudge(run_id)
        except GpuMigrateError as error:
            log.warning("bell silent", reason=str(error.reason))
            await asyncio.sleep(LISTEN_SECONDS)


def _alive(timers: Timers) -> Mapping[str, str]:
    age = timers.age()
    return {"ticks": f"none for {age:.0f} s"} if age > SILENT_SECONDS else {}


def _ready(bot: Bot) -> Mapping[str, str]:
    wrong = {}
    if not bot.store.ownership.holds(0.0):
        wrong["redis"] = str(bot.store.ownership.trouble or "lease not held")
    if bot.calls.broken:
        wrong["slack token"] = str(bot.calls.broken)
    if not bot.socket.connected():
        wrong["slack"] = bot.socket.trouble() or "not connected"
    return wrong


def _numbers(bot: Bot) -> bytes:
    bot.metrics.tick_age.set(bot.timers.age())
    bot.metrics.slack_connected.set(1 if bot.socket.connected() else 0)
    return bot.metrics.text()


async def _until_stopped(tasks: tuple[asyncio.Task[None], ...]) -> None:
    """Until a signal, or until one of the tasks that never end has ended."""
    stop = asyncio.create_task(wait_for_signal(), name="signal")
    done, _ = await asyncio.wait({stop, *tasks}, return_when=asyncio.FIRST_COMPLETED)
    stop.cancel()
    for task in done:
        task.result()
