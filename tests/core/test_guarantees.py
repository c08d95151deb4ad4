"""The page of promises names only tests that exist, and every kind of proof that the folder of flows holds."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/guarantees.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`((?:tests|bench)/[\w/]+\.py)`", PAGE)))


def test_given_the_page_of_promises_when_read_then_each_proof_is_there() -> None:
    assert len(NAMED) > 20
    assert [name for name in NAMED if not (ROOT / name).is_file()] == []


def test_given_a_promise_when_read_then_it_has_means_and_proofs() -> None:
    table = PAGE.partition("## What remains")[0].splitlines()
    rows = [line.split("|")[1:-1] for line in table if line.startswith("| ") and not line.startswith("| promise")]

    assert len(rows) > 8
    assert all(len(row) == 3 and "`tests/" in row[2] and row[1].strip() for row in rows), rows
