"""JSON over HTTP for the command line and for scripts: small, synchronous, quick to import."""

import json
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import urlencode

TIMEOUT = 10.0


class NoAnswer(RuntimeError):  # noqa: N818  it is what the caller tells a person
    """The server is away or refuses; the text is for a person."""


def call(method: str, url: str, body: Any = None, query: dict[str, Any] | None = None) -> Any:
    """Make one call; answers the decoded JSON.

    Raises NoAnswer.
    """
    if query:
        url = f"{url}?{urlencode({key: value for key, value in query.items() if value not in (None, '')})}"
    data = None if body is None else json.dumps(body).encode()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # loopback never goes through a proxy
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)  # noqa: S310
    try:
        with opener.open(request, timeout=TIMEOUT) as answer:
            return json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as refused:
        raise NoAnswer(_sentence(refused)) from refused
    except (OSError, ValueError) as away:
        raise NoAnswer(f"{url} does not answer: {away}") from away


def _sentence(refused: urllib.error.HTTPError) -> str:
    text = refused.read().decode(errors="replace")
    try:
        return str(json.loads(text)["error"])
    except (ValueError, KeyError, TypeError):
        return f"HTTP {refused.code}: {text[:200]}"
