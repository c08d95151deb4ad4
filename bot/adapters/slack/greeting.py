"""Ask Slack who we are at our start, patiently: Slack may be away for a moment, a wrong token stays wrong."""

import asyncio

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.adapters.slack.app import Identity, identify
from bot.adapters.slack.calls import Calls
from state.errors import TransientError

log = structlog.get_logger()

GREET_SECONDS = 60.0
LONGEST_PAUSE_SECONDS = 5.0


async def greet(client: AsyncWebClient, calls: Calls, seconds: float = GREET_SECONDS) -> Identity:
    """Our identity. Raises PermanentError(SLACK_REFUSED) for a wrong token, TransientError after `seconds` of silence."""
    deadline = asyncio.get_running_loop().time() + seconds
    while True:
        try:
            return await identify(client, calls)
        except TransientError as error:
            if asyncio.get_running_loop().time() > deadline:
                raise
            log.warning("slack does not answer yet", reason=str(error.reason))
            await asyncio.sleep(min(error.delay.total_seconds(), LONGEST_PAUSE_SECONDS))
