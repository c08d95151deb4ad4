"""Clients for a store address, with every default of redis-py that matters set by hand.

Hidden retries are off for whatever writes: redis-py 8 repeats a command whose reply was lost, and three entries come of
one XADD (redis-py issues 977 and 261, pull request 3559; measured). The scripts are idempotent by operation id and
`link` repeats them. Nothing is sent here.
"""

from dataclasses import dataclass
from typing import Any

from redis.asyncio import (
    BlockingConnectionPool,
    Redis,
    RedisCluster,
    Sentinel,
    SSLConnection,
    UnixDomainSocketConnection,
)
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.connection import Connection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.maint_notifications import MaintNotificationsConfig

from state.store.address import Address, Shape

SOCKET_SECONDS = 3.0
CONNECT_SECONDS = 2.0
BLOCK_SECONDS = 5.0  # the longest blocking read; its socket waits five seconds more
CONNECTIONS = 32  # at most, and twice as many for scripts; they are made when needed

Client = Redis | RedisCluster


@dataclass(frozen=True, slots=True)
class Clients:
    """`store` for scripts, `read` for plain reads, `watch` for blocking ones. `plan`: how more of them are made."""

    store: Client
    read: Client
    watch: Client
    plan: "Plan"
    sentinels: tuple[Sentinel, ...] = ()

    async def aclose(self) -> None:
        for client in (self.store, self.read, self.watch):
            await client.aclose()
        for sentinel in self.sentinels:
            for guard in sentinel.sentinels:
                await guard.aclose()


@dataclass(frozen=True, slots=True)
class Plan:
    """How to connect."""

    address: Address
    ca_bundle: str = ""

    def settings(self, seconds: float) -> dict[str, Any]:
        """What every connection gets. `seconds`: how long one reply may take."""
        found: dict[str, Any] = {
            "username": self.address.username or None,
            "password": self.address.password or None,
            "protocol": 3,
            "decode_responses": True,
            "encoding_errors": "surrogatepass",  # text of people may hold what UTF-8 forbids
            "socket_timeout": seconds,
            "health_check_interval": 15,
            "retry": Retry(NoBackoff(), 0),
            "driver_info": None,  # else 20 ms of importlib.metadata and two round trips for each connection
            "maint_notifications_config": MaintNotificationsConfig(enabled=False),
        }
        if self.address.shape is not Shape.SOCKET:
            found |= {"socket_connect_timeout": CONNECT_SECONDS, "socket_keepalive": True}
        return found

    def tls(self) -> dict[str, Any]:
        return {"ssl_ca_certs": self.ca_bundle or None} if self.address.tls else {}


def connect(plan: Plan) -> Clients:
    """Make the three clients; nothing is sent yet."""
    sentinels: list[Sentinel] = []
    store = _client(plan, SOCKET_SECONDS, CONNECTIONS * 2, sentinels)
    read = _client(plan, SOCKET_SECONDS, CONNECTIONS, sentinels)
    watch = _client(plan, BLOCK_SECONDS + 5, 2, sentinels)
    return Clients(store, read, watch, plan, tuple(sentinels))


def direct(plan: Plan, host: str, port: int) -> Redis:
    """One connection to one node of a cluster, for a write and the WAIT that belongs to it."""
    return Redis.from_pool(_pool(plan, SOCKET_SECONDS, 1, {"host": host, "port": port}))


def _client(plan: Plan, seconds: float, connections: int, sentinels: list[Sentinel]) -> Client:
    address = plan.address
    match address.shape:
        case Shape.CLUSTER:
            return _cluster(plan, seconds, connections)
        case Shape.SENTINEL:
            sentinel = _sentinel(plan)
            sentinels.append(sentinel)
            # its pool does not wait for a free connection; `link` never has more calls under way than this
            made: Redis = sentinel.master_for(
                address.service,
                **plan.settings(seconds),
                **plan.tls(),
                ssl=address.tls,
                db=address.db,
                max_connections=connections * 2,
            )
            return made
        case Shape.SOCKET:
            return Redis.from_pool(_pool(plan, seconds, connections, {"path": address.path, "db": address.db}))
        case Shape.SINGLE:
            host, port = address.hosts[0]
            return Redis.from_pool(_pool(plan, seconds, connections, {"host": host, "port": port, "db": address.db}))


def _pool(plan: Plan, seconds: float, connections: int, where: dict[str, Any]) -> BlockingConnectionPool:
    kinds = {Shape.SOCKET: UnixDomainSocketConnection}
    kind = SSLConnection if plan.address.tls else kinds.get(plan.address.shape, Connection)
    settings = plan.settings(seconds) | plan.tls() | where
    return BlockingConnectionPool(max_connections=connections, timeout=5, connection_class=kind, **settings)


def _sentinel(plan: Plan) -> Sentinel:
    options = plan.address.options
    guards = {
        "username": options.get("sentinel_username"),
        "password": options.get("sentinel_password"),
        "socket_timeout": 1.0,
        "socket_connect_timeout": 1.0,
        "decode_responses": True,
        "retry": Retry(NoBackoff(), 0),
        "driver_info": None,
        "maint_notifications_config": MaintNotificationsConfig(enabled=False),
        "ssl": plan.address.tls,
        **plan.tls(),
    }
    made: Any = Sentinel
    sentinel: Sentinel = made(plan.address.hosts, sentinel_kwargs=guards)  # it has no annotations
    return sentinel


def _cluster(plan: Plan, seconds: float, connections: int) -> RedisCluster:
    settings = plan.settings(seconds) | plan.tls()
    return RedisCluster(
        startup_nodes=[ClusterNode(host, port) for host, port in plan.address.hosts],
        max_connections=connections,
        ssl=plan.address.tls,
        reinitialize_steps=0,  # else every fifth MOVED closes the connections of all calls that are under way
        **settings,
    )
