"""The page about phases is true: it shows every change that the machine makes."""

from pathlib import Path

from state.run import RunPhase, StepPhase
from tests.core.states import Changes, explore

PAGE = Path(__file__).resolve().parents[2] / "docs" / "states.md"


def rows(text: str) -> Changes:
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| ")
    ]
    return {(old, new): set(events.split(", ")) for old, new, events in cells if old != "from"}


def test_given_played_histories_when_compared_then_the_page_shows_every_change_and_its_events() -> None:
    of_run, of_step = PAGE.read_text(encoding="utf-8").split("## Of a step")

    for seen, told in zip(explore(25), (rows(of_run), rows(of_step)), strict=True):
        missing = {change: events - told.get(change, set()) for change, events in seen.items()}

        assert {change: events for change, events in missing.items() if events} == {}


def test_given_the_page_when_read_then_ends_are_ends_and_every_phase_is_reached() -> None:
    of_run, of_step = PAGE.read_text(encoding="utf-8").split("## Of a step")

    assert not {old for old, _ in rows(of_run)} & {p.value for p in RunPhase if p.ended}
    assert {new for _, new in rows(of_run)} == {p.value for p in RunPhase}
    assert {new for _, new in rows(of_step)} == {p.value for p in StepPhase}
