"""Slash commands: understand, authorise, submit or read, answer. The acknowledgement carries the answer, for one person.

Runs are found by cluster, as configured, or by their own id, so that a run of a cluster that left the configuration can
still be steered.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from handlers.edge import Edge, Heard, has_ended, in_time, turn_away
from handlers.grammar import Command, Verb, parse, unknown_cluster
from handlers.ports import Message, StartRequest
from handlers.signals import Body, Signal, signal
from handlers.who import not_operator, turned_away
from state import braking
from state.events import AbortRequested, PauseRequested, ResumeRequested, RetryRequested, TurnedAway
from state.reasons import Code, Reason, reason
from state.run import Goal, Run, RunPhase

Answer = Message | Reason
Steering = type[PauseRequested | ResumeRequested | RetryRequested | AbortRequested]

LISTED = 30
ALL = 200


def register(app: AsyncApp, edge: Edge) -> None:
    """Answer every slash command of the app, whatever it is called there."""

    async def on_command(ack: AsyncAck, body: Mapping[str, Any]) -> None:
        message = await answer(edge, body)
        await ack(text=message.text, blocks=[dict(block) for block in message.blocks] or None)

    app.command(re.compile(".*"))(on_command)


async def answer(edge: Edge, body: Body) -> Message:
    """What the person who typed reads."""
    said = signal(body, edge.now())
    text = str(body.get("text") or "")
    outcome = turned_away(body, edge.clusters.team) or await _obey(edge, said, text)
    known = outcome if isinstance(outcome, Reason) else None
    edge.heard(Heard(f"command {text[:100]}", said.by, known))
    if known is not None and known.code is Code.UNKNOWN_COMMAND:
        return edge.words.help(known)
    return edge.words.answer(outcome) if isinstance(outcome, Reason) else outcome


async def _obey(edge: Edge, said: Signal, text: str) -> Answer:
    parsed = parse(text, edge.clusters.policies)
    if isinstance(parsed, Reason):
        return parsed
    return await in_time(_VERBS[parsed.verb](edge, said, parsed), edge.patience)


async def _help(edge: Edge, _said: Signal, _command: Command) -> Answer:
    return edge.words.help()


async def _clusters(edge: Edge, _said: Signal, _command: Command) -> Answer:
    return edge.words.clusters(edge.clusters, await edge.runs.recent(ALL))


async def _plan(edge: Edge, said: Signal, command: Command) -> Answer:
    edge.desk.plan(command.target, said.by)
    return reason(Code.LOOKING, cluster=command.target)


async def _start(edge: Edge, said: Signal, command: Command) -> Answer:
    if why := not_operator(edge.clusters.policies[command.target], said.by.user):
        return why
    goal = Goal.PREPARE if command.verb is Verb.PREPARE else Goal.MIGRATE
    return await edge.submit.start(StartRequest(said.id, command.target, goal, said.by))


async def _status(edge: Edge, _said: Signal, command: Command) -> Answer:
    brake = await _brake(edge)
    if command.target:
        run = await _find(edge, command.target)
        return edge.words.status(_under(run, brake)) if isinstance(run, Run) else run
    going = tuple(run for run in await edge.runs.recent(ALL) if not run.phase.ended)
    match going:
        case ():
            return reason(Code.NOTHING_RUNS, brake)
        case (only,):
            return edge.words.status(_under(only, brake))
        case _:
            return edge.words.runs(going, brake)


async def _brake(edge: Edge) -> Reason | None:
    """The brake as it is now; runs learn of it a moment later."""
    return braking.why(await edge.brake.get_brake()) if edge.brake is not None else None


def _under(run: Run, brake: Reason | None) -> Run:
    return run if run.phase.ended else replace(run, brake=brake)


async def _runs(edge: Edge, _said: Signal, _command: Command) -> Answer:
    return edge.words.runs(await edge.runs.recent(LISTED), await _brake(edge))


async def _report(edge: Edge, said: Signal, command: Command) -> Answer:
    if not command.target:
        return await _runs(edge, said, command)
    run = await _find(edge, command.target)
    if isinstance(run, Run):
        return edge.words.report(run)
    return reason(Code.NO_SUCH_RUN, run=command.target) if run.code is Code.UNKNOWN_CLUSTER else run


def _steer(event: Steering) -> Callable[[Edge, Signal, Command], Awaitable[Answer]]:
    """A command that becomes an event of a run."""

    async def steer(edge: Edge, said: Signal, command: Command) -> Answer:
        run = await _find(edge, command.target)
        if isinstance(run, Reason):
            return run
        if run.phase.ended:
            return has_ended(run)
        if why := not_operator(run.policy, said.by.user):
            refused = TurnedAway(said.at, said.id, said.by, command.verb.value, why)
            return await turn_away(edge, run, refused)
        outcome = await edge.submit.submit(run.id, event(said.at, said.id, said.by))
        return await _under_brake(edge, run, event, outcome)

    return steer


async def _under_brake(edge: Edge, run: Run, event: Steering, outcome: Reason) -> Reason:
    """Who aborts or retries while all runs are stopped reads at once what happens now, and what waits."""
    if event not in (AbortRequested, RetryRequested) or outcome.code is not Code.RECORDED:
        return outcome
    brake = await _brake(edge)
    if brake is None or run.phase in (RunPhase.PLANNING, RunPhase.PLANNED):
        return outcome
    return (
        reason(Code.ABORT_WAITS, brake, cluster=run.cluster)
        if event is AbortRequested
        else replace(outcome, cause=brake)
    )


async def _stop_all(edge: Edge, said: Signal, _command: Command) -> Answer:
    """Order nothing anywhere: any operator may, stopping is the safe direction."""
    if why := _operates_nothing(edge, said.by.user):
        return why
    if edge.brake is None:
        return await _each(edge, said, PauseRequested)
    await edge.brake.set_brake(said.by.user, "stop-all")
    return reason(Code.BRAKE_SET, by=said.by.user)


async def _resume_all(edge: Edge, said: Signal, _command: Command) -> Answer:
    if why := _operates_nothing(edge, said.by.user):
        return why
    if edge.brake is None:
        return await _each(edge, said, ResumeRequested)
    await edge.brake.lift_brake(said.by.user)
    return reason(Code.BRAKE_LIFTED, by=said.by.user)


def _operates_nothing(edge: Edge, user: str) -> Reason | None:
    """Why this user may not speak for all runs: they are operator of no cluster."""
    if any(not_operator(policy, user) is None for policy in edge.clusters.policies.values()):
        return None
    return reason(Code.NOT_OPERATOR, user=user)


async def _each(edge: Edge, said: Signal, event: Steering) -> Answer:
    """Steer everything that the person may steer, side by side."""
    going = [run for run in await edge.runs.recent(ALL) if not run.phase.ended]
    if not going:
        return reason(Code.NOTHING_RUNS)
    mine = [run for run in going if not not_operator(run.policy, said.by.user)]
    one = event(said.at, said.id, said.by)
    outcomes = await asyncio.gather(*(edge.submit.submit(run.id, one) for run in mine))
    taken = {run.cluster for run, outcome in zip(mine, outcomes, strict=True) if outcome.code is Code.RECORDED}
    if not taken:
        return reason(Code.NOT_RECORDED) if mine else reason(Code.NOT_OPERATOR, user=said.by.user)
    if event is ResumeRequested:
        return reason(Code.BRAKE_LIFTED, by=said.by.user)
    left = tuple(sorted(run.cluster for run in going if run.cluster not in taken))
    return reason(Code.STOPPED_ALL, clusters=tuple(sorted(taken)), refused=left)


async def _find(edge: Edge, target: str) -> Run | Reason:
    """The run that a word means: a cluster's active one, else its newest; else the run of that id."""
    if run := await edge.runs.active(target) or await edge.runs.get(target):
        return run
    newest = (run for run in await edge.runs.recent(ALL) if target in (run.cluster, run.cluster_id))
    if run := next(newest, None):
        return run
    if target in edge.clusters.policies:
        return reason(Code.NO_RUN, cluster=target)
    return unknown_cluster(target, edge.clusters.policies)


_VERBS: Mapping[Verb, Callable[[Edge, Signal, Command], Awaitable[Answer]]] = {
    Verb.HELP: _help,
    Verb.CLUSTERS: _clusters,
    Verb.PLAN: _plan,
    Verb.PREPARE: _start,
    Verb.START: _start,
    Verb.STATUS: _status,
    Verb.PAUSE: _steer(PauseRequested),
    Verb.RESUME: _steer(ResumeRequested),
    Verb.RETRY: _steer(RetryRequested),
    Verb.ABORT: _steer(AbortRequested),
    Verb.RUNS: _runs,
    Verb.REPORT: _report,
    Verb.STOP_ALL: _stop_all,
    Verb.RESUME_ALL: _resume_all,
}
