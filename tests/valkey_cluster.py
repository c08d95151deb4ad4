"""A real cluster for tests: three masters that share the slots, and a replica of the one that holds our keys."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from state import keys
from tests.valkey import Valkey, free_port, running, until

SLOTS = 16384
NODE_TIMEOUT_MS = "1000"


class Cluster:
    """Four nodes. Which of them is what changes."""

    def __init__(self, nodes: list[Valkey]) -> None:
        self.nodes = nodes
        self.slot = nodes[0].say("CLUSTER", "KEYSLOT", keys.PREFIX).removeprefix(":")

    @property
    def holder(self) -> Valkey:
        """The node that holds our keys now."""
        return next(node for node in self.nodes if any(self._within(span) for span in _spans(node)))

    def other(self) -> Valkey:
        """A master that does not hold our keys."""
        return next(node for node in self.nodes if _spans(node) and node is not self.holder)

    @property
    def replica(self) -> Valkey:
        """The node that holds a copy of our keys."""
        return next(node for node in self.nodes if not _spans(node))

    def url(self, *nodes: Valkey) -> str:
        return "redis+cluster://" + ",".join(f"127.0.0.1:{node.port}" for node in nodes)

    def begin_move(self, source: Valkey, target: Valkey) -> None:
        """From now on keys that the source lacks are asked for at the target."""
        assert target.say("CLUSTER", "SETSLOT", self.slot, "IMPORTING", name_of(source)) == "+OK"
        assert source.say("CLUSTER", "SETSLOT", self.slot, "MIGRATING", name_of(target)) == "+OK"

    def carry(self, source: Valkey, target: Valkey, most: int = 1000) -> int:
        """Carry up to so many keys over; how many there were."""
        found = keys_of(source, self.slot, most)
        if found:
            address = ("127.0.0.1", str(target.port), "", "0", "5000", "KEYS")
            assert source.say("MIGRATE", *address, *found) == "+OK"
        return len(found)

    def end_move(self, source: Valkey, target: Valkey) -> None:
        """The slot is the target's; the target first, as the manual says."""
        others = (node for node in self.nodes if _spans(node) and node not in (source, target))
        for node in (target, source, *others):
            assert node.say("CLUSTER", "SETSLOT", self.slot, "NODE", name_of(target)) == "+OK"

    def _within(self, span: str) -> bool:
        low, _, high = span.partition("-")
        return low.isdigit() and int(low) <= int(self.slot) <= int(high or low)


def name_of(node: Valkey) -> str:
    return node.ask("CLUSTER", "MYID")


def _spans(node: Valkey) -> list[str]:
    """The slots of a master; none at a replica. A move that is under way is told in brackets."""
    mine = next(line.split() for line in node.ask("CLUSTER", "NODES").splitlines() if "myself" in line)
    return mine[8:] if "master" in mine[2] else []


def keys_of(node: Valkey, slot: str, most: int) -> list[str]:
    joined = "return table.concat(redis.call('CLUSTER', 'GETKEYSINSLOT', ARGV[1], ARGV[2]), '\\n')"
    return node.ask("EVAL", joined, "0", slot, str(most)).split()


@contextmanager
def clustered() -> Iterator[Cluster]:
    """Four nodes, grown together."""
    with ExitStack() as stack:
        nodes = [stack.enter_context(_node()) for _ in range(4)]
        for place, node in enumerate(nodes[:3]):
            first, last = place * SLOTS // 3, (place + 1) * SLOTS // 3 - 1
            node.say("CLUSTER", "SET-CONFIG-EPOCH", str(place + 1))
            assert node.say("CLUSTER", "ADDSLOTSRANGE", str(first), str(last)) == "+OK"
        for node in nodes[1:]:
            assert nodes[0].say("CLUSTER", "MEET", "127.0.0.1", str(node.port), _bus(node)) == "+OK"
        until(lambda: all(_knows(node, 4) for node in nodes), "the nodes never met")
        cluster = Cluster(nodes)
        assert nodes[3].say("CLUSTER", "REPLICATE", name_of(cluster.holder)) == "+OK"
        until(lambda: all(is_well(node) for node in nodes), "the cluster never came up")
        until(lambda: "master_link_status:up" in nodes[3].ask("INFO", "replication"), "the replica never came")
        yield cluster


def is_well(node: Valkey) -> bool:
    return "cluster_state:ok" in node.ask("CLUSTER", "INFO")


def _knows(node: Valkey, count: int) -> bool:
    return f"cluster_known_nodes:{count}" in node.ask("CLUSTER", "INFO")


def _bus(node: Valkey) -> str:
    mine = node.ask("CLUSTER", "NODES").split()[1]  # ip:port@bus
    return mine.partition("@")[2].partition(",")[0]


@contextmanager
def _node() -> Iterator[Valkey]:
    options = (
        ("--cluster-enabled", "yes"),
        ("--cluster-port", str(free_port())),
        ("--cluster-node-timeout", NODE_TIMEOUT_MS),
        ("--cluster-replica-no-failover", "yes"),  # nobody fails over but when told to
        ("--repl-diskless-sync-delay", "0"),
    )
    with running(*(word for pair in options for word in pair), tcp=True) as node:
        yield node
