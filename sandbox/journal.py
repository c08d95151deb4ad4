"""The world's memory of every call it accepted: the oracle of the flow tests.

A call that changed something (or was refused) in any pretend system is appended here by the server that took it.
Tests ask the journal what happened, never the bot.
"""

import itertools
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Entry:
    """One call, as the server saw it.

    Attributes:
        seq: 1, 2, 3 … over all systems of this world.
        at: Unix time in seconds.
        system: iks, iam, kubernetes, slack or world (the world's own changes, such as a worker turning normal).
        cluster: cluster name, "" where there is none.
        actor: who called: the authenticated user name (Kubernetes), token subject (IKS), user or bot id (Slack).
        verb: short name of what was asked: replaceWorker, patch nodes, create pods/eviction, chat.postMessage …
        target: natural key of the thing touched: worker id, node name, namespace/pod, channel.
        status: HTTP status that was answered.
        request: method, path, query and body (secrets left out).
        effect: what the world did about it.
    """

    seq: int
    at: float
    system: str
    cluster: str
    actor: str
    verb: str
    target: str
    status: int
    request: dict[str, Any] = field(default_factory=dict)
    effect: dict[str, Any] = field(default_factory=dict)


class Journal:
    """Append-only list of entries, shared by all servers of one world process."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._seq = itertools.count(1)

    def add(self, system: str, verb: str, target: str, **rest: Any) -> Entry:
        """Append one entry; `rest` holds cluster, actor, status, request, effect (all optional)."""
        entry = Entry(
            seq=next(self._seq),
            at=time.time(),
            system=system,
            cluster=rest.get("cluster", ""),
            actor=rest.get("actor", ""),
            verb=verb,
            target=target,
            status=rest.get("status", 200),
            request=rest.get("request", {}),
            effect=rest.get("effect", {}),
        )
        self._entries.append(entry)
        return entry

    def entries(self, since: int = 0) -> Iterable[Entry]:
        """Entries with a higher sequence number than `since`, oldest first."""
        return tuple(self._entries[since:])

    def as_json(self, since: int = 0) -> list[dict[str, Any]]:
        return [asdict(entry) for entry in self.entries(since)]
