"""The chained log: whole, changed, cut, and odd things in it."""

import pytest

from state.store.audit import digest_of, entry_of, row_of, verify_chain


def chain(*logs: dict[str, object]) -> list[dict[str, object]]:
    """Rows as a reader gets them."""
    rows: list[dict[str, object]] = []
    for version, log in enumerate(logs):
        before = rows[-1]["hash"] if rows else ""
        entry = entry_of(log, {"version": version, "before": before, "op": f"op-{version}"})
        rows.append(dict(row_of({"entry": entry, "hash": digest_of(entry), "at": "1796137406885"})))
    return rows


def test_given_untouched_rows_when_verified_then_nothing_is_named() -> None:
    rows = chain({"event": "Created"}, {"event": "Approved", "actor": "U1"}, {"event": "Ordered"})

    assert verify_chain(rows) == ()
    assert verify_chain(rows[1:]) == ()
    assert verify_chain(()) == ()


@pytest.mark.parametrize(
    ("version", "fields", "named"),
    [
        pytest.param(1, {"actor": "U2"}, (1,), id="another actor"),
        pytest.param(1, {"extra": 1}, (1,), id="a field more"),
        pytest.param(2, {"hash": "0" * 64}, (2,), id="another hash"),
        pytest.param(1, {"hash": "0" * 64}, (1, 2), id="another hash in the middle"),
        pytest.param(1, {"version": 7}, (7, 2), id="another number"),
        pytest.param(1, {"version": "1"}, (-1, 2), id="number as text"),
    ],
)
def test_given_a_changed_row_when_verified_then_it_is_named(
    version: int, fields: dict[str, object], named: tuple[int, ...]
) -> None:
    rows = chain({"event": "Created"}, {"event": "Approved", "actor": "U1"}, {"event": "Ordered"})
    rows[version] |= fields

    assert verify_chain(rows) == named


def test_given_a_missing_row_when_verified_then_the_one_after_it_is_named() -> None:
    rows = chain({}, {}, {}, {})

    assert verify_chain([*rows[:1], *rows[2:]]) == (2,)
    assert verify_chain([rows[1], rows[0]]) == (0,)


def test_given_a_log_that_names_what_the_journal_names_when_written_then_the_journal_wins() -> None:
    (row,) = chain({"version": 99, "before": "x", "hash": "y", "at": "12:00", "event": "Created"})

    assert (row["version"], row["before"], row["event_at"]) == (0, "", "12:00")
    assert verify_chain([row]) == ()


def test_given_odd_values_in_a_log_when_written_then_they_are_kept_as_text_and_still_verify() -> None:
    rows = chain({"set": {3}, "by number": {10: "a", 2: "b"}, "text": "ü\ud800\n", "nested": (1, (2,)), "big": 2**70})

    assert verify_chain(rows) == ()
    assert rows[0]["nested"] == [1, [2]]
