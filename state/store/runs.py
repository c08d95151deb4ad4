"""The journal: runs, their logs, inboxes and messages. Every write is one script that may be sent twice.

Who owns a run is `ownership`'s matter; here only the fence is compared.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from state import keys
from state.codec import Unreadable, decode, decode_any, encode
from state.errors import PermanentError, RunConflict
from state.events import HumanEvent
from state.journal import Change, InboxEntry, MessageRecord, StoredRun
from state.reasons import Code, reason
from state.run import Run
from state.store.audit import row_of
from state.store.durability import Replicas
from state.store.form import (
    SCHEMA,
    delay_ms,
    first_line,
    next_line,
    op_token,
    open_op,
    opens_intent,
    stored_run,
    write_run,
)
from state.store.link import Barrier, Link
from state.store.memory import Memory, Seen

SUBMIT_SECONDS = 2.0
_EVENTS_REMEMBERED = 512
_START_REMEMBERED_MS = 30 * 24 * 3600 * 1000
_CHUNK = 100  # replies stay small: the socket's timeout spans a whole one (redis-py issue 3454)
_HEAD = ("version", "fence", "run", "schema", "chain")


class RedisRuns:
    """RunStore on Redis."""

    def __init__(self, link: Link, memory: Memory, replica: str, wait_replicas: int | None = None) -> None:
        self._link = link
        self._memory = memory
        self._replica = replica
        self._replicas = Replicas(link, wait_replicas)

    async def create(self, run: Run, event_id: str) -> str | None:
        """Create a run unless its cluster has one; then that one's id. The same event creates once."""
        line = first_line(run, event_id, self._replica)
        touched = (
            keys.run(run.id), keys.log(run.id), keys.start(event_id),
            keys.ACTIVE, keys.RUNS, keys.DUE, keys.CLUSTERS, keys.BELL,
        )  # fmt: skip
        head = (run.id, run.cluster, event_id, write_run(run), SCHEMA, run.phase.value)
        answer = await self._link.call(
            "create", touched, *head, _START_REMEMBERED_MS, line.entry, line.digest, within=SUBMIT_SECONDS
        )
        match answer[0]:
            case "OK" | "AGAIN":
                return None
            case "EXISTS":
                return str(answer[1])
        raise PermanentError(reason(Code.STORE_REFUSED, detail=f"run id {run.id} is taken"))

    async def claim_cluster(self, stored: StoredRun, cluster_id: str) -> str | None:
        """Bind the IKS id; None when it is ours. Raises RunConflict when the run has another owner by now."""
        run_id = stored.run.id
        answer = await self._link.call(
            "claim", (keys.run(run_id), keys.CLUSTERS, keys.ACTIVE), run_id, cluster_id, stored.fence
        )
        if answer[0] in ("NONE", "FENCED"):
            raise _overtaken(run_id, "fence", stored.fence, answer[1])
        return str(answer[1]) if answer[0] == "EXISTS" else None

    async def load(self, run_id: str) -> StoredRun | None:
        """Read a run; None when there is none. TransientError(STORE_REWOUND) when it is older than what we knew."""
        before = self._memory.get(run_id)
        head = await self._link.read(lambda client: client.hmget(keys.run(run_id), _HEAD))
        return self._take_in(run_id, before, head)

    async def apply(self, change: Change) -> StoredRun:
        """Store a transition; with replicas, one that opens an intent is held by them when this returns."""
        run_id = change.run.id
        before = self._memory.get(run_id)
        answer = await self._send(change, before.chain)
        if answer[0] == "CHAIN":  # everything fits, we only did not know what the log ends with
            answer = await self._send(change, str(answer[1]))
        if answer[0] in ("OK", "DUP"):
            version = int(answer[1])
            self._memory.note(run_id, version, change.stored.fence, str(answer[2]))
            return StoredRun(change.run, version, change.stored.fence)
        return self._refuse(change, before, answer)

    async def submit(self, run_id: str, event: HumanEvent) -> bool:
        """Record an event once; False when there is no such run. Raises PermanentError(RUN_ENDED): nothing was kept."""
        touched = (keys.run(run_id), keys.inbox(run_id), keys.seen(run_id), keys.DUE, keys.BELL, keys.ACTIVE)
        answer = await self._link.call(
            "submit", touched, run_id, event.id, encode(event), _EVENTS_REMEMBERED, within=SUBMIT_SECONDS
        )
        if answer[0] == "ENDED":
            raise PermanentError(reason(Code.RUN_ENDED, run=run_id))
        return bool(answer[0] != "NONE")

    async def inbox(self, run_id: str) -> tuple[InboxEntry, ...]:
        """What nobody has taken yet, first come first. Raises Unreadable for an event of a newer version."""
        found = await self._link.read(lambda client: client.xrange(keys.inbox(run_id), count=_CHUNK))
        return tuple(InboxEntry(entry_id, decode_any(HumanEvent, fields["event"])) for entry_id, fields in found)

    async def active(self, cluster: str) -> str | None:
        """The active run of a cluster, by name or id."""
        found = await self._link.read(lambda client: client.hget(keys.CLUSTERS, cluster))
        return None if found is None else str(found)

    async def actives(self) -> tuple[str, ...]:
        found = await self._link.read(lambda client: client.smembers(keys.ACTIVE))
        return tuple(sorted(found))

    async def recent(self, limit: int) -> tuple[StoredRun, ...]:
        """Newest first, ended ones included; runs of a newer version of this product are left out."""
        found = await self._link.read(lambda client: client.zrevrange(keys.RUNS, 0, max(limit, 1) - 1))
        heads = await self.heads(found, _HEAD[:4])
        read = (_readable(head) for head in heads.values() if head[0] is not None)
        return tuple(stored for stored in read if stored is not None)

    async def heads(self, run_ids: Sequence[str], names: Iterable[str]) -> Mapping[str, Sequence[Any]]:
        """Some fields of many runs' hashes, None for each that is missing."""
        wanted = list(names)
        found: dict[str, Sequence[Any]] = {}
        for start in range(0, len(run_ids), _CHUNK):
            part = run_ids[start : start + _CHUNK]
            rows = await self._link.read(partial(_many, run_ids=part, names=wanted))
            found |= dict(zip(part, rows, strict=True))
        return found

    async def log(self, run_id: str, limit: int = 1000) -> tuple[Mapping[str, object], ...]:
        """The newest `limit` rows, oldest first: what Change.log said, with version, at (Redis time), hash, before."""
        rows: list[Mapping[str, object]] = []
        newest = "+"
        while len(rows) < limit:
            count = min(_CHUNK, limit - len(rows))
            part = await self._link.read(partial(_backwards, key=keys.log(run_id), newest=newest, count=count))
            rows += [row_of(fields) for _, fields in part]
            if len(part) < count:
                break
            newest = f"({part[-1][0]}"
        return tuple(reversed(rows))

    async def messages(self, run_id: str) -> Mapping[str, MessageRecord]:
        found = await self._link.read(lambda client: client.hgetall(keys.messages(run_id)))
        return {key: decode(MessageRecord, text) for key, text in found.items()}

    async def put_message(self, run_id: str, key: str, record: MessageRecord) -> None:
        await self._link.call("message", (keys.run(run_id), keys.messages(run_id)), key, encode(record))

    def accept_rewound(self, run_id: str) -> None:
        """Somebody looked at the cluster after STORE_REWOUND: take the journal's word for this run from now on."""
        self._memory.forget(run_id)

    async def _send(self, change: Change, chain: str) -> list[Any]:
        run = change.run
        line = next_line(change, chain, self._replica)
        held_by = await self._replicas.needed() if opens_intent(change) else 0
        barrier = Barrier(held_by) if held_by else None
        touched = (
            keys.run(run.id), keys.log(run.id), keys.inbox(run.id), keys.DUE, keys.ACTIVE, keys.CLUSTERS, keys.ENDED,
        )  # fmt: skip
        text = write_run(run)
        place = (run.id, change.stored.version, change.stored.fence, op_token(change.op, text))
        now = (text, SCHEMA, run.phase.value, "1" if run.phase.ended else "")
        intents = (open_op(run), open_op(change.stored.run))
        rest = (delay_ms(change.wake_at), chain, line.entry, line.digest, "1" if barrier else "", *change.taken)
        return await self._link.call("apply", touched, *place, *now, *intents, *rest, barrier=barrier)

    def _refuse(self, change: Change, before: Seen, answer: Sequence[Any]) -> StoredRun:
        run_id, stored = change.run.id, change.stored
        match answer[0]:
            case "NONE":
                self._memory.check(run_id, before, -1)
                raise _overtaken(run_id, "gone", stored.version, -1)
            case "CONFLICT":
                self._memory.check(run_id, before, int(answer[1]))
                raise _overtaken(run_id, "version", stored.version, answer[1])
            case "FENCED":
                raise _overtaken(run_id, "fence", stored.fence, answer[1])
        raise _overtaken(run_id, str(answer[0]).lower(), change.op, answer[1])

    def _take_in(self, run_id: str, before: Seen, head: Sequence[Any]) -> StoredRun | None:
        version, fence, text, schema, chain = head
        self._memory.check(run_id, before, -1 if version is None else int(version), chain or "")
        if version is None:
            return None
        self._memory.note(run_id, int(version), int(fence), chain)
        return stored_run(version, fence, text, schema)


async def _many(client: Any, run_ids: Sequence[str], names: Sequence[str]) -> list[Sequence[Any]]:
    async with client.pipeline(transaction=False) as pipe:
        for run_id in run_ids:
            pipe.hmget(keys.run(run_id), names)
        found: list[Sequence[Any]] = await pipe.execute()
        return found


async def _backwards(client: Any, key: str, newest: str, count: int) -> Any:
    return await client.xrevrange(key, newest, "-", count=count)


def _readable(head: Sequence[str]) -> StoredRun | None:
    try:
        return stored_run(*head)
    except Unreadable:
        return None


def _overtaken(run_id: str, what: str, known: object, found: object) -> RunConflict:
    return RunConflict(reason(Code.STORE_OVERTAKEN, run=run_id, what=what, known=str(known), found=str(found)))
