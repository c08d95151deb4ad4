"""Between our values and what stands in Redis: the stored schema, the log entry of a transition.

Nothing is sent here.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from state.codec import Unreadable, decode, encode
from state.journal import Change, StoredRun
from state.run import Run
from state.store.audit import SCHEMA as LOG_SCHEMA
from state.store.audit import digest_of, entry_of

SCHEMA = 1  # raised when older code must no longer touch a stored run; added fields with defaults do not need it


@dataclass(frozen=True, slots=True)
class Line:
    """A log entry and its hash."""

    entry: str
    digest: str


def read_run(text: str, schema: str) -> Run:
    """Raises Unreadable when a newer version of this product wrote it."""
    if not schema.isdigit() or int(schema) > SCHEMA:
        raise Unreadable(f"schema {schema}, this version knows {SCHEMA}")
    return decode(Run, text)


def write_run(run: Run) -> str:
    return encode(run)


def stored_run(version: str, fence: str, text: str, schema: str) -> StoredRun:
    return StoredRun(read_run(text, schema), int(version), int(fence))


def first_line(run: Run, event_id: str, replica: str) -> Line:
    """How a run's log begins: who asked for what."""
    log = {
        "event": "Created",
        "actor": run.requested_by,
        "cluster": run.cluster,
        "goal": run.goal.value,
        "phase": run.phase.value,
        "channel": run.channel,
        "event_id": event_id,
    }
    place = {"version": 0, "before": "", "op": f"create {event_id}", "replica": replica, "schema": LOG_SCHEMA}
    return _line(log, place)


def next_line(change: Change, before: str, replica: str) -> Line:
    """What a transition adds to the log. `before`: hash of the entry that it follows."""
    place = {
        "version": change.stored.version + 1,
        "fence": change.stored.fence,
        "before": before,
        "op": change.op,
        "replica": replica,
        "schema": LOG_SCHEMA,
    }
    return _line(change.log, place)


def op_token(op: str, text: str) -> str:
    """An operation as the journal remembers it: its id and what it stored.

    An id alone would let a late write pass for another one that was made under the same id, say after a restart.
    """
    return f"{op} {hashlib.sha256(text.encode()).hexdigest()[:16]}"


def open_op(run: Run) -> str:
    """Op of the open intent, "" when none is open."""
    return run.intent.op if run.intent else ""


def opens_intent(change: Change) -> bool:
    """Whether a call to the outside may follow this transition."""
    return open_op(change.run) not in ("", open_op(change.stored.run))


def delay_ms(wake_at: datetime | None) -> str:
    """From now until an alarm, so that Redis counts it by its own clock; "" = none."""
    if wake_at is None:
        return ""
    return str(max(0, (wake_at - datetime.now(UTC)) // timedelta(milliseconds=1)))


def _line(log: Mapping[str, object], place: Mapping[str, object]) -> Line:
    written = {"written_at": datetime.now(UTC).isoformat()}
    entry = entry_of(log, {**place, **written})
    return Line(entry, digest_of(entry))
