"""Store URLs: every form that is promised, and what is said about the others."""

from dataclasses import replace

import pytest

from state.errors import ConfigError
from state.store.address import Address, Shape, parse_address


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("redis://localhost", Address(Shape.SINGLE, False, (("localhost", 6379),))),
        ("redis://r:7000/2", Address(Shape.SINGLE, False, (("r", 7000),), db=2)),
        ("redis://", Address(Shape.SINGLE, False, (("localhost", 6379),))),
        ("redis://[::1]:7000/0", Address(Shape.SINGLE, False, (("::1", 7000),))),
        ("redis://:p%40ss@r", Address(Shape.SINGLE, False, (("r", 6379),), password="p@ss")),
        ("rediss://bot:a%2Fb@r:6380/1", Address(Shape.SINGLE, True, (("r", 6380),), "", "", 1, "bot", "a/b")),
        ("unix:///run/my%20redis.sock?db=3", Address(Shape.SOCKET, False, (), "/run/my redis.sock", "", 3)),
        ("unix://bot:pw@/run/r.sock", Address(Shape.SOCKET, False, (), "/run/r.sock", "", 0, "bot", "pw")),
        (
            "redis+sentinel://bot:pw@s1:1,s2/main/4",
            Address(Shape.SENTINEL, False, (("s1", 1), ("s2", 26379)), "", "main", 4, "bot", "pw"),
        ),
        ("rediss+sentinel://s1/main", Address(Shape.SENTINEL, True, (("s1", 26379),), "", "main")),
        ("redis+cluster://c1:1,[fe80::1]:2", Address(Shape.CLUSTER, False, (("c1", 1), ("fe80::1", 2)))),
        ("rediss+cluster://bot:pw@c1/0", Address(Shape.CLUSTER, True, (("c1", 6379),), "", "", 0, "bot", "pw")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_given_a_url_when_read_then_its_parts_are_known(url: str, address: Address) -> None:
    assert replace(parse_address(url), options={}) == address


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:6379",
        "http://secret@r",
        "redis://user:secret@r:port",
        "redis://:secret@r/db",
        "redis://:secret@r:99999999999999999999x",
        "redis://:secret@[::1",
        "unix://",
        "unix://:secret@",
        "redis+sentinel://:secret@s1",
        "redis+cluster://:secret@c1/3",
    ],
)
def test_given_a_url_that_cannot_be_read_when_read_then_it_is_said_without_its_secret(url: str) -> None:
    with pytest.raises(ConfigError, match="store URL") as caught:
        parse_address(url)

    assert "secret" not in str(caught.value)


def test_given_a_password_when_an_address_is_shown_then_it_is_not_in_it() -> None:
    shown = repr(parse_address("redis+sentinel://bot:secret@s1/main?sentinel_password=secret"))

    assert "secret" not in shown
