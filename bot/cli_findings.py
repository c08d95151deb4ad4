"""The doctor's findings as text or JSON."""

import json
from collections.abc import Sequence
from dataclasses import asdict

from bot.doctor import Finding


def as_text(findings: Sequence[Finding]) -> str:
    """One line a finding, faults marked, and a last line that counts them."""
    width = max((len(finding.what) for finding in findings), default=0)
    lines = [f"{'ok   ' if finding.ok else 'FAULT'}  {finding.what:<{width}}  {finding.detail}" for finding in findings]
    faults = sum(not finding.ok for finding in findings)
    return "\n".join([*lines, "no fault" if not faults else f"{faults} fault{'s' if faults > 1 else ''}"])


def as_json(findings: Sequence[Finding]) -> str:
    rows = [{**asdict(finding), "seconds": round(finding.seconds, 3)} for finding in findings]
    return json.dumps({"ok": all(finding.ok for finding in findings), "findings": rows}, indent=1, ensure_ascii=False)
