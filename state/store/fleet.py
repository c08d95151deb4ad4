"""What concerns all runs at once: the brake, the bell, retention. Nothing about a single run's life."""

import time
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from state import keys
from state.journal import Brake
from state.store.audit import SCHEMA as LOG_SCHEMA
from state.store.audit import FleetLog, digest_of, entry_of, row_of
from state.store.link import READ_SECONDS, Link

_SWEEP_AT_ONCE = 100
_ROWS_AT_ONCE = 500


class RedisFleet:
    """Brake, bell and retention on Redis.

    `retention`: how long ended runs stay readable. `me`: the owner that we are, "" for who only reads.
    """

    def __init__(self, link: Link, retention: timedelta, me: str = "") -> None:
        self._link = link
        self._retention = retention
        self._me = me
        self._heard = "$"

    async def get_brake(self) -> Brake | None:
        """The brake, if somebody set it."""
        found = await self._link.read(lambda client: client.hgetall(keys.BRAKE), READ_SECONDS)
        if "by" not in found:
            return None
        return Brake(found["by"], found["reason"], datetime.fromisoformat(found["at"]))

    async def set_brake(self, by: str, reason: str) -> None:
        """Stop every run of the fleet; a brake that is set already keeps its first reason."""
        await self._move_brake(by, reason, datetime.now(UTC).isoformat(timespec="microseconds"))

    async def lift_brake(self, by: str = "") -> None:
        """Let the fleet go on."""
        await self._move_brake(by, "", "")

    async def failed(self, member: str, at: datetime, window: timedelta) -> tuple[str, ...]:
        """Note a failure, once per member; all members of the last `window`, since the brake was last lifted."""
        when, span = int(at.timestamp() * 1000), window // timedelta(milliseconds=1)
        return tuple(await self._link.call("failure", (keys.FAILURES, keys.BRAKE), member, when, span))

    async def fleet_log(self) -> tuple[Mapping[str, object], ...]:
        """Brakes set and lifted, oldest first: event, by, reason, at (Redis time), and what the chain is made of."""
        return (await self.whole_log()).rows

    async def whole_log(self) -> FleetLog:
        """The same with what is needed to check it."""
        newest = await self._link.read(lambda client: client.hget(keys.BRAKE, "version"))
        rows: list[Mapping[str, object]] = []
        start: str | None = "-"
        while start is not None:
            part = await self._link.read(partial(_forwards, start=start))
            rows += [_row(entry_id, fields) for entry_id, fields in part]
            start = f"({part[-1][0]}" if len(part) == _ROWS_AT_ONCE else None
        return FleetLog(tuple(rows), -1 if newest is None else int(newest))

    async def listen(self, seconds: float) -> tuple[str, ...]:
        """Wait up to `seconds` for somebody to speak to a run, or to leave one to us; ids of those runs.

        A hint only: `due` is the truth.
        """
        found = await self._link.watch(partial(_hear, after=self._heard, block_ms=max(1, int(seconds * 1000))), seconds)
        rings = [ring for _, entries in _streams(found) for ring in entries]
        if rings:
            self._heard = rings[-1][0]
        return tuple(dict.fromkeys(fields["run"] for _, fields in rings if self._concerns_us(fields)))

    async def sweep(self) -> int:
        """Delete runs that ended longer ago than the retention; how many. A chore of the leader; may be repeated."""
        cutoff = datetime.now(UTC) - self._retention
        old = await self._link.read(
            lambda client: client.zrangebyscore(
                keys.ENDED, "-inf", int(cutoff.timestamp() * 1000), start=0, num=_SWEEP_AT_ONCE
            )
        )
        return sum([await self._forget(run_id) for run_id in old])

    async def ping(self) -> float:
        """Seconds that one round trip takes."""
        sent = time.monotonic()
        await self._link.read(lambda client: client.ping())
        return time.monotonic() - sent

    async def _move_brake(self, by: str, why: str, at: str) -> None:
        op, version, chain = uuid.uuid4().hex, -1, ""
        log = {"event": "brake-set" if at else "brake-lifted", "by": by, "reason": why}
        while True:  # each turn but the last means that somebody else moved it in between
            place = {"version": version + 1, "before": chain, "op": op, "replica": self._me, "schema": LOG_SCHEMA}
            entry = entry_of(log, {**place, "written_at": datetime.now(UTC).isoformat()})
            told = (op, by, why, at, chain, version + 1, entry, digest_of(entry))
            answer = await self._link.call("brake", (keys.BRAKE, keys.FLEET_LOG), *told)
            if answer[0] != "CHAIN":
                return
            version, chain = int(answer[1]), str(answer[2])

    def _concerns_us(self, ring: Mapping[str, str]) -> bool:
        return ring.get("to", "") in ("", self._me) and (not self._me or ring.get("from") != self._me)

    async def _forget(self, run_id: str) -> bool:
        of_run = (keys.run, keys.log, keys.inbox, keys.seen, keys.messages)
        touched = (keys.ENDED, keys.RUNS, keys.DUE, keys.OWNERS, keys.ACTIVE, *(name(run_id) for name in of_run))
        answer = await self._link.call("forget", touched, run_id, self._retention // timedelta(milliseconds=1))
        return bool(answer[0] == "OK")


async def _hear(client: Any, after: str, block_ms: int) -> Any:
    return await client.xread({keys.BELL: after}, count=1000, block=block_ms)


async def _forwards(client: Any, start: str) -> Any:
    return await client.xrange(keys.FLEET_LOG, start, "+", count=_ROWS_AT_ONCE)


def _row(entry_id: str, fields: Mapping[str, str]) -> Mapping[str, object]:
    """An entry as readers get it; those of older versions are fields, without a chain."""
    return row_of(fields) if "entry" in fields else {"at": _time_of(entry_id), **fields}


def _streams(found: Any) -> list[tuple[str, list[tuple[str, Mapping[str, str]]]]]:
    """XREAD's answer in either of its shapes: pairs, or (RESP3) a mapping whose values are wrapped once more."""
    if isinstance(found, Mapping):
        return [(key, entries[0]) for key, entries in found.items() if entries]
    return list(found or ())


def _time_of(entry_id: str) -> str:
    return datetime.fromtimestamp(int(entry_id.partition("-")[0]) / 1000, UTC).isoformat()
