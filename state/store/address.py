"""A store URL taken apart: which kind of Redis, which hosts, who we are there.

    redis://user:password@host:port/db        one server; rediss:// with TLS
    unix:///path/to/socket?db=0               one server beside us
    redis+sentinel://user:password@host:port,host:port/service/db     rediss+sentinel:// with TLS
        ?sentinel_username=…&sentinel_password=…
    redis+cluster://user:password@host:port,host:port                 rediss+cluster:// with TLS

User and password are percent-encoded. Nothing is connected here, and no error repeats the URL: it holds a secret.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import parse_qsl, unquote, urlsplit

from state.errors import ConfigError
from state.reasons import Code, reason


class Shape(StrEnum):
    SINGLE = "single"
    SOCKET = "socket"
    SENTINEL = "sentinel"
    CLUSTER = "cluster"


@dataclass(frozen=True, slots=True)
class Address:
    """Where the store is. `options`: the URL's query."""

    shape: Shape
    tls: bool
    hosts: tuple[tuple[str, int], ...] = ()
    path: str = ""
    service: str = ""
    db: int = 0
    username: str = ""
    password: str = field(default="", repr=False)
    options: Mapping[str, str] = field(default_factory=dict, repr=False)


_SCHEMES = {
    "redis": (Shape.SINGLE, False, 6379),
    "rediss": (Shape.SINGLE, True, 6379),
    "unix": (Shape.SOCKET, False, 0),
    "redis+sentinel": (Shape.SENTINEL, False, 26379),
    "rediss+sentinel": (Shape.SENTINEL, True, 26379),
    "redis+cluster": (Shape.CLUSTER, False, 6379),
    "rediss+cluster": (Shape.CLUSTER, True, 6379),
}


def parse_address(url: str) -> Address:
    """Read a store URL. Raises ConfigError that names what is wrong without repeating it."""
    scheme, _, _ = url.partition("://")
    if scheme not in _SCHEMES:
        raise _wrong(f"scheme is none of {', '.join(_SCHEMES)}")
    shape, tls, port = _SCHEMES[scheme]
    try:
        parts = urlsplit(url)
    except ValueError as exc:
        raise _wrong("it cannot be read") from exc
    options = dict(parse_qsl(parts.query))
    username, password, hosts = _split_authority(parts.netloc)
    path = unquote(parts.path)
    service, db = _split_path(shape, path)
    return Address(
        shape=shape,
        tls=tls,
        hosts=() if shape is Shape.SOCKET else _read_hosts(hosts, port),
        path=path if shape is Shape.SOCKET else "",
        service=service,
        db=_read_number(options.get("db", db), "database"),
        username=username or options.get("username", ""),
        password=password or options.get("password", ""),
        options=options,
    )


def _split_authority(netloc: str) -> tuple[str, str, str]:
    credentials, _, hosts = netloc.rpartition("@")
    username, _, password = credentials.partition(":")
    return unquote(username), unquote(password), hosts


def _split_path(shape: Shape, path: str) -> tuple[str, str]:
    """Service and database as the path tells them."""
    words = [word for word in path.split("/") if word]
    match shape:
        case Shape.SOCKET:
            if not words:
                raise _wrong("the socket's path is missing")
            return "", "0"
        case Shape.SENTINEL:
            if not words:
                raise _wrong("the service's name is missing: redis+sentinel://host:port/SERVICE/db")
            return words[0], words[1] if len(words) > 1 else "0"
        case Shape.SINGLE:
            return "", words[0] if words else "0"
        case Shape.CLUSTER:
            if words and words[0] != "0":
                raise _wrong("a cluster has database 0 only")
            return "", "0"


def _read_hosts(text: str, port: int) -> tuple[tuple[str, int], ...]:
    return tuple(_read_host(item, port) for item in (text or "localhost").split(",") if item)


def _read_host(text: str, port: int) -> tuple[str, int]:
    """`host`, `host:port`, `[v6]` or `[v6]:port`."""
    if text.startswith("["):
        host, _, rest = text[1:].partition("]")
        return host, _read_number(rest.removeprefix(":") or str(port), "port")
    host, _, number = text.partition(":")
    return host or "localhost", _read_number(number or str(port), "port")


def _read_number(text: str, what: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise _wrong(f"the {what} is no number")
    return int(text)


def _wrong(what: str) -> ConfigError:
    return ConfigError(reason(Code.STORE_REFUSED, detail=f"store URL: {what}"))
