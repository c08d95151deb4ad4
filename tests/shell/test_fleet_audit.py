"""The brake in a run's audit: what concerns the run, and whether the fleet's log is whole."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.audit import audit_json, audit_report
from bot.fleet_audit import brakes_of, verdict
from state.journal import StoredRun
from state.store.audit import FleetLog, digest_of, entry_of, row_of
from tests.builders import START, run

HOUR = timedelta(hours=1)
RUN = replace(run(), ended_at=START + 5 * HOUR)


def entries(*events: tuple[str, float]) -> FleetLog:
    """A chained log: event and hours after the run's beginning."""
    rows: list[dict[str, object]] = []
    for number, (event, hours) in enumerate(events):
        before = rows[-1]["hash"] if rows else ""
        log = {"event": event, "by": f"U{number}", "reason": "smoke | fire"}
        entry = entry_of(log, {"version": number, "before": before, "op": f"op-{number}"})
        at = str(int((RUN.created_at + hours * HOUR).timestamp() * 1000))
        rows.append(dict(row_of({"entry": entry, "hash": digest_of(entry), "at": at})))
    return FleetLog(tuple(rows), len(rows) - 1)


ALL = entries(
    ("brake-set", -9),
    ("brake-lifted", -8),
    ("brake-set", 1),
    ("brake-lifted", 2),
    ("brake-set", 5.5),
    ("brake-lifted", 6),
)


def test_given_brakes_around_a_run_when_audited_then_those_of_its_time_and_the_last_one_before() -> None:
    brakes = brakes_of(RUN, ALL)

    assert [row["version"] for row in brakes.rows] == [1, 2, 3]
    assert brakes.whole
    assert verdict(brakes) == "Whole: entries 0 to 5 of the fleet's log follow one another."


def test_given_a_run_that_goes_on_when_audited_then_everything_since_its_beginning() -> None:
    assert [row["version"] for row in brakes_of(replace(RUN, ended_at=None), ALL).rows] == [1, 2, 3, 4, 5]


def test_given_a_report_when_read_then_the_brake_stands_in_it_for_people_and_programs() -> None:
    stored = StoredRun(RUN, 0, 1)
    text, content = audit_report([], stored, ALL), json.loads(audit_json([], stored, ALL))

    assert "## Brake of the whole fleet" in text
    assert "| brake-set | U2 | smoke \\| fire |" in text
    assert "U4" not in text
    assert content["brakes"]["whole"] is True
    assert [row["by"] for row in content["brakes"]["rows"]] == ["U1", "U2", "U3"]
    assert len(content["fleet_log"]) == 6


def changed(place: int, **fields: object) -> FleetLog:
    rows = [dict(row) for row in ALL.rows]
    rows[place] |= fields
    return FleetLog(tuple(rows), ALL.newest)


@pytest.mark.parametrize(
    ("log", "wanted"),
    [
        pytest.param(FleetLog(), "The fleet's log is empty.", id="nothing"),
        pytest.param(changed(4, by="U0NOBODY1"), "BROKEN at entry 4", id="changed, after the run"),
        pytest.param(FleetLog((*ALL.rows[:2], *ALL.rows[3:]), 5), "BROKEN at entry 3", id="taken out"),
        pytest.param(FleetLog(ALL.rows[:-2], 5), "INCOMPLETE: 2 entries", id="cut at the end"),
        pytest.param(FleetLog(ALL.rows[2:], 5), "Whole: entries 2 to 5", id="cut by retention"),
        pytest.param(FleetLog((), 5), "INCOMPLETE: 6 entries", id="emptied"),
        pytest.param(FleetLog(({"event": "brake-set"}, *ALL.rows), 5), "1 older entries carry no hash", id="old ones"),
        pytest.param(FleetLog((*ALL.rows, {"event": "brake-set"}), 5), "BROKEN at entry -1", id="one put in"),
        pytest.param(FleetLog(({"at": "x", "by": 7},), -1), "1 older entries carry no hash", id="odd"),
    ],
)
def test_given_a_log_when_checked_then_it_is_said_what_is_wrong(log: FleetLog, wanted: str) -> None:
    assert wanted in verdict(brakes_of(RUN, log))
    assert wanted in audit_report([], StoredRun(RUN, 0, 1), log)
