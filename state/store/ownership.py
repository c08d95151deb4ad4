"""Who works on which run: one lease per replica, one fence per run.

A replica is a configured name and the epoch of the process that bears it now. While its lease holds, its runs are its
own; a run's fence rises with each new owner, and the journal refuses a transition under an older one. Our own clock is
monotonic and starts before a renewal is sent, so that we give up before anybody else believes we did.
Which runs need an owner is told here; what is done with them is not.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

from state import keys
from state.codec import Unreadable
from state.errors import RunConflict, TransientError
from state.journal import StoredRun
from state.reasons import Code, Reason, reason
from state.store.alarms import Alarms
from state.store.form import SCHEMA, stored_run
from state.store.link import Link
from state.store.memory import Memory, Seen
from state.store.share import Backlog, Share

LEASE_SECONDS = 12.0
RENEW_SECONDS = 3.0
LOOK_SECONDS = 2.0
UNREADABLE_SECONDS = 60.0
_NAME_REMEMBERED_MS = 24 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class Replica:
    """Our process as the others see it."""

    name: str
    epoch: str

    @property
    def owner(self) -> str:
        """As the store writes it beside a run."""
        return f"{self.epoch} {self.name}"


class RedisOwnership:
    """Ownership on Redis. Made by `register`."""

    def __init__(self, link: Link, memory: Memory, replica: Replica, held_until: float) -> None:
        self._link = link
        self._memory = memory
        self._replica = replica
        self._held_until = held_until
        self._superseded = False
        self._share = Share()
        self._alarms = Alarms()
        self._heir = ""
        self._unreadable: dict[str, float] = {}
        self.trouble: Reason | None = None

    @property
    def replica(self) -> Replica:
        return self._replica

    async def keep(self) -> None:
        """Renew the lease until cancelled. Raises RunConflict(REPLICA_SUPERSEDED) when another process took our name.

        A store that cannot be reached is asked again; meanwhile `holds` runs out by itself and `trouble` says why.
        """
        while True:
            pause = RENEW_SECONDS
            try:
                await self.renew()
                self.trouble = None
            except TransientError as exc:
                self.trouble = exc.reason
                pause = RENEW_SECONDS / 6
            await asyncio.sleep(pause)

    async def renew(self) -> None:
        """Extend the lease once. Raises TransientError, RunConflict(REPLICA_SUPERSEDED)."""
        sent = time.monotonic()
        answer = await self._link.call(
            "renew", (keys.REPLICAS, keys.EPOCHS), *self._me(), _ms(LEASE_SECONDS), within=LOOK_SECONDS
        )
        self._extend(sent, answer)

    def holds(self, margin_seconds: float) -> bool:
        """Whether the lease lasts at least that long."""
        return not self._superseded and time.monotonic() + margin_seconds < self._held_until

    async def take(self, run_id: str) -> StoredRun | None:
        """Become or stay the owner; None when there is no such run, or another replica that is alive owns it.

        Raises Unreadable for a run of a newer version (and leaves it to others), TransientError(STORE_REWOUND).
        """
        before = self._memory.get(run_id)
        answer = await self._try_to_take(run_id, before)
        if answer[0] == "LAPSED":
            await self.renew()
            answer = await self._try_to_take(run_id, before)
        match answer[0]:
            case "OK":
                return await self._take_in(run_id, before, answer)
            case "NEWER":
                await self.pass_by(run_id)
                raise Unreadable(f"schema {answer[1]}, this version knows {SCHEMA}")
            case "NONE":
                self._memory.check(run_id, before, -1)
        return None

    async def release(self, run_id: str, heir: str = "") -> None:
        """Let others have this run at once; `heir`: the one that it is left to."""
        touched = (keys.OWNERS, keys.ACTIVE, keys.BELL)
        await self._link.call("release", touched, run_id, *self._me(), heir)
        if heir:
            self._share.offered(run_id, heir, time.monotonic())

    async def pass_by(self, run_id: str) -> None:
        """Leave a run that this version cannot read to a newer one, and don't ask for it for a while."""
        now = time.monotonic()
        self._unreadable = {one: until for one, until in self._unreadable.items() if until > now}
        self._unreadable[run_id] = now + UNREADABLE_SECONDS
        await self.release(run_id)

    async def resign(self) -> None:
        """Let others have everything at once; this replica holds nothing from now on."""
        self._superseded = True
        await self._link.call("resign", (keys.REPLICAS, keys.EPOCHS, keys.LEADER), *self._me(), within=LOOK_SECONDS)

    async def still_owns(self, stored: StoredRun) -> bool:
        """Renew the lease and compare the fence. Raises TransientError when the store does not answer: then no."""
        sent = time.monotonic()
        touched = (keys.REPLICAS, keys.EPOCHS, keys.OWNERS, keys.run(stored.run.id))
        answer = await self._link.call(
            "look", touched, *self._me(), _ms(LEASE_SECONDS), stored.run.id, within=LOOK_SECONDS
        )
        if answer[0] != "OK" or self._superseded:
            self._superseded = True
            return False
        self._extend(sent, answer)
        version, fence, owner = answer[1:4]
        if version == "" or int(version) < stored.version:
            return False  # the journal lost what we decided on; the next load says so
        return bool(int(fence) == stored.fence and owner == self._replica.owner)

    async def due(self) -> tuple[str, ...]:
        """Our runs with an inbox entry, or with a passed alarm (told once); then what we may take.

        That is all that our predecessor had, and ownerless runs up to our share.
        """
        touched = (keys.ACTIVE, keys.DUE, keys.OWNERS, keys.REPLICAS, keys.EPOCHS)
        mine, active, others, due, *lists = await self._link.call("due", touched, *self._me(), within=LOOK_SECONDS)
        now = time.monotonic()
        loads = tuple((str(owner), int(load)) for owner, load in others)
        news = self._alarms.news(((str(run_id), str(moment)) for run_id, moment in due), now)
        backlog = Backlog(int(mine), int(active), loads, *(self._readable(each) for each in (news, *lists)))
        self._heir = self._share.heir(backlog, now)
        return self._share.pick(backlog, now)

    def heir(self) -> str:
        """Whom one of our runs shall be left to, as the last `due` found; "" while shares are even."""
        return self._heir

    async def lead(self) -> bool:
        """Whether the fleet's chores are ours now: whoever asks first leads, until its lease is gone."""
        answer = await self._link.call(
            "lead", (keys.LEADER, keys.REPLICAS, keys.EPOCHS), *self._me(), within=LOOK_SECONDS
        )
        return bool(answer[0] == "OK")

    async def _try_to_take(self, run_id: str, before: Seen) -> Sequence[str]:
        touched = (keys.run(run_id), keys.OWNERS, keys.REPLICAS, keys.EPOCHS)
        return await self._link.call("take", touched, run_id, *self._me(), before.fence, SCHEMA)

    async def _take_in(self, run_id: str, before: Seen, answer: Sequence[str]) -> StoredRun:
        version, fence, text, schema, chain = answer[1:6]
        self._memory.check(run_id, before, int(version), chain)
        try:
            stored = stored_run(version, fence, text, schema)
        except Unreadable:
            await self.pass_by(run_id)
            raise
        self._memory.note(run_id, int(version), int(fence), chain)
        return stored

    def _extend(self, sent: float, answer: Sequence[str]) -> None:
        if answer[0] == "SUPERSEDED" or self._superseded:
            self._superseded = True
            raise RunConflict(
                reason(
                    Code.REPLICA_SUPERSEDED,
                    replica=self._replica.name,
                    epoch=self._replica.epoch,
                    found=str(answer[1]),
                )
            )
        self._held_until = max(self._held_until, sent + LEASE_SECONDS)

    def _readable(self, run_ids: Sequence[str]) -> tuple[str, ...]:
        now = time.monotonic()
        return tuple(run_id for run_id in run_ids if self._unreadable.get(run_id, 0) < now)

    def _me(self) -> tuple[str, str]:
        return (self._replica.name, self._replica.epoch)


async def register(link: Link, memory: Memory, name: str) -> RedisOwnership:
    """Take the name for this process: its predecessor's runs are free from now on."""
    sent = time.monotonic()
    answer = await link.call(
        "register", (keys.REPLICAS, keys.EPOCHS, keys.EPOCH), name, _ms(LEASE_SECONDS), _NAME_REMEMBERED_MS
    )
    return RedisOwnership(link, memory, Replica(name, str(answer[1])), sent + LEASE_SECONDS)


def _ms(seconds: float) -> int:
    return int(seconds * 1000)
