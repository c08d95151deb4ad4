"""What the client library and the server may say, in our words."""

import socket
import ssl
from pathlib import Path

import pytest
from redis import exceptions as theirs
from redis.asyncio.sentinel import MasterNotFoundError

from state.errors import GpuMigrateError, PermanentError, TransientError
from state.store import trouble
from state.store.trouble import BarrierShort, drops_connections, lacks_rights, telling, translate

IN_REDIS_6 = "Error running script (call to f_0a1b): @user_script:12: @user_script: 12:"


@pytest.mark.parametrize(
    ("exc", "kind", "said"),
    [
        (
            theirs.ConnectionError("Error 111 connecting to 10.0.0.1:6379"),
            TransientError,
            "unreachable ConnectionError",
        ),
        (theirs.TimeoutError("Timeout reading from 10.0.0.1"), TransientError, "unreachable TimeoutError"),
        (TimeoutError(), TransientError, "unreachable TimeoutError"),
        (OSError(104, "reset"), TransientError, "unreachable ConnectionResetError"),
        (MasterNotFoundError("No master found for 'main'"), TransientError, "unreachable MasterNotFoundError"),
        (theirs.MaxConnectionsError("Too many connections"), TransientError, "unreachable MaxConnectionsError"),
        (theirs.MovedError("1 10.0.0.1:6379"), TransientError, "unreachable MovedError"),
        (theirs.ClusterDownError("The cluster is down"), TransientError, "refused CLUSTERDOWN"),
        (theirs.ClusterDownError("CLUSTERDOWN Hash slot not served"), TransientError, "refused CLUSTERDOWN"),
        (theirs.MasterDownError("Link with MASTER is down"), TransientError, "refused MASTERDOWN"),
        (theirs.TryAgainError("Multiple keys request during rehashing"), TransientError, "refused TRYAGAIN"),
        (theirs.ClusterError("TTL exhausted."), TransientError, "refused TRYAGAIN"),
        (theirs.RedisClusterException("All slots are not covered"), TransientError, "refused CLUSTERDOWN"),
        (theirs.ConnectionError("max number of clients reached"), TransientError, "refused max number of clients"),
        (theirs.BusyLoadingError("Redis is loading the dataset in memory"), TransientError, "refused LOADING"),
        (theirs.ReadOnlyError("You can't write against a read only replica."), TransientError, "refused READONLY"),
        (theirs.OutOfMemoryError("command not allowed"), TransientError, "refused OOM"),
        (theirs.ResponseError("MISCONF Errors writing to the AOF file"), TransientError, "refused MISCONF"),
        (theirs.ResponseError("NOREPLICAS Not enough good replicas"), TransientError, "refused NOREPLICAS"),
        (theirs.ResponseError("BUSY Redis is busy running a script."), TransientError, "refused BUSY"),
        (theirs.ResponseError("WRONGPASS invalid username-password pair"), TransientError, "refused rights"),
        (theirs.AuthenticationError("Authentication required."), TransientError, "refused rights"),
        (theirs.NoPermissionError("this user has no permissions"), TransientError, "refused rights"),
        (
            theirs.ResponseError(f"{IN_REDIS_6} -OOM command not allowed when used memory"),
            TransientError,
            "refused OOM",
        ),
        (
            theirs.ResponseError(f"{IN_REDIS_6} -MISCONF Errors writing to the AOF file"),
            TransientError,
            "refused MISCONF",
        ),
        (
            theirs.ResponseError(f"{IN_REDIS_6} -NOREPLICAS Not enough good replicas"),
            TransientError,
            "refused NOREPLICAS",
        ),
        (
            theirs.ResponseError(f"{IN_REDIS_6} The user executing the script can't run"),
            TransientError,
            "refused rights",
        ),
        (theirs.ResponseError("ACL failure in script: User bot has no permissions"), TransientError, "refused rights"),
        (theirs.ResponseError(f"{IN_REDIS_6} attempt to index a nil value"), PermanentError, "refused Error running"),
        (BarrierShort("0 of 1 replicas hold the intent"), TransientError, "refused 0 of 1 replicas hold the intent"),
        (theirs.ResponseError("ERR unknown command 'XADD'"), PermanentError, "refused ERR unknown command 'XADD'"),
        (theirs.ResponseError("WRONGTYPE Operation against a key"), PermanentError, "refused WRONGTYPE"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_given_an_error_of_the_library_when_translated_then_it_has_our_name(
    exc: Exception, kind: type[GpuMigrateError], said: str
) -> None:
    found = translate(exc)

    code, _, detail = said.partition(" ")
    assert type(found) is kind
    assert found.reason.code.value == f"store-{code}"
    assert found.reason.text("detail").startswith(detail)
    assert "10.0.0.1" not in str(found)


def test_given_a_refused_password_inside_a_connection_error_when_asked_then_rights_are_lacking() -> None:
    outer = theirs.ConnectionError("while connecting")
    outer.__cause__ = theirs.AuthenticationError("invalid username-password pair")

    assert lacks_rights(outer)
    assert translate(outer).reason.text("detail") == "rights"
    assert not lacks_rights(theirs.ConnectionError("reset"))


def test_given_an_answer_while_connecting_when_translated_then_the_answer_counts() -> None:
    outer = theirs.ConnectionError("Valkey is loading the dataset in memory")
    outer.__cause__ = theirs.BusyLoadingError("Valkey is loading the dataset in memory")

    assert str(translate(outer).reason) == "store-refused[detail=LOADING]"


@pytest.mark.parametrize(
    "why",
    [
        ConnectionRefusedError(111, "Connect call failed ('10.0.0.1', 6379)"),
        socket.gaierror(-2, "Name or service not known"),
        ssl.SSLCertVerificationError(1, "unable to get local issuer certificate"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_given_a_connection_that_never_came_when_translated_then_what_the_system_said_without_its_words(
    why: OSError,
) -> None:
    outer = theirs.ConnectionError("Error connecting to 10.0.0.1:6379")
    outer.__context__ = why

    assert str(translate(outer).reason) == f"store-unreachable[detail={type(why).__name__}]"


def test_given_a_primary_that_was_demoted_behind_sentinel_when_translated_then_read_only() -> None:
    outer = theirs.ConnectionError("The previous master is now a slave")
    outer.__context__ = theirs.ReadOnlyError("You can't write against a read only replica.")

    assert str(translate(outer).reason) == "store-refused[detail=READONLY]"


@pytest.mark.parametrize(
    ("why", "kind", "said"),
    [
        (theirs.ConnectionError("Error 111"), TransientError, "store-unreachable[detail=ConnectionError]"),
        (theirs.BusyLoadingError("Redis is loading"), TransientError, "store-refused[detail=LOADING]"),
        (theirs.NoPermissionError("no permissions"), TransientError, "store-refused[detail=rights]"),
        (theirs.ResponseError("ERR cluster off"), PermanentError, "store-refused[detail=ERR cluster off]"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_given_a_cluster_of_which_no_node_answers_when_translated_then_the_reason_of_the_last_one_counts(
    why: Exception, kind: type[GpuMigrateError], said: str
) -> None:
    outer = theirs.RedisClusterException("Redis Cluster cannot be connected")
    outer.__context__ = why

    found = translate(outer)

    assert type(found) is kind
    assert str(found.reason) == said


@pytest.mark.parametrize(
    ("first", "then", "said"),
    [
        (theirs.ConnectionError("max number of clients reached"), OSError(104, ""), "max number of clients reached"),
        (theirs.BusyLoadingError("loading"), TimeoutError(), "LOADING"),
        (theirs.ConnectionError("gone"), TimeoutError(), "ConnectionError"),
        (theirs.TimeoutError("late"), theirs.ConnectionError("gone"), "ConnectionError"),
        (theirs.ConnectionError("gone"), theirs.ReadOnlyError("demoted"), "READONLY"),
        (theirs.ReadOnlyError("demoted"), theirs.BusyLoadingError("loading"), "LOADING"),
    ],
)
def test_given_two_troubles_in_a_row_when_one_is_told_then_what_the_server_said_last_or_at_all(
    first: Exception, then: Exception, said: str
) -> None:
    assert telling(translate(first), then).reason.text("detail") == said


def test_given_an_error_when_asked_whether_idle_connections_are_worth_keeping_then_only_a_refusal_lets_them_live() -> (
    None
):
    assert drops_connections(theirs.ConnectionError("reset"))
    assert drops_connections(theirs.ReadOnlyError("demoted"))
    assert drops_connections(OSError("reset"))
    assert not drops_connections(theirs.OutOfMemoryError("full"))


def test_given_the_handbook_when_somebody_is_paged_then_each_word_is_explained_there() -> None:
    handbook = (Path(__file__).parents[2] / "docs" / "runbook.md").read_text(encoding="utf-8")
    words = {*trouble._FOR_NOW.values(), *trouble._WORDS_FOR_NOW, trouble._NO_ROOM, "rights"}

    assert {word for word in words if f"`{word}`" not in handbook} == set()
