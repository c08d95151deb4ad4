"""What the server promises to keep, as far as it tells: whether an answer of ours may be forgotten after all.

The product's own part is in the scripts; this is the part of whoever runs Redis. Nothing is changed here, and a server
that may not be asked (managed ones forbid CONFIG, narrow users forbid INFO) is not blamed for it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from redis.asyncio import RedisCluster
from redis.exceptions import NoPermissionError, ResponseError

from state import keys
from state.reasons import Code, Reason, reason
from state.store.link import Link

OLDEST = (6, 2)
_FSYNC = "appendfsync"


@dataclass(frozen=True, slots=True)
class Durability:
    """What was found. `risks`: why something that was acknowledged may be lost; empty as far as the server tells.

    `replicas`: online now. `version`: as Redis counts them, "" when it may not be asked.
    """

    version: str
    replicas: int
    risks: tuple[Reason, ...]


async def durability(link: Link) -> Durability:
    """Ask the server that holds our keys. Raises TransientError."""
    found: Mapping[str, Any] = await link.read(_info)
    fsync: str = await link.read(_fsync)
    return Durability(_version(found), _online(found), risks(found, fsync))


def risks(found: Mapping[str, Any], fsync: str) -> tuple[Reason, ...]:
    """What stands against the promise. `found`: INFO, by redis-py; `fsync`: "" when it may not be asked."""
    version, policy = _version(found), str(found.get("maxmemory_policy", "noeviction"))
    named: list[Reason] = []
    if version and _numbers(version) < OLDEST:
        named.append(reason(Code.STORE_OLD, version=version))
    if policy.startswith("allkeys-"):
        named.append(reason(Code.STORE_EVICTS, policy=policy))
    if str(found.get("aof_enabled", 1)) == "0":
        named.append(reason(Code.STORE_FORGETS, setting="appendonly no"))
    elif fsync not in ("", "always"):
        named.append(reason(Code.STORE_FORGETS, setting=f"{_FSYNC} {fsync}"))
    return tuple(named)


class Replicas:
    """How many replicas have to hold an intent before its call is made.

    `wanted`: as configured; None: one, as soon as any was seen by this process, since a failover hands us what it had.
    """

    def __init__(self, link: Link, wanted: int | None) -> None:
        self._link = link
        self._wanted = wanted
        self._seen = False

    async def needed(self) -> int:
        """Raises TransientError when the server does not answer."""
        if self._wanted is not None:
            return self._wanted
        self._seen = self._seen or _online(await self._link.read(_info)) > 0
        return int(self._seen)


async def _info(client: Any) -> Mapping[str, Any]:
    """INFO of the node that holds our keys, all of whose names share one hash tag."""
    try:
        if isinstance(client, RedisCluster):
            await client.initialize()
            found = await client.info(target_nodes=client.get_node_from_key(keys.DUE))
            return next(iter(found.values())) if "redis_version" not in found else found
        return dict(await client.info())
    except NoPermissionError:
        return {}


async def _fsync(client: Any) -> str:
    where = {"target_nodes": client.get_node_from_key(keys.DUE)} if isinstance(client, RedisCluster) else {}
    try:
        found = await client.config_get(_FSYNC, **where)
    except (NoPermissionError, ResponseError):  # a managed server does not know the command
        return ""
    return str(found.get(_FSYNC, ""))


def _version(found: Mapping[str, Any]) -> str:
    return str(found.get("redis_version", ""))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2] if part.isdigit())


def _online(found: Mapping[str, Any]) -> int:
    """Replicas that follow; one that is still copying holds nothing yet."""
    rows = (value for name, value in found.items() if name.removeprefix("slave").isdigit() and name.startswith("slave"))
    return sum(isinstance(row, Mapping) and row.get("state") == "online" for row in rows)
