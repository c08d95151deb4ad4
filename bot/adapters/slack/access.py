"""How Slack is reached: tokens, base URL, proxy, certificates; and the one HTTP session that all calls share.

Without a shared session the SDK opens one per call (python-slack-sdk#645). Proxy settings come from here alone: the
SDK's own look into the environment is undone, so that one place decides (python-slack-sdk#952, #738).
"""

from dataclasses import dataclass, field
from ssl import SSLContext

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

BASE_URL = "https://slack.com/api/"


@dataclass(frozen=True, slots=True)
class Access:
    """What is needed to talk to one workspace.

    Attributes:
        bot_token: xoxb-…, for the Web API. app_token: xapp-…, for socket mode.
        url: base URL of the Web API.
        proxy: URL of a proxy, "" for none. tls: certificates to trust; None for the system's.
        call_seconds: how long one call may take.
    """

    bot_token: str = field(repr=False)
    app_token: str = field(repr=False, default="")
    url: str = BASE_URL
    proxy: str = ""
    tls: SSLContext | None = None
    call_seconds: float = 8.0


def open_session(access: Access) -> aiohttp.ClientSession:
    """The session of all calls; whoever opens it closes it, after the socket."""
    timeout = aiohttp.ClientTimeout(total=access.call_seconds, connect=access.call_seconds / 2)
    return aiohttp.ClientSession(timeout=timeout, trust_env=False)


def web_client(access: Access, session: aiohttp.ClientSession) -> AsyncWebClient:
    """The SDK's client without its own retries: what may be repeated is decided in `calls`."""
    client = AsyncWebClient(
        token=access.bot_token,
        base_url=access.url,
        timeout=max(1, round(access.call_seconds)),
        ssl=access.tls,
        proxy=access.proxy or None,
        session=session,
        retry_handlers=[],
    )
    client.proxy = access.proxy or None
    return client
