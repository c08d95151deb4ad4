"""The audit of a run, made of hash-chained logs alone: who asked, who decided what on which card, every order, the brake.

Pure. Nothing is left out and nothing is put into kinder words: people are user ids, answers are codes with their facts.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from bot.fleet_audit import Brakes, brakes_of, verdict
from state.journal import StoredRun
from state.run import Run
from state.store.audit import FleetLog, verify_chain

Row = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Said:
    """Something a person did. `card`: approval and revision of the button. `result`: accepted, or what they were told."""

    version: int
    at: str
    who: str
    what: str
    card: str
    about: str
    result: str


@dataclass(frozen=True, slots=True)
class Called:
    """One intent. `outcome` "" while it is open. `versions`: rows of the log, first to last."""

    op: str
    order: str
    attempt: int
    at: str
    outcome: str
    reason: str
    versions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Chain:
    """Whether the log is what was written: `broken` are versions that do not follow, `missing` how many are lost."""

    first: int
    last: int
    broken: tuple[int, ...]
    missing: int

    @property
    def whole(self) -> bool:
        return not self.broken and not self.missing and self.first == 0


def audit_report(rows: Sequence[Row], stored: StoredRun, fleet: FleetLog) -> str:
    """The audit as Markdown."""
    run = stored.run
    lines = [
        f"# Audit of run {run.id}",
        "",
        *_head(run),
        "",
        "## Chain",
        "",
        _verdict(_chain(rows, stored.version)),
        "",
    ]
    people = [(s.version, s.at, s.who, s.what, s.card, s.about, s.result) for s in _people(rows)]
    lines += ["## People", "", *_table(("row", "time (UTC)", "who", "what", "card", "about", "result"), people), ""]
    calls = [
        (", ".join(str(v) for v in c.versions), c.at, c.op, c.attempt, c.order, c.outcome or "open", c.reason)
        for c in _calls(rows)
    ]
    lines += [
        "## Orders",
        "",
        *_table(("rows", "time (UTC)", "call", "attempt", "order", "outcome", "reason"), calls),
        "",
    ]
    steps = [(_version(row), _time(row), line) for row in rows for line in _texts(row.get("steps"))]
    lines += ["## Steps", "", *_table(("row", "time (UTC)", "step"), steps), ""]
    lines += ["## Brake of the whole fleet", "", *_brakes(brakes_of(run, fleet)), ""]
    return "\n".join(lines)


def audit_json(rows: Sequence[Row], stored: StoredRun, fleet: FleetLog) -> str:
    """The same for programs, with the rows themselves, so that the chain can be checked elsewhere."""
    run = stored.run
    chain, brakes = _chain(rows, stored.version), brakes_of(run, fleet)
    content = {
        "run": run.id,
        "cluster": run.cluster,
        "cluster_id": run.cluster_id,
        "goal": run.goal.value,
        "phase": run.phase.value,
        "requested_by": run.requested_by,
        "created_at": run.created_at.isoformat(),
        "ended_at": run.ended_at.isoformat() if run.ended_at else None,
        "chain": {**asdict(chain), "whole": chain.whole},
        "people": [asdict(said) for said in _people(rows)],
        "orders": [asdict(called) for called in _calls(rows)],
        "log": [dict(row) for row in rows],
        "brakes": {**asdict(brakes), "whole": brakes.whole},
        "fleet_log": [dict(row) for row in fleet.rows],
    }
    return json.dumps(content, indent=1, ensure_ascii=False, default=str)


def _brakes(brakes: Brakes) -> tuple[str, ...]:
    rows = [(_version(r), _time(r), _text(r, "event"), _text(r, "by"), _text(r, "reason")) for r in brakes.rows]
    table = _table(("entry", "time (UTC)", "what", "who", "why"), rows)
    return (verdict(brakes), "", *table)


def _head(run: Run) -> tuple[str, ...]:
    ended = run.ended_at.isoformat() if run.ended_at else "not yet"
    return (
        f"- cluster: {_cell(run.cluster)} ({run.cluster_id or 'id not known'})",
        f"- asked for: {run.goal.value}, by {run.requested_by}, in {run.channel}, at {run.created_at.isoformat()}",
        f"- phase: {run.phase.value}; ended: {ended}",
    )


def _chain(rows: Sequence[Row], version: int) -> Chain:
    """`version`: the run's own, which is the newest row's unless rows were cut off at the end."""
    if not rows:
        return Chain(-1, -1, (), version + 1)
    last = _version(rows[-1])
    return Chain(_version(rows[0]), last, verify_chain(rows), max(0, version - last))


def _verdict(chain: Chain) -> str:
    if chain.whole:
        return f"Whole: rows 0 to {chain.last} follow one another, each with the hash of the one before."
    found = []
    if chain.broken:
        found.append(f"BROKEN at row {chain.broken[0]}: it was changed, or does not follow the row before it.")
    if chain.first > 0:
        found.append(f"Begins at row {chain.first}: older rows are not here.")
    if chain.missing:
        found.append(f"INCOMPLETE: {chain.missing} rows are missing at the end.")
    return " ".join(found)


def _people(rows: Iterable[Row]) -> tuple[Said, ...]:
    return tuple(_said(row) for row in rows if row.get("actor"))


def _said(row: Row) -> Said:
    refused = row.get("event") == "TurnedAway"
    told = _text(row, "reason") if refused else _text(row, "answer")
    card = f"{_text(row, 'approval')}#{_text(row, 'revision')}" if row.get("approval") else ""
    what = _text(row, "wanted") if refused else _text(row, "event")
    about = _text(row, "question") or _text(row, "goal")
    result = f"refused: {told}" if refused else told or "accepted"
    return Said(_version(row), _time(row), _text(row, "actor"), what, card, about, result)


def _calls(rows: Iterable[Row]) -> tuple[Called, ...]:
    """Intents in the order in which they were opened, each with what became of it."""
    found: dict[str, Called] = {}
    for row in rows:
        call = found.get(_text(row, "call"))
        if call is not None and row.get("kind"):
            found[call.op] = Called(
                call.op, call.order, call.attempt, call.at,
                " → ".join(filter(None, (call.outcome, _text(row, "kind")))),
                _text(row, "reason") or call.reason,
                (*call.versions, _version(row)),
            )  # fmt: skip
        opened = _text(row, "intent")
        if opened:
            attempt = row.get("attempt")
            number = attempt if isinstance(attempt, int) else 1
            found[opened] = Called(opened, _text(row, "intends"), number, _time(row), "", "", (_version(row),))
    return tuple(found.values())


def _table(head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> tuple[str, ...]:
    lines = tuple(f"| {' | '.join(_cell(str(cell)) for cell in row)} |" for row in rows)
    if not lines:
        return ("None.",)
    return (f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *lines)


def _cell(text: str) -> str:
    """Text that cannot leave its cell."""
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def _time(row: Row) -> str:
    return _text(row, "at")


def _text(row: Row, name: str) -> str:
    return str(row.get(name) or "")


def _texts(value: object) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list | tuple) else ()


def _version(row: Row) -> int:
    version = row.get("version")
    return version if isinstance(version, int) else -1
