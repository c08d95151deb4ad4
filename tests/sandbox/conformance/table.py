"""Write docs/conformance.md: `python -m tests.sandbox.conformance.table [FILE]` asks the pretend server all checks."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from tests.sandbox.conformance.ahead import Ahead
from tests.sandbox.conformance.comparing import RECORDED, against_recording, allowances, recorded_answers, unexplained
from tests.sandbox.conformance.running import all_checks, run_alone

TARGET = Path(__file__).parents[3] / "docs" / "conformance.md"
AT_ONCE = 8
HEAD = """# The pretend API server beside a real one

Made by `python -m tests.sandbox.conformance.table`; do not edit.

Each row is one black-box check of `tests/sandbox/conformance/`. *Real* is what {server} answered when it was recorded
(stock flags, no controllers), *emulator* what the sandbox's server answered now: `same` means equal status codes,
headers and bodies, but for what differs from run to run (uids, times, resource versions, generated names).

{counts}

## Known limits

What the pretend server does not do, though a real one does: answer in protobuf (requests in it are read for the kinds
that kubectl and helm send so), evaluate CEL rules of schemas, call webhooks (their configurations are only stored),
enforce quotas, limit ranges or pod security, add a default service account to pods, honour impersonation headers, run
exec, attach, port-forward and proxy, keep logs, aggregate other API servers, queue requests by priority. Built-in kinds
are validated as far as this project's objects can be wrong; a real server refuses more.

## Checks

| check | what it asks | real | emulator | allowed difference |
|---|---|---|---|---|
"""


def main() -> None:
    """Run all checks and write the table; fails when a difference is not allowed."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET
    results = asyncio.run(_results())
    rows = [_row(result) for result in results]
    strange = [difference for result in results for difference in unexplained(against_recording(result))]
    server = json.loads(RECORDED.read_text(encoding="utf-8"))["server"]
    same = sum(row.split(" | ")[3].startswith("same") for row in rows)
    counts = f"{len(rows)} checks: {same} answered the same, {len(rows) - same} with an allowed difference."
    if strange:
        counts = f"{len(strange)} differences are **not** allowed."
    target.parent.mkdir(exist_ok=True)
    target.write_text(
        HEAD.format(server=f"kube-apiserver {server}", counts=counts) + "\n".join(rows) + "\n", encoding="utf-8"
    )
    sys.exit("\n".join(str(difference) for difference in strange) or 0)


async def _results() -> list[dict[str, Any]]:
    names = list(all_checks())
    ahead = Ahead(names, run_alone, AT_ONCE)
    return [await ahead.get(name) for name in names]


def _row(result: dict[str, Any]) -> str:
    found = against_recording(result)
    real = "pass" if recorded_answers()[result["check"]]["pass"] else "fail"
    emulator = "same" if not found else "differs"
    covering = [a for a in allowances() if any(a.covers(difference) for difference in found)]
    reasons = " ".join(allowance.reason for allowance in covering)
    if unexplained(found):
        emulator = "**differs**"
    doc = " ".join(result["doc"].splitlines()[0].split()).replace("|", "\\|")
    return f"| {result['check']} | {doc} | {real} | {emulator} | {reasons} |"


if __name__ == "__main__":
    main()
