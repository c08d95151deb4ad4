"""Ask everything that the bot depends on, side by side, and name every fault at once.

Nothing is changed, but for a key of its own in Redis that is gone again at once. Each question has its own time; what
does not answer in it is a fault like any other. Needs settings that could be read: what is wrong with those is said
before.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.adapters.slack.access import Access, open_session, web_client
from bot.adapters.slack.app import identify
from bot.adapters.slack.calls import Calls
from bot.adapters.slack.limiter import Limiter
from bot.cli_answers import reader
from bot.config import Settings
from bot.messages import Words
from bot.wiring import Adapters, open_adapters, tls_of
from state.errors import GpuMigrateError, PermanentError
from state.reasons import Code, reason
from state.store import Durability

SECONDS = 30.0
OLDEST_HELM = (3, 14)


@dataclass(frozen=True, slots=True)
class Finding:
    """One answer. `detail`: what was found, or what is wrong and what to do. `seconds`: how long it took."""

    what: str
    ok: bool
    detail: str
    seconds: float


async def examine(settings: Settings, seconds: float = SECONDS) -> tuple[Finding, ...]:
    """All findings, in the order of the questions."""
    words = Words(settings.language)
    async with open_adapters(settings) as adapters:
        questions: list[tuple[str, Callable[[], Awaitable[str]]]] = [
            ("redis", lambda: _redis(settings, words)),
            ("slack bot token", lambda: _slack(settings)),
            ("slack app token", lambda: _socket(settings)),
            ("ibm cloud login", lambda: _login(adapters)),
            ("helm", lambda: _helm(adapters)),
        ]
        questions += [(f"cluster {name}", _cluster_question(adapters, name)) for name in settings.clusters]
        asked = (_answer(words, what, ask, seconds) for what, ask in questions)
        return tuple(await asyncio.gather(*asked))


async def _answer(words: Words, what: str, ask: Callable[[], Awaitable[str]], seconds: float) -> Finding:
    began = time.monotonic()
    ok, detail = False, f"no answer within {seconds:.0f} s"
    try:
        async with asyncio.timeout(seconds):
            ok, detail = True, await ask()
    except TimeoutError:
        pass
    except GpuMigrateError as error:
        detail = words.sentence(error.reason)
    except _Wrong as error:
        detail = str(error)
    except Exception as error:  # noqa: BLE001 (the top of a question: an unforeseen fault is a finding too)
        detail = f"{type(error).__name__}: {error}"
    return Finding(what, ok, detail, time.monotonic() - began)


class _Wrong(Exception):  # noqa: N818 (a finding, not a failure)
    """More than one thing is wrong; the text says all of them."""


async def _redis(settings: Settings, words: Words) -> str:
    async with reader(settings) as store:
        await store.rehearse()
        found = await store.durability()
        if found.risks:
            raise _Wrong(" ".join(words.sentence(risk) for risk in found.risks))
        return f"answers in {await store.fleet.ping() * 1000:.1f} ms{_kept(found)}"


def _kept(found: Durability) -> str:
    version = f", version {found.version}" if found.version else ""
    return f"{version}, replicas {found.replicas}"


async def _slack(settings: Settings) -> str:
    access = _access(settings)
    async with open_session(access) as session:
        who = await identify(web_client(access, session), Calls(Limiter(), access.call_seconds))
    if settings.team and who.team != settings.team:
        raise PermanentError(reason(Code.SLACK_REFUSED, error=f"the token is of team {who.team}, not {settings.team}"))
    return f"user {who.user} of {who.team_name or who.team}"


async def _socket(settings: Settings) -> str:
    """Asks for a socket's address without opening it."""
    access = _access(settings)
    async with open_session(access) as session:
        client = web_client(access, session)
        calls = Calls(Limiter(), access.call_seconds)
        await calls.make("apps.connections.open", lambda: client.apps_connections_open(app_token=access.app_token))
    return "may open a socket"


async def _login(adapters: Adapters) -> str:
    await adapters.iks.tokens.token()
    return "logged in"


async def _helm(adapters: Adapters) -> str:
    version = await adapters.helm.version()
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST_HELM:
        detail = f"version {version} is too old; install helm 4"
        raise PermanentError(reason(Code.HELM_FAILED, exit=0, detail=detail))
    return f"version {version}"


def _cluster_question(adapters: Adapters, name: str) -> Callable[[], Awaitable[str]]:
    return lambda: _cluster(adapters, name)


async def _cluster(adapters: Adapters, name: str) -> str:
    """IKS and the API server of one cluster, with the rights that a run needs."""
    iks = adapters.iks_of(name)
    ref = await iks.resolve(name)
    seen = await iks.look(ref.id)
    kubernetes = await adapters.kubernetes(name, ref.id)
    try:
        inside = await kubernetes.look()
    finally:
        await kubernetes.aclose()
    if inside.may_not:
        raise PermanentError(reason(Code.MISSING_RIGHTS, rights=inside.may_not))
    mode = "observe" if adapters.settings.clusters[name].policy.observe else "act"
    master = f"{seen.master.version} ({inside.version} answers)"
    return f"{ref.id}, {master}, {len(seen.workers)} workers, {len(inside.nodes)} GPU nodes, mode {mode}"


def _access(settings: Settings) -> Access:
    return Access(
        bot_token=settings.secret("SLACK_BOT_TOKEN"),
        app_token=settings.secret("SLACK_APP_TOKEN"),
        url=f"{settings.slack_api_url}/",
        proxy=settings.proxy,
        tls=tls_of(settings),
    )
