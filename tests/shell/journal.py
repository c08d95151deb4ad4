"""The journal, leases and the brake in memory, as bot/ports.py describes them, with the failures that tests need.

`trace` tells what happened in which order: an entry for each stored transition, and whatever else a test writes there.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from state.errors import GpuMigrateError, PermanentError, RunConflict, TransientError
from state.events import HumanEvent
from state.journal import Brake, Change, InboxEntry, MessageRecord, StoredRun
from state.reasons import Code, reason
from state.run import Run


def away() -> TransientError:
    return TransientError(reason(Code.STORE_UNREACHABLE, detail="away"))


@dataclass
class MemoryStore:
    """`gate` holds transitions up while it is closed; `trouble` is raised by every call."""

    trouble: GpuMigrateError | None = None
    trace: list[str] = field(default_factory=list)
    stored: dict[str, StoredRun] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    tries: int = 0
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    _inbox: dict[str, list[InboxEntry]] = field(default_factory=dict)
    _created: dict[str, str] = field(default_factory=dict)
    _messages: dict[str, dict[str, MessageRecord]] = field(default_factory=dict)
    accepted: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.gate.set()

    def _reach(self) -> None:
        self.tries += 1
        if self.trouble is not None:
            raise self.trouble

    async def create(self, run: Run, event_id: str) -> str | None:
        self._reach()
        if event_id in self._created:
            return None
        other = await self.active(run.cluster)
        if other is not None:
            return other
        self._created[event_id] = run.id
        self.stored[run.id] = StoredRun(run, 1, 0)
        return None

    async def claim_cluster(self, stored: StoredRun, cluster_id: str) -> str | None:
        self._reach()
        others = (s.run for s in self.stored.values() if s.run.id != stored.run.id and not s.run.phase.ended)
        return next((run.id for run in others if run.cluster_id == cluster_id), None)

    async def load(self, run_id: str) -> StoredRun | None:
        self._reach()
        return self.stored.get(run_id)

    async def apply(self, change: Change) -> StoredRun:
        self._reach()
        await self.gate.wait()
        self._reach()
        there = self.stored[change.run.id]
        if (there.version, there.fence) != (change.stored.version, change.stored.fence):
            raise RunConflict(reason(Code.STORE_OVERTAKEN, run=change.run.id, what="version"))
        fresh = StoredRun(change.run, there.version + 1, there.fence)
        self.stored[change.run.id] = fresh
        self.changes.append(change)
        self.trace.append(f"stored {change.log['event']}")
        left = [entry for entry in self._inbox.get(change.run.id, []) if entry.id not in change.taken]
        self._inbox[change.run.id] = left
        return fresh

    async def submit(self, run_id: str, event: HumanEvent) -> bool:
        self._reach()
        if run_id not in self.stored:
            return False
        entries = self._inbox.setdefault(run_id, [])
        if all(entry.event.id != event.id for entry in entries):
            if self.stored[run_id].run.phase.ended:
                raise PermanentError(reason(Code.RUN_ENDED, run=run_id))
            entries.append(InboxEntry(f"{len(entries) + 1}-0", event))
        return True

    async def inbox(self, run_id: str) -> tuple[InboxEntry, ...]:
        self._reach()
        return tuple(self._inbox.get(run_id, ()))

    async def active(self, cluster: str) -> str | None:
        self._reach()
        going = (s.run for s in self.stored.values() if s.run.cluster == cluster and not s.run.phase.ended)
        return next((run.id for run in going), None)

    async def recent(self, limit: int) -> tuple[StoredRun, ...]:
        self._reach()
        return tuple(reversed(self.stored.values()))[:limit]

    async def actives(self) -> tuple[str, ...]:
        self._reach()
        return tuple(run_id for run_id, stored in self.stored.items() if not stored.run.phase.ended)

    async def log(self, run_id: str, limit: int = 1000) -> tuple[Mapping[str, object], ...]:
        self._reach()
        return tuple(change.log for change in self.changes if change.run.id == run_id)[-limit:]

    def accept_rewound(self, run_id: str) -> None:
        self.accepted.append(run_id)
        if self.trouble is not None and self.trouble.reason.code is Code.STORE_REWOUND:
            self.trouble = None

    async def messages(self, run_id: str) -> Mapping[str, MessageRecord]:
        self._reach()
        return dict(self._messages.get(run_id, {}))

    async def put_message(self, run_id: str, key: str, record: MessageRecord) -> None:
        self._reach()
        self._messages.setdefault(run_id, {})[key] = record

    def overtake(self, run_id: str) -> None:
        """Somebody else takes the run and changes it."""
        there = self.stored[run_id]
        self.stored[run_id] = replace(there, version=there.version + 1, fence=there.fence + 1)


@dataclass
class MemoryOwnership:
    """One replica's leases. `mine`: whether the last look before a call says yes; `lease`: how long it lasts.

    `poor`: a replica that shall have one of our runs.
    """

    store: MemoryStore
    mine: bool = True
    lease: float = 12.0
    trouble: GpuMigrateError | None = None
    ready: list[str] = field(default_factory=list)
    taken: list[str] = field(default_factory=list)
    released: list[str] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)
    poor: str = ""

    async def take(self, run_id: str) -> StoredRun | None:
        self._reach()
        there = self.store.stored.get(run_id)
        if there is None or not self.mine:
            return None
        self.taken.append(run_id)
        fresh = replace(there, fence=there.fence + 1)
        self.store.stored[run_id] = fresh
        return fresh

    async def release(self, run_id: str, heir: str = "") -> None:
        self._reach()
        self.released.append(f"{run_id} to {heir}" if heir else run_id)

    async def pass_by(self, run_id: str) -> None:
        self._reach()
        self.passed.append(run_id)

    def heir(self) -> str:
        return self.poor

    def holds(self, margin_seconds: float) -> bool:
        return self.lease > margin_seconds

    async def still_owns(self, stored: StoredRun) -> bool:
        self._reach()
        there = self.store.stored[stored.run.id]
        return self.mine and there.fence == stored.fence

    async def due(self) -> tuple[str, ...]:
        self._reach()
        return tuple(self.ready)

    def _reach(self) -> None:
        if self.trouble is not None:
            raise self.trouble


@dataclass
class MemoryFleet:
    """The brake and the count of failures."""

    brake: Brake | None = None
    members: list[str] = field(default_factory=list)
    trouble: GpuMigrateError | None = None

    async def get_brake(self) -> Brake | None:
        if self.trouble is not None:
            raise self.trouble
        return self.brake

    async def set_brake(self, by: str, reason: str) -> None:
        self.brake = self.brake or Brake(by, reason, datetime.min)  # noqa: DTZ901 (never compared)

    async def failed(self, member: str, at: datetime, window: timedelta) -> tuple[str, ...]:  # noqa: ARG002
        if self.trouble is not None:
            raise self.trouble
        if member not in self.members:
            self.members.append(member)
        return tuple(self.members)
