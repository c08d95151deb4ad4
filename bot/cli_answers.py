"""What the commands without Slack ask: a dry run, where runs stand, a report. Reads only; nothing is stored or ordered.

Imported inside commands only, since it pulls in every client library.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from bot.audit import audit_json, audit_report
from bot.config import Settings
from bot.desk import RunsDesk
from bot.messages import Words, terminal
from bot.observe import look
from bot.wiring import open_adapters
from handlers.ports import Clusters, Message
from state.braking import why
from state.codec import encode
from state.errors import PermanentError
from state.planner import plan
from state.reasons import Code, reason
from state.run import Goal, Run, RunPhase
from state.store import RedisReader, open_reader

RECENT = 20
EVERY_ROW = 1_000_000
WHO = "command line"


async def plan_text(settings: Settings, cluster: str, goal: Goal = Goal.MIGRATE) -> str:
    """What a run would do: look at the cluster now, plan, store nothing."""
    return terminal(Words(settings.language).plan(await plan_once(settings, cluster, goal)))


async def plan_once(settings: Settings, cluster: str, goal: Goal = Goal.MIGRATE) -> Run:
    """A planned run that is stored nowhere. Raises what the ports raise."""
    known(settings, cluster)
    async with open_adapters(settings) as adapters:
        iks = adapters.iks_of(cluster)
        ref = await iks.resolve(cluster)
        kubernetes = await adapters.kubernetes(cluster, ref.id)
        try:
            snapshot = await look(iks, kubernetes, ref.id, adapters.clock)
        finally:
            await kubernetes.aclose()
    policy = settings.policies()[cluster]
    return plan(Run("plan", cluster, goal, RunPhase.PLANNED, policy, WHO, "", snapshot.at), snapshot)


async def status_text(settings: Settings, cluster: str) -> str:
    """Where a cluster's run stands; without a cluster: all configured ones."""
    words = Words(settings.language)
    async with reader(settings) as store:
        desk = RunsDesk(store.runs)
        if not cluster:
            runs = await desk.recent(RECENT)
            return _said(words.clusters(Clusters(settings.policies()), runs))
        known(settings, cluster)
        run = await desk.active(cluster)
        if run is not None:
            run = replace(run, brake=why(await store.fleet.get_brake()))
    return _said(words.status(run) if run is not None else words.answer(reason(Code.NO_RUN, cluster=cluster)))


async def runs_text(settings: Settings) -> str:
    """The newest runs, ended ones included."""
    async with reader(settings) as store:
        brake = why(await store.fleet.get_brake())
        return _said(Words(settings.language).runs(await RunsDesk(store.runs).recent(RECENT), brake))


async def report_text(settings: Settings, run_id: str) -> str:
    """The whole story of a run."""
    async with reader(settings) as store:
        return _said(Words(settings.language).report(await _run(store, run_id)))


async def report_json(settings: Settings, run_id: str) -> str:
    """The same for programs: the stored run and its log, oldest row first."""
    async with reader(settings) as store:
        run = await _run(store, run_id)
        rows = [dict(row) for row in await store.runs.log(run_id)]
    content: dict[str, Any] = {"run": json.loads(encode(run)), "log": rows}
    return json.dumps(content, indent=1, ensure_ascii=False, default=str)


async def audit_text(settings: Settings, run_id: str, *, json: bool) -> str:
    """The audit of a run: who decided what, every order, the chains checked."""
    async with reader(settings) as store:
        stored = await store.runs.load(run_id)
        if stored is None:
            raise PermanentError(reason(Code.NO_SUCH_RUN, run=run_id))
        rows, fleet = await store.runs.log(run_id, EVERY_ROW), await store.fleet.whole_log()
    return audit_json(rows, stored, fleet) if json else audit_report(rows, stored, fleet)


@asynccontextmanager
async def reader(settings: Settings) -> AsyncIterator[RedisReader]:
    """The journal, opened to be read."""
    ca_bundle = str(settings.ca_bundle) if settings.ca_bundle else ""
    store = await open_reader(settings.secret("REDIS_URL"), ca_bundle=ca_bundle)
    try:
        yield store
    finally:
        await store.aclose()


def known(settings: Settings, cluster: str) -> None:
    """Refuse a cluster that is not configured, with those that are."""
    if cluster not in settings.clusters:
        names = tuple(sorted(settings.clusters))
        raise PermanentError(reason(Code.UNKNOWN_CLUSTER, cluster=cluster, known=names))


async def _run(store: RedisReader, run_id: str) -> Run:
    run = await RunsDesk(store.runs).get(run_id)
    if run is None:
        raise PermanentError(reason(Code.NO_SUCH_RUN, run=run_id))
    return run


def _said(message: Message) -> str:
    return terminal(message)
