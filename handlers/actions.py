"""Buttons of cards: read the value, look whether it still counts, submit; whisper when it does not.

A click that is recorded needs no answer of its own: the card is rewritten without buttons. The checks here only answer
early; what counts is decided once more when the event is taken from the inbox.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from handlers.edge import Edge, Heard, has_ended, in_time, turn_away
from handlers.signals import Body, Click, Signal, clicked, signal
from handlers.who import not_operator, turned_away
from state.approval import refusal
from state.events import Approved, HumanEvent, Rejected, RetryRequested, TurnedAway
from state.reasons import Code, Reason, reason
from state.run import Run


def register(app: AsyncApp, edge: Edge) -> None:
    """Our own buttons, and a word about every other one."""

    async def on_click(ack: AsyncAck, body: Mapping[str, Any]) -> None:
        outcome = await click(edge, body)
        if outcome.code is not Code.RECORDED:
            edge.whisper(signal(body, edge.now()).by, edge.words.answer(outcome))
        await ack()

    app.action(re.compile("^gm:"))(on_click)
    app.action(re.compile(".*"))(on_click)


async def click(edge: Edge, body: Body) -> Reason:
    """What came of a click: RECORDED, or why not."""
    said, pressed = signal(body, edge.now()), clicked(body)
    outcome = turned_away(body, edge.clusters.team)
    work = _take(edge, said, pressed) if outcome is None else _foreign(edge, said, pressed, outcome)
    outcome = await in_time(work, edge.patience)
    name = f"{pressed.action_id} {pressed.approval}#{pressed.revision}" if pressed else "unknown button"
    edge.heard(Heard(f"click {name}", said.by, outcome))
    return outcome


async def _take(edge: Edge, said: Signal, pressed: Click | None) -> Reason:
    make = _EVENTS.get(pressed.action_id) if pressed else None
    run = await edge.runs.get(pressed.run_id) if pressed and make else None
    if pressed is None or make is None or run is None:
        return reason(Code.UNKNOWN_CARD)
    event = make(said, pressed)
    why = _refused(run, event, said, pressed)
    if run.phase.ended:  # who was first says more than that it is over
        return why if why and why.code is Code.ALREADY_DECIDED else has_ended(run)
    if why:
        return await turn_away(edge, run, _turned_away(said, pressed, why))
    outcome = await edge.submit.submit(run.id, event)
    return reason(Code.UNKNOWN_CARD) if outcome.code is Code.NO_SUCH_RUN else outcome


async def _foreign(edge: Edge, said: Signal, pressed: Click | None, why: Reason) -> Reason:
    """Somebody who is not heard at all pressed a button of ours: that stands in the log too (B062)."""
    run = await edge.runs.get(pressed.run_id) if pressed else None
    return await turn_away(edge, run, _turned_away(said, pressed, why)) if run and pressed else why


def _turned_away(said: Signal, pressed: Click, why: Reason) -> TurnedAway:
    return TurnedAway(said.at, said.id, said.by, pressed.action_id, why, pressed.approval, pressed.revision)


def _refused(run: Run, event: HumanEvent, said: Signal, pressed: Click) -> Reason | None:
    """Why this click does not count now."""
    if isinstance(event, Approved | Rejected):
        return refusal(run, event)
    approval = next((found for found in run.approvals if found.id == pressed.approval), None)
    if approval is None:
        return reason(Code.UNKNOWN_CARD)
    if approval.decision is not None or approval.revision != pressed.revision:
        return reason(Code.STALE_CARD)
    return not_operator(run.policy, said.by.user)


def _approve(said: Signal, pressed: Click) -> HumanEvent:
    return Approved(said.at, said.id, said.by, pressed.approval, pressed.revision)


def _reject(said: Signal, pressed: Click) -> HumanEvent:
    return Rejected(said.at, said.id, said.by, pressed.approval, pressed.revision)


def _recheck(said: Signal, _pressed: Click) -> HumanEvent:
    return RetryRequested(said.at, said.id, said.by)


_EVENTS: Mapping[str, Callable[[Signal, Click], HumanEvent]] = {
    "gm:approve": _approve,
    "gm:reject": _reject,
    "gm:recheck": _recheck,
    "gm:close": _reject,  # a plan that nobody answers with yes ends with a no
}
