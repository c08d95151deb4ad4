"""The Bolt app: who we are, no network on the way of a click, and a last line that acknowledges what a listener broke."""

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from bot.adapters.slack.calls import Calls
from handlers.ports import Words
from state.reasons import Code, reason

Report = Callable[[str, BaseException], None]  # (where, error): an error of ours at the top of a task


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the bot token makes us: team, our user and our bot id."""

    team: str
    team_name: str
    user: str
    bot: str


async def identify(client: AsyncWebClient, calls: Calls) -> Identity:
    """Ask Slack who we are. PermanentError(SLACK_REFUSED): the token is wrong; TransientError: try again."""
    answer = await calls.make("auth.test", client.auth_test)
    team, name, user, bot = (str(answer.get(key) or "") for key in ("team_id", "team", "user_id", "bot_id"))
    return Identity(team, name, user, bot)


def build_app(
    client: AsyncWebClient, who: Identity, words: Words, report: Report, signing_secret: str = ""
) -> AsyncApp:
    """An app whose listeners answer before the response leaves (p50 0.5 ms instead of 11, B059).

    `signing_secret`: for delivery by HTTP; socket mode needs none.
    """
    app = AsyncApp(
        logger=_quiet(),
        client=client,
        authorize=_authorize(who, client.token or ""),
        process_before_response=True,
        signing_secret=signing_secret or None,
        request_verification_enabled=bool(signing_secret),
    )

    async def broke(error: Exception, body: Mapping[str, Any]) -> BoltResponse:
        report("slack listener", error)
        return _apology(words, error, body)

    app.error(broke)
    return app


def _quiet() -> logging.Logger:
    """Bolt warns when a token stands in the environment beside our client: it does, and it is the same one."""
    logger = logging.getLogger("slack_bolt.gpu_migrate")
    logger.setLevel(logging.ERROR)
    return logger


def _authorize(who: Identity, token: str) -> Callable[..., Any]:
    """One workspace, one token: nothing to look up. Foreign teams are refused with a sentence, by the edge."""

    async def authorize(**_: Any) -> AuthorizeResult:
        return AuthorizeResult(
            enterprise_id=None, team_id=who.team, bot_id=who.bot, bot_user_id=who.user, bot_token=token
        )

    return authorize


def _apology(words: Words, error: Exception, body: Mapping[str, Any]) -> BoltResponse:
    """200 always, so that Slack shows no error of its own; text where the acknowledgement can carry one."""
    if "command" not in body:
        return BoltResponse(status=200)
    message = words.answer(reason(Code.UNEXPECTED, where="slack", what=type(error).__name__))
    payload = {"text": message.text, "blocks": [dict(block) for block in message.blocks]}
    return BoltResponse(
        status=200, body=json.dumps(payload), headers={"content-type": ["application/json;charset=utf-8"]}
    )
