"""Bodies to JSON values: JSON with doubled keys noticed, YAML without its dates, and small objects that are not stored."""

import json
from typing import Any

import yaml

from sandbox.kubernetes.decoding import TypeFaultError, decode
from sandbox.kubernetes.shapes import Shape
from sandbox.kubernetes.statuses import bad_request


def load(body: bytes, content_type: str, kind: str) -> tuple[Any, list[str]]:
    """Parse a body; returns the value and the names of doubled keys. Raises ApiError 400."""
    if content_type in ("application/yaml", "application/apply-patch+yaml") and not body.lstrip().startswith(b"{"):
        return load_yaml(body), []
    doubled: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) != len(items):
            seen: set[str] = set()
            for name, _ in items:
                if name in seen:
                    doubled.append(name)
                seen.add(name)
        return found

    try:
        return json.loads(body, object_pairs_hook=pairs, parse_constant=_refuse_constant), doubled
    except (ValueError, RecursionError) as error:
        text = body.decode(errors="replace")
        raise bad_request(
            f"the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; "
            f"json parse error: {_go_syntax(text, error)} ({text[:30]})"
        ) from error


def load_typed(body: bytes, content_type: str, kind: str, shape: Shape) -> dict[str, Any]:
    """Parse a body that is no stored object (options, an eviction) and fit it to its shape. Raises ApiError 400."""
    value, _ = load(body, content_type, kind)
    if not isinstance(value, dict):
        raise bad_request(f"the object provided is unrecognized (must be of type {kind})")
    try:
        return decode(value, shape, custom=False).obj
    except TypeFaultError as error:
        raise bad_request(f"{kind} cannot be handled: {error}") from error


def load_yaml(body: bytes) -> Any:
    try:
        loaded = yaml.load(body, Loader=_Loader)  # noqa: S506 - a SafeLoader without its dates
        return json.loads(json.dumps(loaded, allow_nan=False))  # keys become text, as in JSON
    except (yaml.YAMLError, TypeError, ValueError, RecursionError) as error:
        raise bad_request(f"error decoding YAML: {error}") from error


class _Loader(yaml.SafeLoader):
    """YAML as JSON: dates stay text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in rows if tag != "tag:yaml.org,2002:timestamp"]
    for first, rows in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _refuse_constant(word: str) -> None:
    """NaN and Infinity are JSON to Python alone."""
    raise ValueError(word)


def _go_syntax(text: str, error: Exception) -> str:
    position = getattr(error, "pos", 0)
    if position >= len(text):
        return "unexpected end of JSON input"
    before = text[:position].rstrip()
    place = "object key string" if before.endswith("{") else "value"
    return f"invalid character '{text[position]}' looking for beginning of {place}"
