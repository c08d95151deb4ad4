"""Errors of redis-py → our tree, by name. A write's failure always means "unknown"; the scripts make a repeat harmless."""

from datetime import timedelta

from redis.exceptions import (
    AskError,
    AuthenticationError,
    AuthorizationError,
    BusyLoadingError,
    ExternalAuthProviderError,
    NoPermissionError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
)
from redis.exceptions import (
    ConnectionError as RedisConnectionError,
)

from state.errors import GpuMigrateError, PermanentError, TransientError
from state.reasons import Code, reason

_WORDS_FOR_NOW = (
    "MISCONF",
    "NOREPLICAS",
    "LOADING",
    "MASTERDOWN",
    "CLUSTERDOWN",
    "TRYAGAIN",
    "BUSY",
    "READONLY",
    "OOM",
)
_WORDS_OF_RIGHTS = ("NOAUTH", "WRONGPASS", "NOPERM")
_REFUSED = (BusyLoadingError, OutOfMemoryError, ReadOnlyError)
_RIGHTS = (AuthenticationError, AuthorizationError, NoPermissionError, ExternalAuthProviderError)


class BarrierShort(RedisError):  # noqa: N818 (a count, not a failure of the server)
    """Fewer replicas than wanted hold the write."""


def translate(exc: Exception) -> GpuMigrateError:
    """Say in our words what went wrong; detail is the server's first word or the error's name, never an address.

    Transient: unreachable, or refused for now (full memory or disk, read-only, loading, too few replicas, and rights,
    since passwords are rotated under us). Permanent: the server does not understand us.
    """
    text = str(exc)
    word = text.split(" ", 1)[0]
    if isinstance(exc, BarrierShort):
        return TransientError(reason(Code.STORE_REFUSED, detail=text))
    if lacks_rights(exc):
        return TransientError(reason(Code.STORE_REFUSED, detail="rights"), timedelta(seconds=30))
    if isinstance(exc, _REFUSED) or (isinstance(exc, ResponseError) and word in _WORDS_FOR_NOW):
        return TransientError(reason(Code.STORE_REFUSED, detail=_name(exc, word)))
    if isinstance(exc, ResponseError) and not isinstance(exc, AskError):  # MOVED is one: the next try knows better
        return PermanentError(reason(Code.STORE_REFUSED, detail=text[:200]))
    return TransientError(reason(Code.STORE_UNREACHABLE, detail=_name(exc, word)))


def lacks_rights(exc: BaseException) -> bool:
    """Wrong password or missing right: asking again at once would fail alike. redis-py wraps it while connecting."""
    word = str(exc).split(" ", 1)[0]
    found = isinstance(exc, _RIGHTS) or word in _WORDS_OF_RIGHTS
    return found or (exc.__cause__ is not None and lacks_rights(exc.__cause__))


def drops_connections(exc: Exception) -> bool:
    """Whether idle connections are likely to meet the same end: a dead peer, or a server that is no primary any more."""
    return isinstance(exc, RedisConnectionError | ReadOnlyError | OSError)


def _name(exc: Exception, word: str) -> str:
    known: dict[type, str] = {OutOfMemoryError: "OOM", ReadOnlyError: "READONLY", BusyLoadingError: "LOADING"}
    return known.get(type(exc), word if word in _WORDS_FOR_NOW else type(exc).__name__)
