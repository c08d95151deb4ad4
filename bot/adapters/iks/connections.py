"""Open HTTP sessions to IBM Cloud: proxy, CA bundle, and never an old connection under a mutating call.

A kept connection may have been closed by the other side just when a request is written to it; for a read that is a
repeat, for an order it would be an outcome nobody knows. So orders get a connection each.
"""

import ssl
from dataclasses import dataclass
from pathlib import Path

import aiohttp


@dataclass(frozen=True, slots=True)
class Network:
    """How to get out. `proxy`: URL, "" means the environment's rules. `ca_bundle`: PEM file to trust besides."""

    proxy: str = ""
    ca_bundle: Path | None = None

    def tls(self) -> ssl.SSLContext:
        """The system's trust, and the bundle's."""
        context = ssl.create_default_context()
        if self.ca_bundle is not None:
            context.load_verify_locations(cafile=self.ca_bundle)
        return context

    def session(self, *, fresh: bool = False) -> aiohttp.ClientSession:
        """Open a session inside the running loop; `fresh` closes each connection after one request."""
        connector = aiohttp.TCPConnector(ssl=self.tls(), force_close=fresh, limit=100)
        headers = {"Accept": "application/json", "Accept-Language": "en"}
        return aiohttp.ClientSession(
            connector=connector,
            headers=headers,
            proxy=self.proxy or None,
            trust_env=not self.proxy,
            cookie_jar=aiohttp.DummyCookieJar(),
        )
