"""The journal in Redis. Everything that must survive us stands here; nothing here decides.

`open_store` gives the three parts: `runs` (the journal), `ownership` (leases and fences), `fleet` (brake, bell,
retention). Only this package may import redis.
"""

from dataclasses import dataclass
from datetime import timedelta

from state import keys
from state.journal import Brake
from state.store.address import parse_address
from state.store.audit import verify_chain
from state.store.connect import Plan, connect
from state.store.durability import Durability, durability
from state.store.fleet import RedisFleet
from state.store.link import Link
from state.store.memory import Memory
from state.store.ownership import RedisOwnership, register
from state.store.runs import RedisRuns

__all__ = [
    "Durability",
    "RedisFleet",
    "RedisOwnership",
    "RedisReader",
    "RedisRuns",
    "RedisStore",
    "open_reader",
    "open_store",
    "verify_chain",
]


@dataclass(frozen=True, slots=True)
class RedisStore:
    """An open store."""

    link: Link
    runs: RedisRuns
    ownership: RedisOwnership
    fleet: RedisFleet

    async def ping(self) -> float:
        """Seconds that one round trip takes. Raises TransientError."""
        return await self.fleet.ping()

    async def durability(self) -> Durability:
        """What the server promises to keep. Raises TransientError."""
        return await durability(self.link)

    async def get_brake(self) -> Brake | None:
        return await self.fleet.get_brake()

    async def set_brake(self, by: str, reason: str) -> None:
        await self.fleet.set_brake(by, reason)

    async def lift_brake(self, by: str = "") -> None:
        await self.fleet.lift_brake(by)

    async def aclose(self) -> None:
        """Let writes that are under way land, then close. `ownership.resign()` before hands the runs over at once."""
        await self.link.aclose()


async def open_store(
    url: str, *, replica: str, ca_bundle: str = "", wait_replicas: int | None = None, retention_days: int = 90
) -> RedisStore:
    """Connect, load the scripts, see that we may do what they do, and take the replica's name.

    `wait_replicas`: that have to hold an intent before its call; None: one, when there are any. Raises ConfigError for a
    URL that cannot be read, TransientError(STORE_…) when the store does not answer.
    """
    link = Link(connect(Plan(parse_address(url), ca_bundle)))
    memory = Memory()
    try:
        await link.load_scripts()
        await _rehearse(link)
        ownership = await register(link, memory, replica)
    except BaseException:
        await link.aclose()
        raise
    return RedisStore(
        link=link,
        runs=RedisRuns(link, memory, replica, wait_replicas),
        ownership=ownership,
        fleet=RedisFleet(link, timedelta(days=retention_days), ownership.replica.owner),
    )


@dataclass(frozen=True, slots=True)
class RedisReader:
    """A store opened to be read: no name is taken, so that a look never overtakes a running process."""

    link: Link
    runs: RedisRuns
    fleet: RedisFleet

    async def durability(self) -> Durability:
        """What the server promises to keep. Raises TransientError."""
        return await durability(self.link)

    async def rehearse(self) -> None:
        """See that the server does all that is asked of it. Raises TransientError: what it refuses, or that we may not."""
        await _rehearse(self.link)

    async def aclose(self) -> None:
        await self.link.aclose()


async def open_reader(url: str, *, ca_bundle: str = "") -> RedisReader:
    """Connect to read. Raises as `open_store` does."""
    link = Link(connect(Plan(parse_address(url), ca_bundle)))
    try:
        await link.load_scripts()
    except BaseException:
        await link.aclose()
        raise
    return RedisReader(link, RedisRuns(link, Memory(), "reader"), RedisFleet(link, timedelta(days=90)))


async def _rehearse(link: Link) -> None:
    await link.call("rehearsal", (keys.REHEARSAL,))
