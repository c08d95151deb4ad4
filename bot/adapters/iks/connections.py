"""Open HTTP sessions to IBM Cloud: proxy, CA bundle, and never an old connection under a mutating call.

A kept connection may have been closed by the other side just when a request is written to it; for a read that is a
repeat, for an order it would be an outcome nobody knows. So orders get a connection each.
"""

import functools
import ssl
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp


@dataclass(frozen=True, slots=True)
class Network:
    """How to get out.

    Attributes:
        proxy: URL, "" means the environment's rules.
        ca_bundle: PEM file to trust besides.
        requests: how many IKS grants to our address in 10 seconds; less when others share it.
    """

    proxy: str = field(default="", repr=False)
    ca_bundle: Path | None = None
    requests: int = 200

    def session(self, *, fresh: bool = False) -> aiohttp.ClientSession:
        """Open a session inside the running loop; `fresh` closes each connection after one request."""
        connector = aiohttp.TCPConnector(ssl=_trust(self.ca_bundle), force_close=fresh, limit=100)
        headers = {"Accept": "application/json", "Accept-Language": "en"}
        return aiohttp.ClientSession(
            connector=connector,
            headers=headers,
            proxy=self.proxy or None,
            trust_env=not self.proxy,
            cookie_jar=aiohttp.DummyCookieJar(),
        )


@functools.cache
def _trust(ca_bundle: Path | None) -> ssl.SSLContext:
    """The system's trust, and the bundle's: read once, since that takes longer than a call."""
    context = ssl.create_default_context()
    if ca_bundle is not None:
        context.load_verify_locations(cafile=ca_bundle)
    return context
