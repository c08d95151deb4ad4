"""Errors of redis-py → our tree, by name. A write's failure always means "unknown"; the scripts make a repeat harmless."""

import re
from datetime import timedelta

from redis.asyncio import RedisCluster
from redis.asyncio.sentinel import MasterNotFoundError
from redis.exceptions import (
    AskError,
    AuthenticationError,
    AuthorizationError,
    BusyLoadingError,
    ClusterDownError,
    ClusterError,
    ExternalAuthProviderError,
    MasterDownError,
    NoPermissionError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisClusterException,
    RedisError,
    ResponseError,
    TryAgainError,
)
from redis.exceptions import (
    ConnectionError as RedisConnectionError,
)

from state.errors import GpuMigrateError, PermanentError, TransientError
from state.reasons import Code, reason

_FOR_NOW = {  # redis-py takes the first word off these
    OutOfMemoryError: "OOM",
    ReadOnlyError: "READONLY",
    BusyLoadingError: "LOADING",
    TryAgainError: "TRYAGAIN",
    ClusterDownError: "CLUSTERDOWN",
    MasterDownError: "MASTERDOWN",
    ClusterError: "TRYAGAIN",  # sent from node to node in vain
    RedisClusterException: "CLUSTERDOWN",  # some slots have no node
}
_WORDS_FOR_NOW = ("MISCONF", "NOREPLICAS", "BUSY")
_WORDS_OF_RIGHTS = ("NOAUTH", "WRONGPASS", "NOPERM")
_NO_RIGHT_IN_A_SCRIPT = ("ACL failure in script", "The user executing the script can't")
_IN_A_SCRIPT = re.compile(r"^Error running script .*?: -([A-Z]+) ")
_NO_ROOM = "max number of clients reached"  # redis-py makes a ConnectionError of it
_RIGHTS = (AuthenticationError, AuthorizationError, NoPermissionError, ExternalAuthProviderError)


class BarrierShort(RedisError):  # noqa: N818 (a count, not a failure of the server)
    """Fewer replicas than wanted hold the write."""


def troubles(client: object) -> tuple[type[Exception], ...]:
    """What a call may raise that is the store's trouble and none of ours.

    A cluster's client has errors beside redis-py's tree, and when it reads the layout anew it closes connections under
    their users, which then find None.
    """
    plain = (RedisError, OSError, TimeoutError)
    return (*plain, RedisClusterException, AttributeError) if isinstance(client, RedisCluster) else plain


def translate(exc: Exception) -> GpuMigrateError:
    """Say in our words what went wrong; detail is the server's first word or the error's name, never an address.

    Transient: unreachable, or refused for now (full memory or disk, read-only, loading, too few replicas, and rights,
    since passwords are rotated under us). Permanent: the server does not understand us.
    """
    text = str(exc)
    if isinstance(exc, BarrierShort):
        return TransientError(reason(Code.STORE_REFUSED, detail=text))
    if lacks_rights(exc):
        return TransientError(reason(Code.STORE_REFUSED, detail="rights"), timedelta(seconds=30))
    inner = _inside(exc)
    if isinstance(inner, RedisError | RedisClusterException):
        return translate(inner)
    word = _for_now(exc)
    if word:
        return TransientError(reason(Code.STORE_REFUSED, detail=word))
    if isinstance(exc, ResponseError) and not isinstance(exc, AskError):  # MOVED is one: the next try knows better
        return PermanentError(reason(Code.STORE_REFUSED, detail=text[:200]))
    why = inner if isinstance(inner, OSError) else exc  # refused, no such name, a certificate nobody vouches for
    return TransientError(reason(Code.STORE_UNREACHABLE, detail=type(why).__name__))


def telling(before: GpuMigrateError | None, exc: Exception) -> GpuMigrateError:
    """The more telling of two troubles in a row.

    What the server said beats that it did not answer (a full one resets some connections without a word), and
    everything beats our own deadline.
    """
    found = translate(exc)
    if before is None or found.reason.code is not Code.STORE_UNREACHABLE:
        return found
    return before if type(exc) is TimeoutError or before.reason.code is Code.STORE_REFUSED else found


def lacks_rights(exc: BaseException) -> bool:
    """Wrong password or missing right: asking again at once would fail alike. redis-py wraps it while connecting."""
    if isinstance(exc, _RIGHTS) or _word(exc) in _WORDS_OF_RIGHTS:
        return True
    if isinstance(exc, MasterNotFoundError) and "AuthenticationError" in str(exc):  # it lists what each sentinel said
        return True
    inner = _inside(exc)
    return inner is not None and lacks_rights(inner)


def drops_connections(exc: Exception) -> bool:
    """Whether idle connections are likely to meet the same end: a dead peer, or a server that is no primary any more."""
    return isinstance(exc, RedisConnectionError | ReadOnlyError | OSError)


def _inside(exc: BaseException) -> BaseException | None:
    """What redis-py wrapped: an answer while connecting, what the system said, why no node of a cluster could be asked."""
    wrapped = isinstance(exc, RedisConnectionError | RedisClusterException)
    return exc.__cause__ or (exc.__context__ if wrapped else None)


def _for_now(exc: Exception) -> str:
    """The word for what passes by itself or by somebody's hand, "" when it is something else."""
    if _NO_ROOM in str(exc):
        return _NO_ROOM
    word = _word(exc)
    if isinstance(exc, ResponseError) and word in (*_WORDS_FOR_NOW, *_FOR_NOW.values()):
        return word
    return _FOR_NOW.get(type(exc), "")


def _word(exc: BaseException) -> str:
    """An error's first word. In a script a missing right is written out, and Redis 6 puts a sentence before all others."""
    text = str(exc)
    if any(words in text for words in _NO_RIGHT_IN_A_SCRIPT):
        return "NOPERM"
    inner = _IN_A_SCRIPT.search(text)
    return inner[1] if inner else text.split(" ", 1)[0]
