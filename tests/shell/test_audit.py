"""The audit: made of the log of a run that was really kept, read by people and by programs."""

import json
from dataclasses import replace

import pytest

from bot.audit import audit_json, audit_report
from bot.story import told
from state.effects import GiveOrder
from state.events import Approved, Began, Event, Observed, Ordered, OutcomeKind, Person, TurnedAway
from state.journal import StoredRun
from state.machine import transition
from state.reasons import Code, reason
from state.run import Run
from state.store.audit import FleetLog, digest_of, entry_of, row_of
from tests.builders import START, one_worker, run
from tests.core.model import APPROVER, Model

STRANGER = Person("U0ONLOOKER1", channel="C1")


class Book:
    """The log of a run, as the keeper and the store write it."""

    def __init__(self) -> None:
        self.run = run(cluster="gpu|single")
        self.rows: list[dict[str, object]] = []
        self.write({"event": "Created", "actor": self.run.requested_by, "goal": "migrate", "at": START.isoformat()})

    @property
    def stored(self) -> StoredRun:
        return StoredRun(self.run, len(self.rows) - 1, 1)

    def write(self, log: dict[str, object]) -> None:
        before = self.rows[-1]["hash"] if self.rows else ""
        entry = entry_of(log, {"version": len(self.rows), "before": before, "op": f"op-{len(self.rows)}"})
        self.rows.append(dict(row_of({"entry": entry, "hash": digest_of(entry), "at": "1796137406885"})))

    def send(self, event: Event) -> None:
        step = transition(self.run, event)
        self.write(told(event, self.run, step))
        self.run = step.run


@pytest.fixture(scope="module")
def book() -> Book:
    """A stranger's click, the plan approved, a second click, two orders of which one was lost and found by looking."""
    kept, model = Book(), Model(one_worker())
    kept.send(Began(START, "b"))
    kept.send(Observed(START, model.snapshot))
    card = kept.run.approvals[0]
    refusal = reason(Code.NOT_APPROVER, user=STRANGER.user)
    kept.send(TurnedAway(START, "t0", STRANGER, "gm:approve", refusal, card.id, card.revision))
    kept.send(Approved(START, "t1", APPROVER, card.id, card.revision))
    kept.send(Approved(START, "t2", Person("U0OPERATOR1"), card.id, card.revision))
    for kind in (OutcomeKind.ACCEPTED, OutcomeKind.UNKNOWN):
        kept.send(Observed(model.snapshot.at, model.snapshot))
        intent = kept.run.intent
        assert intent is not None
        model.order(GiveOrder(intent).intent.order)
        kept.send(Ordered(model.snapshot.at, intent.op, kind))
        model.tick()
        kept.send(Observed(model.snapshot.at, model.snapshot))
    return kept


def content(book: Book, *, rows: int | None = None) -> dict[str, object]:
    found: dict[str, object] = json.loads(audit_json(book.rows[:rows], book.stored, FleetLog()))
    return found


def test_given_clicks_when_audited_then_each_has_an_entry_with_person_card_and_result(book: Book) -> None:
    people = content(book)["people"]

    assert isinstance(people, list)
    clicks = [(p["who"], p["what"], p["card"], p["about"], p["result"].split("[")[0]) for p in people[1:]]
    card = f"{book.run.approvals[0].id}#1"
    assert clicks == [
        ("U0ONLOOKER1", "gm:approve", card, "plan", "refused: not-approver"),
        ("U0APPROVER1", "Approved", card, "plan", "accepted"),
        ("U0OPERATOR1", "Approved", card, "plan", "already-decided"),
    ]


def test_given_orders_when_audited_then_each_has_its_attempt_and_outcome(book: Book) -> None:
    orders = content(book)["orders"]

    assert isinstance(orders, list)
    assert [(o["order"].split("(")[0], o["attempt"], o["outcome"]) for o in orders] == [
        ("LabelNode", 1, "accepted"),
        ("InstallChart", 1, "unknown → adopted"),
    ]


def test_given_the_whole_log_when_read_then_the_chain_is_whole_and_tables_cannot_be_broken(book: Book) -> None:
    text = audit_report(book.rows, book.stored, FleetLog())

    assert f"Whole: rows 0 to {len(book.rows) - 1}" in text
    assert "gpu\\|single" in text
    columns = {line.replace("\\|", "").count("|") for line in text.splitlines() if line.startswith("| ")}
    assert columns == {4, 8}


def test_given_a_changed_row_when_read_then_the_first_broken_link_is_named(book: Book) -> None:
    changed = [dict(row) for row in book.rows]
    changed[4]["actor"] = "U0SOMEBODY1"

    assert "BROKEN at row 4" in audit_report(changed, book.stored, FleetLog())


def test_given_missing_rows_when_read_then_it_is_said(book: Book) -> None:
    assert "INCOMPLETE: 2 rows" in audit_report(book.rows[:-2], book.stored, FleetLog())
    assert "Begins at row 3" in audit_report(book.rows[3:], book.stored, FleetLog())
    assert "INCOMPLETE" in audit_report([], book.stored, FleetLog())
    assert content(book)["phase"] == "active"


def test_given_odd_rows_when_read_then_they_are_shown_and_nothing_breaks() -> None:
    odd: list[dict[str, object]] = [{}, {"version": "x", "actor": 7, "steps": 3}, {"intent": ["a"], "attempt": "b"}]
    stored = StoredRun(replace(run(), ended_at=START), 3, 1)

    assert "BROKEN" in audit_report(odd, stored, FleetLog())
    assert json.loads(audit_json(odd, stored, FleetLog()))["chain"]["whole"] is False


def test_given_a_run_when_read_by_programs_then_rows_are_there_to_check_elsewhere(book: Book) -> None:
    found = content(book)

    assert isinstance(found["log"], list)
    assert len(found["log"]) == len(book.rows)
    assert isinstance(book.run, Run)
